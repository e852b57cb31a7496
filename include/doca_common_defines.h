/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Helpers for all headers of the interface.
 */
#ifndef DOCA_COMMON_DEFINES_H_
#define DOCA_COMMON_DEFINES_H_

#include <doca_compat.h>

#if defined(__GNUC__)
/** Branch hint: @p x is usually true. True if @p x is. */
#define doca_likely(x) __builtin_expect(!!(x), 1)
/** Branch hint: @p x is usually false. True if @p x is. */
#define doca_unlikely(x) __builtin_expect(!!(x), 0)
#else
#define doca_likely(x)	 (x)
#define doca_unlikely(x) (x)
#endif

#endif /* DOCA_COMMON_DEFINES_H_ */
