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

# dpumap_offer(TARGET NAME [DIR...]): other CMake projects link the library as dpumap::NAME, whether they
# find it installed or add this tree. Its installed headers are in the usual directory and in each DIR.
function(dpumap_offer target name)
	add_library(dpumap::${name} ALIAS ${target})
	set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
	target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
	foreach(dir ${CMAKE_INSTALL_INCLUDEDIR} ${ARGN})
		target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${dir}>)
	endforeach()
endfunction()

# dpumap_install_config(): for find_package(dpumap), after all targets.
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
	install(EXPORT dpumap-targets NAMESPACE dpumap:: DESTINATION ${dir} COMPONENT dev)
endfunction()

# For the pkg-config files.
dpumap_relative(DPUMAP_PC_PREFIX ${CMAKE_INSTALL_LIBDIR}/pkgconfig "" "\${pcfiledir}")
cmake_path(APPEND DPUMAP_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND DPUMAP_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
