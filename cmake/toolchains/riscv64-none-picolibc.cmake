# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# riscv64 without an operating system, picolibc. Tests run on an emulated machine and report by
# semihosting. The memory layout is that of the emulated machine; firmware brings its own.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_AR riscv64-unknown-elf-ar)
set(CMAKE_NM riscv64-unknown-elf-nm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-march=rv64imac -mabi=lp64 -mcmodel=medany --specs=picolibc.specs")
set(CMAKE_ASM_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(CMAKE_EXE_LINKER_FLAGS_INIT "--oslib=semihost --crt0=semihost -Wl,--defsym=__flash=0x80000000,--defsym=__flash_size=0x400000 -Wl,--defsym=__ram=0x80400000,--defsym=__ram_size=0x400000,--defsym=__stack_size=0x4000")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-system-riscv64;-M;virt;-bios;none;-display;none;-monitor;none;-serial;none;-semihosting-config;enable=on,target=native;-kernel")
