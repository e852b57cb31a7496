/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses flags in a JSON file. */
#include "argp/argp.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argp/param.h"
#include "base/array.h"
#include "log/backend.h"
#include "log/log.h"

/* A longer file is not a configuration. */
#define MAX_FILE  ((size_t)4 << 20)
#define MAX_DEPTH 64

/* Followed by a NUL, by which json-c ends a number. */
struct text {
	char *bytes;
	size_t len;
	size_t max;
};

static doca_error_t grow(struct text *text, const char *path)
{
	size_t max = text->max ? 2 * text->max : 4096;
	char *more;

	if (max > MAX_FILE)
		return dpumap_fail(DOCA_ERROR_IO_FAILED,
				   "doca_argp_start: %s has more than %zu bytes", path, MAX_FILE);
	more = realloc(text->bytes, max);
	if (!more)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "doca_argp_start: no memory for %s", path);
	text->bytes = more;
	text->max = max;
	return DOCA_SUCCESS;
}

static doca_error_t read_all(int fd, const char *path, struct text *text)
{
	doca_error_t result = DOCA_SUCCESS;
	ssize_t n = 1;

	while (n) {
		if (text->len + 1 >= text->max)
			result = grow(text, path);
		if (result != DOCA_SUCCESS)
			return result;
		n = read(fd, text->bytes + text->len, text->max - text->len - 1);
		if (n < 0 && errno != EINTR)
			return dpumap_fail(DOCA_ERROR_IO_FAILED,
					   "doca_argp_start: cannot read %s: %s", path,
					   strerror(errno));
		if (n > 0)
			text->len += (size_t)n;
	}
	text->bytes[text->len] = '\0';
	return DOCA_SUCCESS;
}

static doca_error_t read_path(const char *path, struct text *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	doca_error_t result;

	if (fd < 0)
		return dpumap_fail(DOCA_ERROR_IO_FAILED, "doca_argp_start: cannot open %s: %s",
				   path, strerror(errno));
	result = read_all(fd, path, text);
	close(fd);
	return result;
}

static bool is_space(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r\n", bytes[i]) || !bytes[i])
			return false;
	return true;
}

static size_t line_of(const char *bytes, size_t end)
{
	size_t line = 1;

	for (size_t i = 0; i < end; i++)
		line += bytes[i] == '\n';
	return line;
}

static doca_error_t parse_text(struct json_tokener *tokener, const char *path,
			       const struct text *text, struct json_object **json)
{
	struct json_object *root = json_tokener_parse_ex(tokener, text->bytes, (int)text->len + 1);
	enum json_tokener_error error = json_tokener_get_error(tokener);
	size_t end = json_tokener_get_parse_end(tokener);
	const char *why = json_tokener_error_desc(error);

	if (end > text->len)
		end = text->len;
	if (error == json_tokener_success && is_space(text->bytes + end, text->len - end)) {
		*json = root;
		return DOCA_SUCCESS;
	}
	json_object_put(root);
	if (error == json_tokener_success)
		why = "unexpected text after the object";
	return dpumap_fail(DOCA_ERROR_IO_FAILED, "doca_argp_start: %s, line %zu: %s", path,
			   line_of(text->bytes, end), why);
}

static doca_error_t load(const char *path, struct json_object **json)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	struct text text = {0};
	doca_error_t result;

	if (!tokener)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "doca_argp_start: no memory for JSON");
	/* Not strict: comments are allowed. */
	json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
	result = read_path(path, &text);
	if (result == DOCA_SUCCESS)
		result = parse_text(tokener, path, &text, json);
	free(text.bytes);
	json_tokener_free(tokener);
	return result;
}

doca_error_t dpumap_argp_json_wrong_type(const char *key, struct json_object *value,
					 const char *wanted)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start: JSON: %s is %s, not %s", key,
			   json_type_to_name(json_object_get_type(value)), wanted);
}

