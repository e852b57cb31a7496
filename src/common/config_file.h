/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Configuration files of both programs, in the format of libconfig. */
#ifndef DPUMAP_COMMON_CONFIG_FILE_H
#define DPUMAP_COMMON_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <libconfig.h>

#include "local/error.h"

#define DPUMAP_CONFIG_FILE_MAX ((size_t)64 * 1024 * 1024)

/*
 * Loads the text of a trusted file (trusted.h) of at most max bytes. BAD_CONFIG if it contains a NUL;
 * TOO_BIG. On success the caller frees *text.
 */
doca_error_t dpumap_config_file_load(const char *path, size_t max, char **text,
				     struct dpumap_error *error);
/* Parses the text of that file. BAD_CONFIG with file, line and reason. On success the caller destroys *config. */
doca_error_t dpumap_config_file_parse(const char *path, const char *text, config_t *config,
				      struct dpumap_error *error);
/* Both. */
doca_error_t dpumap_config_file_read(const char *path, size_t max, config_t *config,
				     struct dpumap_error *error);

/* BAD_CONFIG: "PATH:LINE: NAME WHAT". */
doca_error_t dpumap_config_file_invalid(const char *path, const config_setting_t *setting,
					const char *what, struct dpumap_error *error);
/* "PATH:LINE: REASON", with the code NO_MEMORY if it is the reason's, else BAD_CONFIG. */
doca_error_t dpumap_config_file_fault(const char *path, const config_setting_t *setting,
				      const struct dpumap_error *why, struct dpumap_error *error);

/* A non-empty string, absolute if it is a path; borrowed from the setting. */
doca_error_t dpumap_config_file_text(const char *path, const config_setting_t *setting,
				     bool is_path, const char **text, struct dpumap_error *error);

#endif
