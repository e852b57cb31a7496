/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd --check */
#ifndef DPUMAPD_CHECK_H
#define DPUMAPD_CHECK_H

#include "dpu/settings/options.h"

/*
 * Refuses what a start and a reload refuse, as far as that needs neither sockets nor the device. Changes nothing, also
 * if the daemon is running. Root becomes the user that will read the files. Prints whom they were checked for.
 */
doca_error_t check_configuration(const struct options *options, struct dpumap_error *error);

#endif
