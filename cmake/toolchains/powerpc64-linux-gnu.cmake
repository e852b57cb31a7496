# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# 64-bit POWER, big-endian, Linux, with Debian's cross compiler; tests run under user-mode emulation.
# The package libc6-dev-*-cross contains the C library; rdma-core needs the foreign architecture as well.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ppc64)
set(CMAKE_C_COMPILER powerpc64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-ppc64-static;-L;/usr/powerpc64-linux-gnu")
