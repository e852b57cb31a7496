/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files in a directory with nothing but exports, of which a reload loads only those that changed. */
#ifndef DPUMAPD_EXPORT_DIR_H
#define DPUMAPD_EXPORT_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/digest.h"
#include "dpu/spec/export_list.h"
#include "local/error.h"

struct export_dir_file {
	char *path;
	uint32_t id; /* the same while the directory has a file of this name */
	struct dpumap_digest digest;
	bool allows_others; /* export_spec_allows_others() of an export */
	bool is_unchanged;  /* was not loaded */
};

/* All zero: empty. */
struct export_dir {
	struct export_dir_file *files; /* by path */
	size_t num;
	uint32_t last_id;
	bool *unchanged; /* is_unchanged by id, up to last_id */
	size_t num_unchanged;
};

void export_dir_free(struct export_dir *dir);

/*
 * Loads the exports of all files *.conf of the directory at path but those whose bytes are as in known, and adds
 * them to the list. known: what an earlier load found; NULL: load all. NOT_PERMITTED if others can
 * write to the directory or a file; BAD_CONFIG with file, line and reason; ALREADY_EXIST. dir
 * is to be freed on failure as well.
 */
doca_error_t export_dir_load(struct export_dir *dir, const char *path,
			     const struct export_dir *known, struct export_list *exports,
			     struct dpumap_error *error);

/* Is it the id of a file that was not loaded, because it has not changed? */
bool export_dir_is_unchanged(const struct export_dir *dir, uint32_t id);
/* The path of the file, or what stands for it in messages. */
const char *export_dir_path(const struct export_dir *dir, uint32_t id);
/* Do files that have not changed allow others to import? */
bool export_dir_allows_others(const struct export_dir *dir);

#endif