doca_error_t dpumap_argp_json_unknown(const struct dpumap_argp *argp, const char *what,
				      const char *name)
{
	if (!argp->ignores_unknown)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "doca_argp_start: JSON: unknown %s %s",
				   what, name);
	dpumap_log(DPUMAP_LOG_INFO, "doca_argp_start: JSON: unknown %s %s is ignored", what, name);
	return DOCA_SUCCESS;
}

static doca_error_t take_int(const char *key, struct json_object *value, int *number)
{
	int64_t wide;

	if (!json_object_is_type(value, json_type_int))
		return dpumap_argp_json_wrong_type(key, value, "an integer");
	wide = json_object_get_int64(value);
	if (wide < INT_MIN || wide > INT_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start: JSON: %s is too %s",
				   key, wide < 0 ? "small" : "big");
	*number = (int)wide;
	return DOCA_SUCCESS;
}

/* json-c limits a bigger integer to that of 64 bits. */
#define MAX_EXACT (INT64_C(1) << 53)

static doca_error_t take_double(const char *key, struct json_object *value, double *real)
{
	int64_t wide = json_object_get_int64(value);
	bool is_int = json_object_is_type(value, json_type_int);

	if (!is_int && !json_object_is_type(value, json_type_double))
		return dpumap_argp_json_wrong_type(key, value, "a number");
	*real = json_object_get_double(value);
	if (!isfinite(*real))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: JSON: %s is not a finite number", key);
	if (is_int && (wide < -MAX_EXACT || wide > MAX_EXACT))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: JSON: %s is too %s for an integer: write it "
				   "with an exponent",
				   key, wide < 0 ? "small" : "big");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_argp_json_string(const char *key, struct json_object *value, char **text)
{
	const char *string;

	if (!json_object_is_type(value, json_type_string))
		return dpumap_argp_json_wrong_type(key, value, "a string");
	string = json_object_get_string(value);
	if (strlen(string) != (size_t)json_object_get_string_len(value))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: JSON: %s contains a NUL", key);
	*text = (char *)string;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_argp_json_boolean(const char *key, struct json_object *value, bool *on)
{
	if (!json_object_is_type(value, json_type_boolean))
		return dpumap_argp_json_wrong_type(key, value, "true or false");
	*on = json_object_get_boolean(value);
	return DOCA_SUCCESS;
}

static doca_error_t take_json(const char *key, struct json_object *value, struct json_object **json)
{
	if (!json_object_is_type(value, json_type_object) &&
	    !json_object_is_type(value, json_type_array))
		return dpumap_argp_json_wrong_type(key, value, "an object or an array");
	*json = value;
	return DOCA_SUCCESS;
}

static doca_error_t take_value(struct dpumap_argp *argp, struct doca_argp_param *param,
			       const char *key, struct json_object *value)
{
	struct dpumap_argp_given given = {.param = param};
	doca_error_t result;

	switch (param->type) {
	case DOCA_ARGP_TYPE_INT:
		result = take_int(key, value, &given.value.number);
		break;
	case DOCA_ARGP_TYPE_BOOLEAN:
		result = dpumap_argp_json_boolean(key, value, &given.value.on);
		break;
	case DOCA_ARGP_TYPE_DOUBLE:
		result = take_double(key, value, &given.value.real);
		break;
	case DOCA_ARGP_TYPE_JSON_OBJ:
		result = take_json(key, value, &given.value.json);
		break;
	default:
		result = dpumap_argp_json_string(key, value, &given.value.text);
		break;
	}
	if (result == DOCA_SUCCESS)
		result = dpumap_argp_add_given(argp, given);
	if (result == DOCA_SUCCESS)
		param->in_file++;
	return result;
}

static doca_error_t take_values(struct dpumap_argp *argp, struct doca_argp_param *param,
				const char *key, struct json_object *values)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!param->multiplicity || !json_object_is_type(values, json_type_array))
		return take_value(argp, param, key, values);
	for (size_t i = 0; result == DOCA_SUCCESS && i < json_object_array_length(values); i++)
		result = take_value(argp, param, key, json_object_array_get_idx(values, i));
	return result;
}

