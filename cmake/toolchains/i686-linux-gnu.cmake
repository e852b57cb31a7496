# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# 32-bit x86, Linux, with Debian's cross compiler; tests run under user-mode emulation. The package
# libc6-dev-*-cross contains the C library; rdma-core needs the foreign architecture as well.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-i386-static;-L;/usr/i686-linux-gnu")
