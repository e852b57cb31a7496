# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Build settings shared by every room. Included once by the top CMakeLists.txt.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
if(NOT DPUMAP_BARE_METAL)
	set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
# For language servers and clang-tidy. The project that adds this one decides for itself; CMake defines the variable, empty.
if(PROJECT_IS_TOP_LEVEL AND "${CMAKE_EXPORT_COMPILE_COMMANDS}" STREQUAL "")
	set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
	set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# Every target links this: language level, warnings, sanitizers, and the path to src/base/.
add_library(dpumap_flags INTERFACE)
target_include_directories(dpumap_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
target_compile_definitions(dpumap_flags INTERFACE _GNU_SOURCE)
target_compile_options(dpumap_flags INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
	-Wvla -Wundef -Wwrite-strings -Wformat=2 -fno-common
	$<$<BOOL:${DPUMAP_WERROR}>:-Werror>)
# A CMocka test takes a state, whether it uses it or not. CMocka 2 deprecates macros for which CMocka 1 has no others.
set(dpumap_in_tests $<BOOL:$<FILTER:$<TARGET_PROPERTY:SOURCE_DIR>,INCLUDE,^${PROJECT_SOURCE_DIR}/tests/>>)
target_compile_options(dpumap_flags INTERFACE $<${dpumap_in_tests}:-Wno-unused-parameter>)
target_compile_definitions(dpumap_flags INTERFACE $<${dpumap_in_tests}:CMOCKA_DISABLE_DEPRECATION_WARNINGS>)
# Bind all symbols at start: to bind one later, the dynamic linker saves the vector registers on the
# stack, and they hold the bytes that were copied last, a key for example.
# This does not apply to the programs of a project that adds this tree and links a static library.
if(NOT DPUMAP_BARE_METAL)
	target_link_options(dpumap_flags INTERFACE
		$<$<BOOL:$<FILTER:$<TARGET_PROPERTY:SOURCE_DIR>,INCLUDE,^${PROJECT_SOURCE_DIR}/>>:LINKER:-z,relro,-z,now>)
endif()
if(DPUMAP_COVERAGE)
	target_compile_options(dpumap_flags INTERFACE --coverage -fprofile-update=atomic)
	target_link_options(dpumap_flags INTERFACE --coverage)
endif()
if(DPUMAP_SANITIZE)
	target_compile_options(dpumap_flags INTERFACE
		-fsanitize=${DPUMAP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(dpumap_flags INTERFACE -fsanitize=${DPUMAP_SANITIZE})
endif()
