# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Arm Cortex-M3, picolibc. Tests run on an emulated machine and report by
# semihosting. The memory layout is that of the emulated machine; firmware brings its own.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m3)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_AR arm-none-eabi-ar)
set(CMAKE_NM arm-none-eabi-nm)
set(CMAKE_SIZE arm-none-eabi-size)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m3 -mthumb --specs=/usr/lib/picolibc/arm-none-eabi/picolibc.specs")
set(CMAKE_ASM_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(CMAKE_EXE_LINKER_FLAGS_INIT "--oslib=semihost --crt0=semihost -Wl,--defsym=__flash=0,--defsym=__flash_size=0x400000 -Wl,--defsym=__ram=0x20000000,--defsym=__ram_size=0x400000,--defsym=__stack_size=0x2000")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-system-arm;-M;mps2-an385;-display;none;-monitor;none;-serial;none;-semihosting-config;enable=on,target=native;-kernel")
