/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Symbol attributes of the interface.
 *
 * Experimental and deprecated functions always link. Calling one warns at compile time unless the
 * program defines DOCA_ALLOW_EXPERIMENTAL_API or DOCA_ALLOW_DEPRECATED_API.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include <doca_config.h>

/** Kept by the compiler although nothing in its file refers to it. */
#define DOCA_USED __attribute__((used))

/** A function of the interface that keeps its signature and meaning. */
#define DOCA_STABLE __attribute__((visibility("default"))) DOCA_USED

/** A function of the interface that may still change. */
#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL \
	__attribute__((visibility("default"), section(".text.experimental"))) DOCA_USED
#else
#define DOCA_EXPERIMENTAL                                                                         \
	__attribute__((visibility("default"), section(".text.experimental"),                      \
		       deprecated("experimental: define DOCA_ALLOW_EXPERIMENTAL_API to use it"))) \
	DOCA_USED
#endif

/** A function of the interface that will go. */
#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED \
	__attribute__((visibility("default"), section(".text.deprecated"))) DOCA_USED
#else
#define DOCA_DEPRECATED                                                    \
	__attribute__((visibility("default"), section(".text.deprecated"), \
		       deprecated("define DOCA_ALLOW_DEPRECATED_API to use it"))) DOCA_USED
#endif

#endif /* DOCA_COMPAT_H_ */
