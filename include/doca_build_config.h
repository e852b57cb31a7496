/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Selects whether a program is built for the host or for the DPU.
 *
 * This header defines exactly one of DOCA_ARCH_HOST and DOCA_ARCH_DPU. To choose explicitly,
 * compile the program with -D DOCA_ARCH_HOST or -D DOCA_ARCH_DPU. By default, an aarch64 build is
 * for the DPU and any other build is for the host. The library itself is the same for both.
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

/** Always 0: the library is the same for all DPU generations. */
#ifndef DOCA_ARCH_DPU_BF2
#define DOCA_ARCH_DPU_BF2 0
#endif

#include <doca_compat.h>

#endif /* DOCA_BUILD_CONFIG_H_ */
