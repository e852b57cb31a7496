# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# aarch64 without an operating system, picolibc. Tests run on an emulated machine and report by
# semihosting. The memory layout is that of the emulated machine; firmware brings its own.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_AR aarch64-linux-gnu-ar)
set(CMAKE_NM aarch64-linux-gnu-nm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-fno-pie -mstrict-align --specs=/usr/lib/picolibc/aarch64-linux-gnu/picolibc.specs")
set(CMAKE_ASM_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(CMAKE_EXE_LINKER_FLAGS_INIT "-no-pie -static --oslib=semihost --crt0=semihost -Wl,--defsym=__flash=0x40000000,--defsym=__flash_size=0x400000 -Wl,--defsym=__ram=0x40400000,--defsym=__ram_size=0x400000,--defsym=__stack_size=0x4000")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-system-aarch64;-M;virt;-cpu;cortex-a72;-display;none;-monitor;none;-serial;none;-nic;none;-semihosting-config;enable=on,target=native;-kernel")
