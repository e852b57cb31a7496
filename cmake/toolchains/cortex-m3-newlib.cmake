# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Arm Cortex-M3, newlib. Tests run on an emulated machine and report by
# semihosting. The memory layout is that of the emulated machine; firmware brings its own.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m3)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_AR arm-none-eabi-ar)
set(CMAKE_NM arm-none-eabi-nm)
set(CMAKE_SIZE arm-none-eabi-size)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m3 -mthumb")
set(CMAKE_ASM_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(CMAKE_EXE_LINKER_FLAGS_INIT "--specs=rdimon.specs -T ${CMAKE_CURRENT_LIST_DIR}/cortex-m3-newlib.ld")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-system-arm;-M;mps2-an385;-display;none;-monitor;none;-serial;none;-semihosting-config;enable=on,target=native;-kernel")
