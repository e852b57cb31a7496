/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What start, reload and --check have in common: reading the configuration and the files that it names. */
#ifndef DPUMAPD_PREPARE_H
#define DPUMAPD_PREPARE_H

#include "channel/tls.h"
#include "dpu/settings/options.h"

/*
 * The caller frees settings, and tls, which is NULL without an address over TLS. known as in settings_load();
 * has_adopted_tcp: systemd passed a socket that needs TLS.
 */
doca_error_t prepare_reload(const struct options *options, const struct export_dir *known,
			    bool has_adopted_tcp, struct settings *settings,
			    struct dpumap_tls **tls, struct dpumap_error *error);
/* The same, and what a reload ignores. */
doca_error_t prepare_start(const struct options *options, bool has_adopted_tcp,
			   struct settings *settings, struct dpumap_tls **tls,
			   struct dpumap_error *error);

/*
 * dpumapd --check: refuses what a start and a reload refuse, as far as that needs neither sockets nor the device.
 * Changes nothing, also if the daemon is running. Root becomes the user that will read the files. Prints whom they were
 * checked for.
 */
doca_error_t check_configuration(const struct options *options, struct dpumap_error *error);

#endif
