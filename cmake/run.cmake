# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# How tests start programs. $<TARGET_PROPERTY:program,DPUMAP_RUN> is a path that this machine can
# execute: the program itself or, if it was built for another processor, a script in launch/ that starts
# it under CMAKE_CROSSCOMPILING_EMULATOR. The script also works when the program starts itself again by
# its argv[0]. dpumap-emu is always built for this machine, because its server needs system calls that
# user-mode emulation lacks. Only its interposing library is built for both processors.

set(DPUMAP_RUN_DIR ${PROJECT_BINARY_DIR}) # with their bin/ and tests/
set(DPUMAP_LONG 900) # bounds how long a test may wait on a slow and busy machine, in seconds
set(DPUMAP_NATIVE_EMU "" CACHE FILEPATH
	"Cross builds: dpumap-emu for the build machine, on which tests run; built if empty")

# Build the emulated card for this machine from the same sources.
function(dpumap_build_native_emu)
	include(ExternalProject)
	ExternalProject_Add(native-emu
		SOURCE_DIR ${PROJECT_SOURCE_DIR}
		BINARY_DIR ${PROJECT_BINARY_DIR}/native
		PREFIX ${PROJECT_BINARY_DIR}/native/external
		CMAKE_ARGS -DDPUMAP_AGENTS=OFF -DDPUMAP_TESTS=OFF -DDPUMAP_EXAMPLES=OFF -DDPUMAP_WERROR=${DPUMAP_WERROR}
			-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
		BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target dpumap-emu dpumap-emu-shim
		BUILD_ALWAYS ON
		INSTALL_COMMAND "")
endfunction()

# Programs for one processor pass LD_PRELOAD to programs for the other and back. Each loader replaces
# $LIB by its own library directory and never looks into the other's.
function(dpumap_link_preloads native_emu)
	get_filename_component(native ${native_emu} DIRECTORY)
	set(libs ${PROJECT_BINARY_DIR}/launch/preload)
	set(host lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)
	set(target lib/${CMAKE_LIBRARY_ARCHITECTURE})
	if(NOT CMAKE_LIBRARY_ARCHITECTURE)
		set(target lib64)
	elseif(NOT EXISTS /usr/${host})
		set(host lib64)
	endif()
	file(MAKE_DIRECTORY ${libs}/${host} ${libs}/${target})
	file(CREATE_LINK ${native}/../lib/libdpumap-emu.so ${libs}/${host}/libdpumap-emu.so SYMBOLIC)
	file(CREATE_LINK ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdpumap-emu.so
		${libs}/${target}/libdpumap-emu.so SYMBOLIC)
endfunction()

function(dpumap_programs dir out)
	set(programs)
	get_property(targets DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
	foreach(target ${targets})
		get_target_property(type ${target} TYPE)
		if(type STREQUAL EXECUTABLE)
			list(APPEND programs ${target})
		endif()
	endforeach()
	get_property(subdirs DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
	foreach(subdir ${subdirs})
		dpumap_programs(${subdir} more)
		list(APPEND programs ${more})
	endforeach()
	set(${out} ${programs} PARENT_SCOPE)
endfunction()

function(dpumap_write_launcher program)
	list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
	get_target_property(dir ${program} RUNTIME_OUTPUT_DIRECTORY)
	get_target_property(name ${program} OUTPUT_NAME)
	if(NOT name)
		set(name ${program})
	endif()
	file(RELATIVE_PATH dir ${PROJECT_BINARY_DIR} ${dir})
	set(launcher ${PROJECT_BINARY_DIR}/launch/${dir}/${name})
	set(preload "LD_PRELOAD=${PROJECT_BINARY_DIR}/launch/preload/\\$LIB/libdpumap-emu.so")
	file(GENERATE OUTPUT ${launcher} CONTENT "#!/bin/sh
exec ${emulator} -0 \"$0\" \${LD_PRELOAD:+-E \"${preload}\"} '$<TARGET_FILE:${program}>' \"$@\"
"		FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
			GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
	set_target_properties(${program} PROPERTIES DPUMAP_RUN ${launcher})
endfunction()

# Call this after all programs are defined.
function(dpumap_make_runnable)
	dpumap_programs(${PROJECT_SOURCE_DIR} programs)
	foreach(program ${programs})
		if(DPUMAP_LAUNCHERS AND NOT program STREQUAL dpumap-emu)
			dpumap_write_launcher(${program})
		else()
			# A path: generator expressions in a property of ours are not evaluated.
			get_target_property(dir ${program} RUNTIME_OUTPUT_DIRECTORY)
			get_target_property(name ${program} OUTPUT_NAME)
			if(NOT name)
				set(name ${program})
			endif()
			set_target_properties(${program} PROPERTIES DPUMAP_RUN ${dir}/${name})
		endif()
	endforeach()
	if(DPUMAP_LAUNCHERS AND TARGET dpumap-emu)
		set(emu ${DPUMAP_NATIVE_EMU})
		if(NOT emu)
			dpumap_build_native_emu()
			set(emu ${PROJECT_BINARY_DIR}/native/bin/dpumap-emu)
		endif()
		dpumap_link_preloads(${emu})
		file(MAKE_DIRECTORY ${DPUMAP_RUN_DIR}/bin)
		file(CREATE_LINK ${emu} ${DPUMAP_RUN_DIR}/bin/dpumap-emu SYMBOLIC)
		set_target_properties(dpumap-emu PROPERTIES DPUMAP_RUN ${emu})
	endif()
endfunction()

# Without an emulator this machine cannot run programs for another processor.
if(CMAKE_CROSSCOMPILING AND CMAKE_CROSSCOMPILING_EMULATOR)
	set(DPUMAP_LAUNCHERS ON)
	set(DPUMAP_RUN_DIR ${PROJECT_BINARY_DIR}/launch)
endif()