static bool is_key(const struct doca_argp_param *param, const char *key)
{
	return !strcmp(dpumap_argp_name(param).text, key);
}

/* Search the parameters of the command and of all commands above it. */
static struct doca_argp_param *find_param(const struct dpumap_argp *argp, const char *key)
{
	for (const struct dpumap_argp_level *level = argp->level; level; level = level->up)
		for (struct doca_argp_param *p = level->params; p; p = p->next)
			if (is_key(p, key))
				return p;
	return NULL;
}

static doca_error_t read_program_flag(struct dpumap_argp *argp, const char *key,
				      struct json_object *value)
{
	struct doca_argp_param *param = find_param(argp, key);

	if (!param)
		return dpumap_argp_json_unknown(argp, "flag", key);
	if (param->cli_only)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: JSON: %s is allowed on the command line only",
				   key);
	return param->on_line ? DOCA_SUCCESS : take_values(argp, param, key, value);
}

static doca_error_t read_general_flag(struct dpumap_argp *argp, const char *key,
				      struct json_object *value)
{
	bool is_sdk = !strcmp(key, "sdk-log-level");
	int *wanted = is_sdk ? &argp->sdk_log_level : &argp->log_level;
	doca_error_t result;
	int level;

	if (!is_sdk && strcmp(key, "log-level") != 0)
		return dpumap_argp_json_unknown(argp, "flag", key);
	result = take_int(key, value, &level);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_log_is_level((uint32_t)level))
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"doca_argp_start: JSON: %s: invalid log level %d, must be 10, 20, ... 70",
			key, level);
	/* The command line takes precedence. */
	if (!*wanted)
		*wanted = level;
	return DOCA_SUCCESS;
}

static doca_error_t read_dpdk_flag(struct dpumap_argp *argp, const char *key,
				   struct json_object *value)
{
	if (argp->dpdk_cb)
		return dpumap_argp_read_json_dpdk(argp, key, value);
	if (argp->ignores_unknown)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "doca_argp_start: JSON: %s is for DPDK, which this program does not use",
			   key);
}

static const struct group {
	const char *name;
	doca_error_t (*read)(struct dpumap_argp *argp, const char *key, struct json_object *value);
} groups[] = {
	{"doca_program_flags", read_program_flag},
	{"doca_general_flags", read_general_flag},
	{"doca_dpdk_flags", read_dpdk_flag},
};

static const struct group *find_group(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (!strcmp(groups[i].name, name))
			return &groups[i];
	return NULL;
}

static doca_error_t read_group(struct dpumap_argp *argp, const char *name,
			       struct json_object *flags)
{
	const struct group *group = find_group(name);
	doca_error_t result = DOCA_SUCCESS;

	if (!group && argp->ignores_unknown)
		return dpumap_argp_json_unknown(argp, "group", name);
	if (!group)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_argp_start: JSON: unknown group %s, must be %s, %s or %s",
				   name, groups[0].name, groups[1].name, groups[2].name);
	if (!json_object_is_type(flags, json_type_object))
		return dpumap_argp_json_wrong_type(name, flags, "an object");
	json_object_object_foreach(flags, key, value)
	{
		result = group->read(argp, key, value);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}

doca_error_t dpumap_argp_read_file(struct dpumap_argp *argp)
{
	doca_error_t result = load(argp->json_path, &argp->json);

	if (result != DOCA_SUCCESS)
		return result;
	if (!json_object_is_type(argp->json, json_type_object))
		return dpumap_argp_json_wrong_type(argp->json_path, argp->json, "an object");
	json_object_object_foreach(argp->json, name, flags)
	{
		result = read_group(argp, name, flags);
		if (result != DOCA_SUCCESS)
			break;
	}
	return result;
}
