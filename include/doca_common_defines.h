/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Small helpers that every header of the interface may use.
 */
#ifndef DOCA_COMMON_DEFINES_H_
#define DOCA_COMMON_DEFINES_H_

#if defined(__GNUC__)
/** Branch hint: @p x is normally true. The value of @p x is unchanged. */
#define doca_likely(x) __builtin_expect(!!(x), 1)
/** Branch hint: @p x is normally false. The value of @p x is unchanged. */
#define doca_unlikely(x) __builtin_expect(!!(x), 0)
#else
#define doca_likely(x)	 (x)
#define doca_unlikely(x) (x)
#endif

#endif /* DOCA_COMMON_DEFINES_H_ */
