/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which side of the PCIe a program is built for.
 *
 * Exactly one of DOCA_ARCH_HOST and DOCA_ARCH_DPU is defined after this header. A program chooses
 * by compiling with -D DOCA_ARCH_HOST or -D DOCA_ARCH_DPU; without a choice an aarch64 build is for
 * the DPU and every other build for the host. The library itself is the same for both sides.
 */
#ifndef DOCA_BUILD_CONFIG_H_
#define DOCA_BUILD_CONFIG_H_

#if defined(DOCA_ARCH_HOST) && defined(DOCA_ARCH_DPU)
#error "DOCA_ARCH_HOST and DOCA_ARCH_DPU exclude each other"
#endif

#if !defined(DOCA_ARCH_HOST) && !defined(DOCA_ARCH_DPU)
#if defined(__aarch64__)
#define DOCA_ARCH_DPU
#else
#define DOCA_ARCH_HOST
#endif
#endif

#if defined(__aarch64__)
#ifndef DOCA_ARCH_ARM
#define DOCA_ARCH_ARM
#endif
#elif defined(__x86_64__)
#ifndef DOCA_ARCH_X86
#define DOCA_ARCH_X86
#endif
#endif

/** True in a build for the second DPU generation only: never, one library serves all generations.
 */
#ifndef DOCA_ARCH_DPU_BF2
#define DOCA_ARCH_DPU_BF2 0
#endif

#endif /* DOCA_BUILD_CONFIG_H_ */
