# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# aarch64 Linux against the root file system of a BlueField, or of any Debian or Ubuntu for arm64.
# DPUMAP_SYSROOT names it, as a cache or an environment variable. No library of the build machine is
# linked. Tests run under user-mode emulation with the loader and the libraries of that root.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT DPUMAP_SYSROOT)
	set(DPUMAP_SYSROOT "$ENV{DPUMAP_SYSROOT}")
endif()
if(NOT DPUMAP_SYSROOT)
	message(FATAL_ERROR "DPUMAP_SYSROOT is not set: it is the path of a DPU's root file system, "
		"see docs/cross.md")
endif()
get_filename_component(DPUMAP_SYSROOT "${DPUMAP_SYSROOT}" REALPATH)
if(NOT IS_DIRECTORY "${DPUMAP_SYSROOT}")
	message(FATAL_ERROR "DPUMAP_SYSROOT: ${DPUMAP_SYSROOT} is not a directory; scripts/sysroot creates one")
endif()
foreach(file lib/ld-linux-aarch64.so.1 usr/include/infiniband/verbs.h
		usr/lib/aarch64-linux-gnu/libc.so usr/lib/aarch64-linux-gnu/pkgconfig/libibverbs.pc)
	if(NOT EXISTS "${DPUMAP_SYSROOT}/${file}")
		message(FATAL_ERROR "DPUMAP_SYSROOT: ${DPUMAP_SYSROOT} is not an aarch64 system with "
			"the packages that dpumap needs: ${file} is missing; see docs/cross.md")
	endif()
endforeach()
# Debian's libc6-dev contains absolute links, which point to the build machine's libraries.
set(DPUMAP_LIBM "${DPUMAP_SYSROOT}/usr/lib/aarch64-linux-gnu/libm.so")
if(IS_SYMLINK "${DPUMAP_LIBM}")
	file(READ_SYMLINK "${DPUMAP_LIBM}" DPUMAP_LIBM)
	if(IS_ABSOLUTE "${DPUMAP_LIBM}")
		message(FATAL_ERROR "DPUMAP_SYSROOT: links in ${DPUMAP_SYSROOT} lead out of it; "
			"scripts/sysroot --relink ${DPUMAP_SYSROOT} corrects them")
	endif()
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DPUMAP_SYSROOT)

set(CMAKE_SYSROOT "${DPUMAP_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_LIBDIR}
	"${DPUMAP_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${DPUMAP_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${DPUMAP_SYSROOT}")

set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${DPUMAP_SYSROOT}")
