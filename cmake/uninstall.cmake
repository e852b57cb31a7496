# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Remove the files that "cmake --install" listed in the manifests of BUILD, below DESTDIR if that is set. Of the
# directories, remove those that have the name of this project, if nothing else is in them.
cmake_minimum_required(VERSION 3.22)

file(GLOB manifests ${BUILD}/install_manifest*.txt)
if(NOT manifests)
	message(FATAL_ERROR "nothing to uninstall: ${BUILD} has no install_manifest.txt; "
		"use the build directory from which dpumap was installed")
endif()
set(dirs)
foreach(manifest ${manifests})
	file(STRINGS ${manifest} files)
	foreach(file ${files})
		set(path "$ENV{DESTDIR}${file}")
		if(EXISTS "${path}" OR IS_SYMLINK "${path}")
			message(STATUS "Removing: ${path}")
			file(REMOVE "${path}")
			if(EXISTS "${path}" OR IS_SYMLINK "${path}")
				message(FATAL_ERROR "cannot remove ${path}; run this as the user who installed it")
			endif()
		endif()
		while(file MATCHES "dpumap[^/]*/")
			cmake_path(GET file PARENT_PATH file)
			list(APPEND dirs "$ENV{DESTDIR}${file}")
		endwhile()
	endforeach()
	file(REMOVE ${manifest})
endforeach()
list(REMOVE_DUPLICATES dirs)
list(SORT dirs ORDER DESCENDING) # what is inside of a directory precedes it
foreach(dir ${dirs})
	file(REMOVE_RECURSE ${dir}/__pycache__) # Python's own
	file(GLOB left LIST_DIRECTORIES true ${dir}/* ${dir}/.[!.]*)
	if(NOT left)
		file(REMOVE_RECURSE ${dir})
	endif()
endforeach()
