/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The list of exports in a configuration file. */
#ifndef DPUMAPD_EXPORT_FILE_H
#define DPUMAPD_EXPORT_FILE_H

#include <libconfig.h>

#include "dpu/spec/export_list.h"
#include "local/error.h"

/* Adds the exports of the setting, which is of the file with this path. BAD_CONFIG with file, line and reason. */
doca_error_t export_file_load(const char *path, const config_setting_t *setting,
			      struct export_list *exports, struct dpumap_error *error);

#endif
