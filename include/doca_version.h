/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The version of the DOCA interface that these headers follow. The pkg-config module of libdpumap
 * reports the version of libdpumap itself.
 */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#include <stddef.h>

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** 0 to 255. */
#define DOCA_VERSION_MAJOR 3
/** 0 to 255. */
#define DOCA_VERSION_MINOR 0
/** 0 to 9999. */
#define DOCA_VERSION_PATCH 58

/** major.minor.patch, with four digits for the patch number. */
#define DOCA_VERSION_STRING "3.0.0058"

/** A version as one number, including the patch level. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) \
	(((size_t)(major) << 24) | ((size_t)(minor) << 16) | (size_t)(patch))
#define DOCA_VERSION_EXACT \
	DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)

/** A version as one number, in the form for comparing official releases. */
#define DOCA_VERSION_CALC(major, minor, patch) \
	(((size_t)(major) << 24) | ((size_t)(minor) << 16) | ((size_t)(patch)*1000))
#define DOCA_VERSION_OFFICIAL \
	DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)

/** True if the given version is the version of these headers. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)
/** True if the given version is not newer than the version of these headers. */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) \
	(DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)

/**
 * Get the version against which the program was compiled.
 *
 * @return a static string, never NULL
 *
 * Callable from any thread.
 */
static inline const char *doca_version(void)
{
	return DOCA_VERSION_STRING;
}

/**
 * Get the version that the linked library implements.
 *
 * @return a static string in the form of DOCA_VERSION_STRING, never NULL
 *
 * Callable from any thread. Semantics: DOCA 3.0, doca_version.h.
 */
DOCA_EXPERIMENTAL const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H_ */
