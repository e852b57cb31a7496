# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# IBM Z, big-endian, Linux, with Debian's cross compiler; tests run under user-mode emulation.
# The package libc6-dev-*-cross contains the C library; rdma-core needs the foreign architecture as well.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-s390x-static;-L;/usr/s390x-linux-gnu")
