# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Run by cpack on the finished packages, for two things that CMake 3.25 cannot do. It does not support
# Multi-Arch, and it writes scripts that call ldconfig although Debian wants our trigger instead.

function(run)
	execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

function(remove_ldconfig dir)
	foreach(script postinst postrm)
		set(path ${dir}/DEBIAN/${script})
		if(EXISTS ${path})
			file(STRINGS ${path} calls REGEX "ldconfig")
			if(calls)
				file(REMOVE ${path})
			endif()
		endif()
	endforeach()
endfunction()

function(add_multiarch dir package)
	if(package IN_LIST CPACK_DPUMAP_MULTIARCH_SAME)
		file(READ ${dir}/DEBIAN/control control)
		string(REGEX REPLACE "(^|\n)(Package: )" "\\1Multi-Arch: same\n\\2" control "${control}")
		file(WRITE ${dir}/DEBIAN/control "${control}")
	endif()
endfunction()

foreach(file ${CPACK_PACKAGE_FILES})
	get_filename_component(name ${file} NAME)
	string(REGEX REPLACE "_.*" "" package ${name})
	set(dir ${CPACK_TOPLEVEL_DIRECTORY}/repack/${package})
	file(REMOVE_RECURSE ${dir})
	file(MAKE_DIRECTORY ${dir})
	run(dpkg-deb -R ${file} ${dir})
	remove_ldconfig(${dir})
	add_multiarch(${dir} ${package})
	run(dpkg-deb --root-owner-group -Zxz -b ${dir} ${file})
endforeach()
