/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Build configuration of the interface. Every other header includes it.
 */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

/** Enable the DOCA_STRUCT_* helpers of doca_compat.h, except in code for the DPA. */
#if !defined(DOCA_COMPAT_HELPERS) && !defined(__NV_DPA)
#define DOCA_COMPAT_HELPERS
#endif

#include <doca_build_config.h>
#include <doca_compat.h>

#endif /* DOCA_CONFIG_H_ */
