/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Build configuration of the interface; reaches a program through every other header.
 */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

/** The helpers of doca_compat.h for structs with a version; not in code for the DPA. */
#if !defined(DOCA_COMPAT_HELPERS) && !defined(__NV_DPA)
#define DOCA_COMPAT_HELPERS
#endif

#endif /* DOCA_CONFIG_H_ */
