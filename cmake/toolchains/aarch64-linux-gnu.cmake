# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# aarch64 Linux with Debian's cross compiler and multiarch libraries (package:arm64); tests run
# under user-mode emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

# Neither pkg-config nor CMake may find libraries of the build machine.
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_LIBDIR} "/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig")
set(CMAKE_IGNORE_PATH /usr/lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu
	/lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)

# The loader and the libraries are in the multiarch directories below /.
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;/")
