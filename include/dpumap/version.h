/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The version of dpumap, at compile time and at run time. doca_version.h has the version of the DOCA
 * interface that dpumap implements.
 *
 * The library is compatible as long as its shared object name is the same. Versions follow
 * https://semver.org.
 *
 * Thread safety: callable from any thread.
 */
#ifndef DPUMAP_VERSION_H
#define DPUMAP_VERSION_H

#include <doca_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of these headers. */
#define DPUMAP_VERSION_MAJOR  0
#define DPUMAP_VERSION_MINOR  1
#define DPUMAP_VERSION_PATCH  0
#define DPUMAP_VERSION_STRING "0.1.0"

/** Whether these headers are of this version or a later one, for conditions of the preprocessor. */
#define DPUMAP_VERSION_AT_LEAST(major, minor, patch) \
	(DPUMAP_VERSION_MAJOR > (major) ||           \
	 (DPUMAP_VERSION_MAJOR == (major) &&         \
	  (DPUMAP_VERSION_MINOR > (minor) ||         \
	   (DPUMAP_VERSION_MINOR == (minor) && DPUMAP_VERSION_PATCH >= (patch)))))

/**
 * Get the version of the library that the program runs with. It differs from DPUMAP_VERSION_STRING
 * if the library was updated after the program was compiled.
 *
 * @return a static string in the form of DPUMAP_VERSION_STRING, never NULL
 */
DOCA_STABLE const char *dpumap_version(void);

#ifdef __cplusplus
}
#endif

#endif
