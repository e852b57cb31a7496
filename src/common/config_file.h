/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Configuration files of both programs, in the format of libconfig. */
#ifndef DPUMAP_COMMON_CONFIG_FILE_H
#define DPUMAP_COMMON_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <libconfig.h>

#include "local/fault.h"

/*
 * Reads a trusted file (trusted.h) of at most max bytes. BAD_CONFIG with file, line and reason;
 * TOO_BIG. On success the caller destroys *config.
 */
doca_error_t dpumap_config_file_read(const char *path, size_t max, config_t *config,
				     struct dpumap_fault *fault);

/* BAD_CONFIG: "PATH:LINE: NAME WHAT". */
doca_error_t dpumap_config_file_invalid(const char *path, const config_setting_t *setting,
					const char *what, struct dpumap_fault *fault);
/* BAD_CONFIG: "PATH:LINE: REASON". */
doca_error_t dpumap_config_file_fault(const char *path, const config_setting_t *setting,
				      const struct dpumap_fault *why, struct dpumap_fault *fault);

/* A non-empty string, absolute if it is a path; borrowed from the setting. */
doca_error_t dpumap_config_file_text(const char *path, const config_setting_t *setting,
				     bool is_path, const char **text, struct dpumap_fault *fault);

#endif
