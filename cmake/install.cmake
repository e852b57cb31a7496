# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
include(CMakePackageConfigHelpers)

# An installation can be moved: its files refer to each other by relative paths. A directory that the
# user sets to an absolute path, as with -DCMAKE_INSTALL_LIBDIR=/lib64, stays absolute.

# dpumap_relative(VARIABLE FROM TO BASE): set VARIABLE to BASE and the path from one directory of the
# installation to another. Without TO, the path leads to the prefix.
function(dpumap_relative variable from to base)
	if(IS_ABSOLUTE "${from}" OR IS_ABSOLUTE "${to}")
		cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
		set(${variable} ${to} PARENT_SCOPE)
		return()
	endif()
	cmake_path(SET path NORMALIZE "/${to}")
	cmake_path(RELATIVE_PATH path BASE_DIRECTORY /${from})
	if(path STREQUAL ".")
		set(${variable} "${base}" PARENT_SCOPE)
	else()
		set(${variable} "${base}/${path}" PARENT_SCOPE)
	endif()
endfunction()

# dpumap_find_libraries(TARGET DIR): the target, installed to DIR, finds the installed libraries without
# ldconfig.
function(dpumap_find_libraries target dir)
	dpumap_relative(rpath ${dir} ${CMAKE_INSTALL_LIBDIR} "\$ORIGIN")
	set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}")
endfunction()

# dpumap_describe(TARGET NAME [DIR...]): the library is installed as dpumap::NAME. Its installed headers are in the
# usual directory and in each DIR.
function(dpumap_describe target name)
	set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
	target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
	foreach(dir ${CMAKE_INSTALL_INCLUDEDIR} ${ARGN})
		target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${dir}>)
	endforeach()
endfunction()

# dpumap_offer(NAME SHARED STATIC OUTPUT [DIR...]): other CMake projects link the library as dpumap::NAME, whether they
# find it installed or add this tree: the target SHARED or, with dpumap_USE_STATIC_LIBS, the target STATIC. The files
# are libOUTPUT.so and libOUTPUT.a.
function(dpumap_offer name shared static output)
	dpumap_describe(${shared} ${name} ${ARGN})
	dpumap_describe(${static} ${name} ${ARGN})
	set_target_properties(${shared} PROPERTIES
		OUTPUT_NAME ${output}
		VERSION ${PROJECT_VERSION}
		SOVERSION ${DPUMAP_SOVERSION})
	set_target_properties(${static} PROPERTIES OUTPUT_NAME ${output})
	if(dpumap_USE_STATIC_LIBS)
		add_library(dpumap::${name} ALIAS ${static})
	else()
		add_library(dpumap::${name} ALIAS ${shared})
	endif()
	install(TARGETS ${shared} EXPORT dpumap-shared-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
		COMPONENT lib${output} NAMELINK_COMPONENT dev)
	install(TARGETS ${static} EXPORT dpumap-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# dpumap_install_config([EXPORT...]): for find_package(dpumap), after all targets.
function(dpumap_install_config)
	set(dir ${CMAKE_INSTALL_LIBDIR}/cmake/dpumap)
	configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/dpumap-config.cmake.in
		${CMAKE_CURRENT_BINARY_DIR}/dpumap-config.cmake INSTALL_DESTINATION ${dir})
	# Before 1.0, a minor version may change the interfaces.
	write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dpumap-config-version.cmake
		COMPATIBILITY SameMinorVersion)
	install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dpumap-config.cmake
		${CMAKE_CURRENT_BINARY_DIR}/dpumap-config-version.cmake
		DESTINATION ${dir} COMPONENT dev)
	foreach(export ${ARGN})
		install(EXPORT ${export} NAMESPACE dpumap:: DESTINATION ${dir} COMPONENT dev)
	endforeach()
endfunction()

# "uninstall" removes what the last "install" installed.
function(dpumap_offer_uninstall)
	add_custom_target(uninstall
		COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_CURRENT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
		VERBATIM)
endfunction()

# For the pkg-config files.
dpumap_relative(DPUMAP_PC_PREFIX ${CMAKE_INSTALL_LIBDIR}/pkgconfig "" "\${pcfiledir}")
cmake_path(APPEND DPUMAP_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND DPUMAP_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
