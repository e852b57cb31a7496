/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/config_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local/file.h"
#include "local/trusted.h"

static doca_error_t read_text(int fd, const char *path, size_t max, char **text,
			      struct dpumap_error *error)
{
	doca_error_t result;
	struct stat st;
	char *buf;

	if (fstat(fd, &st) != 0)
		return dpumap_error_errno(error, errno, "cannot examine %s", path);
	if ((size_t)st.st_size > max)
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"%s: the configuration is larger than %zu bytes", path,
					max);
	buf = calloc(1, (size_t)st.st_size + 1);
	if (!buf)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for the configuration");
	result = dpumap_file_read(fd, path, 0, buf, (size_t)st.st_size, error);
	if (result == DOCA_SUCCESS && strlen(buf) != (size_t)st.st_size)
		result = dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					  "%s: byte %zu is NUL, which a text does not contain",
					  path, strlen(buf));
	if (result != DOCA_SUCCESS) {
		free(buf);
		return result;
	}
	*text = buf;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_config_file_parse(const char *path, const char *text, config_t *config,
				      struct dpumap_error *error)
{
	/* An included file would be read without the checks of a trusted one. */
	if (strstr(text, "@include"))
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s: @include is not allowed",
					path);
	config_init(config);
	if (config_read_string(config, text))
		return DOCA_SUCCESS;
	dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s:%d: %s", path, config_error_line(config),
			 config_error_text(config));
	config_destroy(config);
	return error->code;
}

doca_error_t dpumap_config_file_load(const char *path, size_t max, char **text,
				     struct dpumap_error *error)
{
	doca_error_t result;
	int fd;

	result = dpumap_trusted_open(path, false, &fd, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = read_text(fd, path, max, text, error);
	close(fd);
	return result;
}

doca_error_t dpumap_config_file_read(const char *path, size_t max, config_t *config,
				     struct dpumap_error *error)
{
	doca_error_t result;
	char *text = NULL;

	result = dpumap_config_file_load(path, max, &text, error);
	if (!text)
		return result;
	result = dpumap_config_file_parse(path, text, config, error);
	free(text);
	return result;
}

doca_error_t dpumap_config_file_invalid(const char *path, const config_setting_t *setting,
					const char *what, struct dpumap_error *error)
{
	const char *name = config_setting_name(setting);

	return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG, "%s:%u: %s %s", path,
				config_setting_source_line(setting), name ? name : "a value", what);
}

doca_error_t dpumap_config_file_fault(const char *path, const config_setting_t *setting,
				      const struct dpumap_error *why, struct dpumap_error *error)
{
	doca_error_t code = why->code == DOCA_ERROR_NO_MEMORY ? why->code : DOCA_ERROR_BAD_CONFIG;

	return dpumap_error_set(error, code, "%s:%u: %.240s", path,
				config_setting_source_line(setting), why->text);
}

doca_error_t dpumap_config_file_text(const char *path, const config_setting_t *setting,
				     bool is_path, const char **text, struct dpumap_error *error)
{
	const char *value = config_setting_get_string(setting);

	if (!value || !value[0])
		return dpumap_config_file_invalid(path, setting,
						  "must be a string in double quotes", error);
	if (is_path && value[0] != '/')
		return dpumap_config_file_invalid(path, setting, "must be an absolute path", error);
	*text = value;
	return DOCA_SUCCESS;
}
