/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command doca-pkgconfig-dir. */
#ifndef DPUMAP_HOST_DOCA_PKGCONFIG_DIR_H
#define DPUMAP_HOST_DOCA_PKGCONFIG_DIR_H

#include "host/settings/options.h"

doca_error_t doca_pkgconfig_dir_print(const struct options *options, struct dpumap_fault *fault);

#endif
