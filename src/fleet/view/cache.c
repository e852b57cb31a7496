/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/view/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "fleet/etcd/answer.h"
#include "fleet/record/record.h"
#include "local/trusted.h"

#define FORMAT		1
#define RECORD_LINE_MAX (DPUMAP_RECORD_MAX * 8)

/* --- writing ---------------------------------------------------------------------------------- */

static void write_about(FILE *file, const char *fleet, const struct dpumap_cache_about *about)
{
	fprintf(file,
		"{\"cache\":%d,\"fleet\":\"%s\",\"confirmed\":%" PRIu64 ",\"revision\":%" PRId64
		",\"cluster\":\"%" PRIu64 "\"}\n",
		FORMAT, fleet, about->confirmed_ms, about->revision, about->cluster_id);
}

static void write_record(FILE *file, const struct dpumap_view *view,
			 const struct dpumap_fleet_key *key, char *value)
{
	int64_t lease, revision = dpumap_view_revision(view, key, &lease);

	fprintf(file,
		"{\"dpu\":\"%s\",\"name\":\"%s\",\"lease\":%" PRId64 ",\"revision\":%" PRId64
		",\"record\":%s}\n",
		key->dpu, key->name, lease, revision, value);
	free(value);
}

static doca_error_t write_dpus(FILE *file, const struct dpumap_view *view,
			       struct dpumap_error *error)
{
	const struct dpumap_fleet_dpu **dpus;
	struct dpumap_fleet_key key = {0};
	size_t num;
	char *value;

	if (dpumap_view_sort_dpus(view, &dpus, &num) != DOCA_SUCCESS)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a list");
	for (size_t i = 0; i < num; i++) {
		if (dpus[i]->needs_newer ||
		    dpumap_record_encode_dpu(dpus[i], &value, error) != DOCA_SUCCESS)
			continue;
		dpumap_fleet_copy(key.dpu, sizeof(key.dpu), dpus[i]->name);
		write_record(file, view, &key, value);
	}
	free(dpus);
	return DOCA_SUCCESS;
}

struct writer {
	FILE *file;
	const struct dpumap_view *view;
};

static void write_export(void *context, const struct dpumap_fleet_export *export_info)
{
	const struct writer *w = context;
	struct dpumap_fleet_key key;
	struct dpumap_error ignored;
	char *value;

	if (export_info->needs_newer ||
	    dpumap_record_encode_export(export_info, &value, &ignored) != DOCA_SUCCESS)
		return;
	dpumap_fleet_copy(key.dpu, sizeof(key.dpu), export_info->dpu);
	dpumap_fleet_copy(key.name, sizeof(key.name), export_info->name);
	write_record(w->file, w->view, &key, value);
}

static doca_error_t fill(FILE *file, const char *path, const char *fleet,
			 const struct dpumap_view *view, const struct dpumap_cache_about *about,
			 struct dpumap_error *error)
{
	struct writer writer = {file, view};
	doca_error_t result;

	write_about(file, fleet, about);
	result = write_dpus(file, view, error);
	if (result == DOCA_SUCCESS &&
	    dpumap_view_each_export(view, write_export, &writer) != DOCA_SUCCESS)
		result = dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a list");
	if (result == DOCA_SUCCESS && (fflush(file) != 0 || ferror(file)))
		result = dpumap_error_errno(error, errno, "cannot write %s", path);
	return result;
}

doca_error_t dpumap_cache_write(const char *path, const char *fleet, const struct dpumap_view *view,
				const struct dpumap_cache_about *about, struct dpumap_error *error)
{
	char temporary[PATH_MAX];
	doca_error_t result;
	FILE *file;
	int fd;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return dpumap_error_errno(error, ENAMETOOLONG, "cannot write %s", path);
	fd = mkstemp(temporary);
	if (fd < 0)
		return dpumap_error_errno(error, errno, "cannot write %s", path);
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		unlink(temporary);
		return dpumap_error_errno(error, errno, "cannot write %s", path);
	}
	result = fill(file, path, fleet, view, about, error);
	if (fclose(file) != 0 && result == DOCA_SUCCESS)
		result = dpumap_error_errno(error, errno, "cannot write %s", path);
	if (result == DOCA_SUCCESS && rename(temporary, path) != 0)
		result = dpumap_error_errno(error, errno, "cannot write %s", path);
	if (result != DOCA_SUCCESS)
		unlink(temporary);
	return result;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_about(FILE *file, const char *fleet, struct dpumap_cache_about *about)
{
	struct json_object *json;
	char line[512];
	bool good;

	if (!fgets(line, sizeof(line), file))
		return false;
	json = json_tokener_parse(line);
	good = json_object_is_type(json, json_type_object) &&
	       dpumap_answer_int64(json, "cache") == FORMAT &&
	       strcmp(dpumap_answer_text(json, "fleet"), fleet) == 0;
	if (good)
		*about = (struct dpumap_cache_about){
			.confirmed_ms = dpumap_answer_uint64(json, "confirmed"),
			.revision = dpumap_answer_int64(json, "revision"),
			.cluster_id = dpumap_answer_uint64(json, "cluster")};
	json_object_put(json);
	return good;
}

static void read_record(const char *line, const char *only, struct dpumap_view *view)
{
	struct json_object *json = json_tokener_parse(line);
	struct json_object *value = json_object_is_type(json, json_type_object)
					    ? json_object_object_get(json, "record")
					    : NULL;
	struct dpumap_view_record record = {0};
	struct dpumap_error error;
	const char *dpu, *name;

	if (json_object_is_type(value, json_type_object)) {
		dpu = dpumap_answer_text(json, "dpu");
		name = dpumap_answer_text(json, "name");
		record.lease = dpumap_answer_int64(json, "lease");
		record.revision = dpumap_answer_int64(json, "revision");
		record.value = json_object_to_json_string_ext(
			value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
		record.len = strlen(record.value);
		if (dpumap_fleet_name_valid(dpu) && (!only || strcmp(dpu, only) == 0) &&
		    (!*name || dpumap_fleet_name_valid(name))) {
			dpumap_fleet_copy(record.key.dpu, sizeof(record.key.dpu), dpu);
			dpumap_fleet_copy(record.key.name, sizeof(record.key.name), name);
			(void)dpumap_view_put(view, &record, &error);
		}
	}
	json_object_put(json);
}

static void read_records(FILE *file, const char *dpu, struct dpumap_view *view)
{
	char *line = malloc(RECORD_LINE_MAX);

	if (!line)
		return;
	while (fgets(line, RECORD_LINE_MAX, file))
		read_record(line, dpu, view);
	free(line);
}

doca_error_t dpumap_cache_read(const char *path, const char *fleet, const char *dpu,
			       struct dpumap_view *view, struct dpumap_cache_about *about,
			       struct dpumap_error *error)
{
	doca_error_t result;
	FILE *file;
	int fd;

	result = dpumap_trusted_open(path, false, &fd, error);
	if (result != DOCA_SUCCESS)
		return result;
	file = fdopen(fd, "r");
	if (!file) {
		dpumap_error_errno(error, errno, "cannot read %s", path);
		close(fd);
		return error->code;
	}
	if (!read_about(file, fleet, about))
		result = dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					  "%s is not a cache of fleet %s", path, fleet);
	else if (view)
		read_records(file, dpu, view);
	fclose(file);
	return result;
}
