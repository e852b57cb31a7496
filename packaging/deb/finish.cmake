# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Run by cpack after it has installed each component into its own directory and before it makes the
# packages. Adds what Debian requires and `cmake --install` does not do.

# dpkg-shlibdeps searches libraries of this architecture.
set(ENV{DEB_HOST_ARCH} ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE})

function(run)
	execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Compress without name and time, so that the result is reproducible.
function(compress)
	if(ARGN)
		run(gzip -9nf ${ARGN})
	endif()
endfunction()

function(finish_docs root package)
	set(doc ${root}/usr/share/doc/${package})
	file(MAKE_DIRECTORY ${doc})
	file(COPY_FILE ${CPACK_DPUMAP_DIR}/deb/copyright ${doc}/copyright)
	configure_file(${CPACK_DPUMAP_DIR}/deb/changelog.in ${doc}/changelog.Debian @ONLY)
	file(COPY_FILE ${CPACK_DPUMAP_DIR}/../CHANGELOG.md ${doc}/changelog)
	if(EXISTS ${CPACK_DPUMAP_DIR}/deb/${package}/README.Debian)
		file(COPY_FILE ${CPACK_DPUMAP_DIR}/deb/${package}/README.Debian ${doc}/README.Debian)
	endif()
	compress(${doc}/changelog ${doc}/changelog.Debian)
	file(GLOB_RECURSE pages ${root}/usr/share/man/*)
	compress(${pages})
endfunction()

# Install lintian overrides, if the package has any.
function(finish_overrides root package)
	if(EXISTS ${CPACK_DPUMAP_DIR}/deb/${package}/lintian-overrides)
		file(MAKE_DIRECTORY ${root}/usr/share/lintian/overrides)
		file(COPY_FILE ${CPACK_DPUMAP_DIR}/deb/${package}/lintian-overrides
			${root}/usr/share/lintian/overrides/${package})
	endif()
endfunction()

foreach(component ${CPACK_COMPONENTS_ALL})
	string(TOUPPER ${component} upper)
	set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
	set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component})
	if(NOT IS_DIRECTORY ${root})
		message(FATAL_ERROR "nothing was installed for ${package} in ${root}")
	endif()
	finish_docs(${root} ${package})
	finish_overrides(${root} ${package})
	file(GLOB_RECURSE archives ${root}/*.a)
	foreach(archive ${archives})
		run(${CPACK_DPUMAP_STRIP} --strip-debug --enable-deterministic-archives ${archive})
	endforeach()
	if(component STREQUAL "dpu")
		file(MAKE_DIRECTORY ${root}/etc/dpumap)
	endif()
	run(chmod -R u=rwX,go=rX ${root})
endforeach()
