/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/spec/export_dir.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config_file.h"
#include "dpu/spec/export_file.h"

#define SUFFIX ".conf"

void export_dir_free(struct export_dir *dir)
{
	for (size_t i = 0; i < dir->num; i++)
		free(dir->files[i].path);
	free(dir->files);
	free(dir->unchanged);
	*dir = (struct export_dir){0};
}

static doca_error_t no_memory(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the files of exports");
}

/* --- finding the files ------------------------------------------------------------------------ */

/* Editors and package managers leave other names behind. */
static int is_wanted(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), end = strlen(SUFFIX);

	return entry->d_name[0] != '.' && len > end &&
	       strcmp(entry->d_name + len - end, SUFFIX) == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static doca_error_t add_file(struct export_dir *dir, const char *path, const char *name,
			     struct dpumap_error *error)
{
	char *text = NULL;

	if (asprintf(&text, "%s/%s", path, name) < 0)
		return no_memory(error);
	dir->files[dir->num++] = (struct export_dir_file){.path = text};
	return DOCA_SUCCESS;
}

static doca_error_t add_files(struct export_dir *dir, const char *path, struct dirent **entries,
			      size_t num, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	dir->files = calloc(num + 1, sizeof(*dir->files));
	if (!dir->files)
		return no_memory(error);
	for (size_t i = 0; i < num && result == DOCA_SUCCESS; i++)
		result = add_file(dir, path, entries[i]->d_name, error);
	return result;
}

static doca_error_t find_files(struct export_dir *dir, const char *path, struct dpumap_error *error)
{
	struct dirent **entries;
	int num = scandir(path, &entries, is_wanted, compare_names);
	doca_error_t result;

	if (num < 0)
		return dpumap_error_errno(error, errno, "cannot read the directory %s", path);
	result = add_files(dir, path, entries, (size_t)num, error);
	for (int i = 0; i < num; i++)
		free(entries[i]);
	free(entries);
	return result;
}

/* --- loading a file --------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b)
{
	const struct export_dir_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static const struct export_dir_file *find_known(const struct export_dir *known,
						const struct export_dir_file *file)
{
	if (!known || !known->num)
		return NULL;
	return bsearch(file, known->files, known->num, sizeof(*file), compare_paths);
}

static doca_error_t load_settings(const char *path, const config_setting_t *root,
				  struct export_list *exports, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int i = 0; i < config_setting_length(root) && result == DOCA_SUCCESS; i++) {
		const config_setting_t *setting = config_setting_get_elem(root, (unsigned int)i);

		if (strcmp(config_setting_name(setting), "exports") == 0)
			result = export_file_load(path, setting, exports, error);
		else
			result = dpumap_config_file_invalid(
				path, setting, "is not exports, the only setting of such a file",
				error);
	}
	return result;
}

static doca_error_t load_text(struct export_dir_file *file, const char *text,
			      struct export_list *exports, struct dpumap_error *error)
{
	struct export_list loaded = {0};
	doca_error_t result;
	config_t config;

	result = dpumap_config_file_parse(file->path, text, &config, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = load_settings(file->path, config_root_setting(&config), &loaded, error);
	config_destroy(&config);
	for (size_t i = 0; i < loaded.num; i++) {
		loaded.specs[i].file = file->id;
		file->allows_others |= export_spec_allows_others(&loaded.specs[i]);
	}
	if (result == DOCA_SUCCESS)
		result = export_list_append(exports, &loaded, error);
	export_list_free(&loaded);
	return result;
}

/* What has changed is told from the bytes: times and sizes may be the same. */
static doca_error_t load_file(struct export_dir *dir, struct export_dir_file *file,
			      const struct export_dir_file *known, struct dpumap_hasher *hasher,
			      struct export_list *exports, struct dpumap_error *error)
{
	doca_error_t result;
	char *text = NULL;

	file->id = known ? known->id : ++dir->last_id;
	result = dpumap_config_file_load(file->path, DPUMAP_CONFIG_FILE_MAX, &text, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_hasher_update(hasher, text, strlen(text), error);
	if (result == DOCA_SUCCESS)
		result = dpumap_hasher_final(hasher, &file->digest, error);
	if (result == DOCA_SUCCESS && known &&
	    dpumap_digest_is_equal(&file->digest, &known->digest)) {
		file->allows_others = known->allows_others;
		file->is_unchanged = true;
	} else if (result == DOCA_SUCCESS) {
		result = load_text(file, text, exports, error);
	}
	free(text);
	return result;
}

/* Each export asks for its file, and there may be very many. */
static doca_error_t note_unchanged(struct export_dir *dir, struct dpumap_error *error)
{
	dir->unchanged = calloc((size_t)dir->last_id + 1, sizeof(*dir->unchanged));
	if (!dir->unchanged)
		return no_memory(error);
	for (size_t i = 0; i < dir->num; i++) {
		dir->unchanged[dir->files[i].id] = dir->files[i].is_unchanged;
		dir->num_unchanged += dir->files[i].is_unchanged;
	}
	return DOCA_SUCCESS;
}

static doca_error_t load_files(struct export_dir *dir, const struct export_dir *known,
			       struct export_list *exports, struct dpumap_error *error)
{
	struct dpumap_hasher *hasher;
	doca_error_t result;

	result = dpumap_hasher_create(DPUMAP_SHA256, &hasher, error);
	if (result != DOCA_SUCCESS)
		return result;
	dir->last_id = known ? known->last_id : 0;
	for (size_t i = 0; i < dir->num && result == DOCA_SUCCESS; i++)
		result = load_file(dir, &dir->files[i], find_known(known, &dir->files[i]), hasher,
				   exports, error);
	dpumap_hasher_destroy(hasher);
	return result;
}

static doca_error_t sort(const struct export_dir *dir, struct export_list *exports,
			 struct dpumap_error *error)
{
	const struct export_spec *twice = export_list_sort(exports);

	if (!twice)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_ALREADY_EXIST,
				"there are two exports called %s, in %.100s and in %.100s",
				twice[0].name, export_dir_path(dir, twice[0].file),
				export_dir_path(dir, twice[1].file));
}

doca_error_t export_dir_load(struct export_dir *dir, const char *path,
			     const struct export_dir *known, struct export_list *exports,
			     struct dpumap_error *error)
{
	doca_error_t result = find_files(dir, path, error);

	if (result == DOCA_SUCCESS)
		result = load_files(dir, known, exports, error);
	if (result == DOCA_SUCCESS)
		result = note_unchanged(dir, error);
	return result == DOCA_SUCCESS ? sort(dir, exports, error) : result;
}

bool export_dir_is_unchanged(const struct export_dir *dir, uint32_t id)
{
	return dir->num_unchanged && id <= dir->last_id && dir->unchanged[id];
}

const char *export_dir_path(const struct export_dir *dir, uint32_t id)
{
	for (size_t i = 0; i < dir->num; i++)
		if (dir->files[i].id == id)
			return dir->files[i].path;
	return "the configuration";
}

bool export_dir_allows_others(const struct export_dir *dir)
{
	for (size_t i = 0; i < dir->num; i++)
		if (dir->files[i].is_unchanged && dir->files[i].allows_others)
			return true;
	return false;
}
