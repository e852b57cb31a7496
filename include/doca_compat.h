/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Symbol attributes of the interface.
 *
 * Experimental and deprecated functions always link. A call of such a function causes a compiler
 * warning unless the program defines DOCA_ALLOW_EXPERIMENTAL_API or DOCA_ALLOW_DEPRECATED_API.
 *
 * The DOCA_STRUCT_* helpers are for structs that store the version of the interface. The headers
 * of this library declare no such structs; programs may declare their own.
 *
 * Programs for DOCA use malloc(), memcpy(), assert() and uint64_t after any DOCA header. So every
 * DOCA header includes this header, and this header includes <assert.h>, <stdint.h>, <stdlib.h>
 * and <string.h>, except in code for the DPA.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include <doca_config.h>

/** The compiler keeps the symbol even if nothing in its file refers to it. */
#define DOCA_USED __attribute__((used))

/** A function of the interface that keeps its signature and meaning. */
#define DOCA_STABLE __attribute__((visibility("default"))) DOCA_USED

/** A function that programs call very often: calls do not go through a stub (PLT). */
#ifdef __has_attribute
#if __has_attribute(noplt)
#define DPUMAP_FREQUENT __attribute__((noplt))
#endif
#endif
#ifndef DPUMAP_FREQUENT
#define DPUMAP_FREQUENT
#endif

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

/** A function of the interface that will be removed. */
#ifdef DOCA_ALLOW_DEPRECATED_API
#define DOCA_DEPRECATED \
	__attribute__((visibility("default"), section(".text.deprecated"))) DOCA_USED
#else
#define DOCA_DEPRECATED                                                    \
	__attribute__((visibility("default"), section(".text.deprecated"), \
		       deprecated("define DOCA_ALLOW_DEPRECATED_API to use it"))) DOCA_USED
#endif

#ifdef DOCA_COMPAT_HELPERS
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** First member of such a struct. */
#define DOCA_STRUCT_START size_t __doca_api_version
/** Store the version in a struct, given by name or by pointer. */
#define DOCA_STRUCT_CTOR(s)	((s).__doca_api_version = DOCA_VERSION_EXACT)
#define DOCA_STRUCT_PTR_CTOR(p) ((p)->__doca_api_version = DOCA_VERSION_EXACT)
/** Store the version and set all other bytes to 0. */
#define DOCA_STRUCT_MEMSET_CTOR(s)          \
	do {                                \
		memset(&(s), 0, sizeof(s)); \
		DOCA_STRUCT_CTOR(s);        \
	} while (0)
#define DOCA_STRUCT_PTR_MEMSET_CTOR(p)        \
	do {                                  \
		memset((p), 0, sizeof(*(p))); \
		DOCA_STRUCT_PTR_CTOR(p);      \
	} while (0)
/** Get the version from a struct, given by pointer. */
#define DOCA_STRUCT_GET_VERSION(p) ((p)->__doca_api_version)
/** First initializer of such a struct. */
#ifdef __cplusplus
#define DOCA_STRUCT_CTOR_LIST_START DOCA_VERSION_EXACT
#else
#define DOCA_STRUCT_CTOR_LIST_START .__doca_api_version = DOCA_VERSION_EXACT
#endif
/** Define a struct with the version; all other members are 0. */
#define DOCA_STRUCT_DEF(type, name) type name = {DOCA_STRUCT_CTOR_LIST_START}

#include <doca_version.h>
#endif /* DOCA_COMPAT_HELPERS */

#endif /* DOCA_COMPAT_H_ */
