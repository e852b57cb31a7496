/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parameters. They are checked when they are registered. */
#include "argp/param.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

bool dpumap_argp_is_name(const char *name)
{
	if (!*name || *name == '-')
		return false;
	for (; *name; name++)
		if (*name == '=' || isspace((unsigned char)*name) || iscntrl((unsigned char)*name))
			return false;
	return true;
}

bool dpumap_argp_set_text(const char **copy, const char *text)
{
	char *created = text ? strdup(text) : NULL;

	free((char *)*copy);
	*copy = created;
	return created || !text;
}

struct dpumap_argp_name dpumap_argp_name(const struct doca_argp_param *param)
{
	struct dpumap_argp_name name = {"--", param->long_name};

	if (!param->long_name) {
		name.dashes = "-";
		name.text = param->short_name;
	}
	return name;
}

static void free_param(struct doca_argp_param *param)
{
	free((char *)param->short_name);
	free((char *)param->long_name);
	free((char *)param->arguments);
	free((char *)param->description);
	free(param);
}

void dpumap_argp_free_params(struct doca_argp_param *params)
{
	while (params) {
		struct doca_argp_param *next = params->next;

		free_param(params);
		params = next;
	}
}

doca_error_t doca_argp_param_create(struct doca_argp_param **param)
{
	struct doca_argp_param *created;

	if (!param)
		return dpumap_fail_null(__func__);
	if (!dpumap_argp_current)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: doca_argp_init() was not called",
				   __func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory for a parameter", __func__);
	*param = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
	if (!param)
		return dpumap_fail_null(__func__);
	if (param->owner != DPUMAP_ARGP_USERS)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: the parameter was registered; doca_argp_destroy() frees it",
				   __func__);
	free_param(param);
	return DOCA_SUCCESS;
}

/* The setters return nothing, so failures are logged. */
static bool can_set(const struct doca_argp_param *param, const char *function)
{
	if (param && param->owner == DPUMAP_ARGP_USERS)
		return true;
	dpumap_log(DPUMAP_LOG_ERROR, "%s: %s", function,
		   param ? "the parameter is registered already: ignored"
			 : "the parameter is NULL");
	return false;
}

static void set_text(struct doca_argp_param *param, const char **copy, const char *text)
{
	if (!dpumap_argp_set_text(copy, text))
		param->lost_text = true;
}

void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name)
{
	if (can_set(param, __func__))
		set_text(param, &param->short_name, name);
}

void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name)
{
	if (can_set(param, __func__))
		set_text(param, &param->long_name, name);
}

void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments)
{
	if (can_set(param, __func__))
		set_text(param, &param->arguments, arguments);
}

void doca_argp_param_set_description(struct doca_argp_param *param, const char *description)
{
	if (can_set(param, __func__))
		set_text(param, &param->description, description);
}

void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback)
{
	if (can_set(param, __func__))
		param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
	if (can_set(param, __func__))
		param->type = type;
}

void doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
	if (can_set(param, __func__))
		param->mandatory = true;
}

void doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
	if (can_set(param, __func__))
		param->cli_only = true;
}

void doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
	if (can_set(param, __func__))
		param->multiplicity = true;
}

void doca_argp_param_set_singular(struct doca_argp_param *param)
{
	if (can_set(param, __func__))
		param->singular = true;
}

void doca_argp_param_set_inherited(struct doca_argp_param *param)
{
	if (can_set(param, __func__))
		param->inherited = true;
}

void doca_argp_param_set_hidden(struct doca_argp_param *param)
{
	if (can_set(param, __func__))
		param->hidden = true;
}

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static doca_error_t check_free_names(const char *function, const struct doca_argp_param *params,
				     const struct doca_argp_param *param)
{
	for (; params; params = params->next) {
		if (is_same(params->short_name, param->short_name))
			return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: flag -%s exists already",
					   function, param->short_name);
		if (is_same(params->long_name, param->long_name))
			return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: flag --%s exists already",
					   function, param->long_name);
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_names(const char *function, const struct dpumap_argp *argp,
				const struct dpumap_argp_level *level,
				const struct doca_argp_param *param)
{
	doca_error_t result = DOCA_SUCCESS;

	if ((param->short_name && !dpumap_argp_is_name(param->short_name)) ||
	    (param->long_name && !dpumap_argp_is_name(param->long_name)))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: \"%s\" is not a valid name",
				   function, dpumap_argp_name(param).text);
	for (size_t i = 0; result == DOCA_SUCCESS && i < DPUMAP_ARGP_NUM_BUILTINS; i++)
		result = check_free_names(function, &argp->builtins[i], param);
	return result == DOCA_SUCCESS ? check_free_names(function, level->params, param) : result;
}

static doca_error_t check_type(const char *function, const struct doca_argp_param *param)
{
	struct dpumap_argp_name name = dpumap_argp_name(param);

	if (param->type != DOCA_ARGP_TYPE_JSON_OBJ &&
	    (param->type < DOCA_ARGP_TYPE_STRING || param->type > DOCA_ARGP_TYPE_DOUBLE))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: %s%s has invalid type %d",
				   function, name.dashes, name.text, (int)param->type);
	if (param->type == DOCA_ARGP_TYPE_JSON_OBJ && param->cli_only)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: %s%s is a JSON object, which the command line cannot hold",
				   function, name.dashes, name.text);
	return DOCA_SUCCESS;
}

static doca_error_t check_param(const char *function, const struct dpumap_argp *argp,
				const struct dpumap_argp_level *level,
				const struct doca_argp_param *param)
{
	doca_error_t result;

	if (param->lost_text)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory for a text", function);
	if (!param->short_name && !param->long_name)
		return dpumap_fail(DOCA_ERROR_INITIALIZATION, "%s: the parameter has no name",
				   function);
	if (!param->description || !param->callback || param->type == DOCA_ARGP_TYPE_UNKNOWN)
		return dpumap_fail(DOCA_ERROR_INITIALIZATION, "%s: \"%s\" has no %s", function,
				   dpumap_argp_name(param).text,
				   !param->description ? "description"
				   : !param->callback  ? "callback"
						       : "type");
	result = check_type(function, param);
	return result == DOCA_SUCCESS ? check_names(function, argp, level, param) : result;
}

void dpumap_argp_refuse_param(struct doca_argp_param *param)
{
	if (param->owner != DPUMAP_ARGP_USERS)
		return;
	if (!dpumap_argp_current) {
		free_param(param);
		return;
	}
	param->owner = DPUMAP_ARGP_REFUSED;
	param->next = dpumap_argp_current->refused_params;
	dpumap_argp_current->refused_params = param;
}

/* At the end: the usage text shows the order of registration. */
static void append(struct dpumap_argp_level *level, struct doca_argp_param *param)
{
	struct doca_argp_param **end = &level->params;

	while (*end)
		end = &(*end)->next;
	*end = param;
	param->owner = DPUMAP_ARGP_REGISTERED;
}

static doca_error_t try_add(const char *function, struct doca_argp_cmd *cmd,
			    struct doca_argp_param *param)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(function);
	struct dpumap_argp_level *level;
	doca_error_t result;

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	level = cmd ? &cmd->level : &argp->program;
	result = check_param(function, argp, level, param);
	if (result == DOCA_SUCCESS)
		append(level, param);
	return result;
}

doca_error_t dpumap_argp_add_param(const char *function, struct doca_argp_cmd *cmd,
				   struct doca_argp_param *param)
{
	doca_error_t result;

	if (param->owner != DPUMAP_ARGP_USERS)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the parameter is registered already",
				   function);
	result = try_add(function, cmd, param);
	if (result != DOCA_SUCCESS)
		dpumap_argp_refuse_param(param);
	return result;
}

doca_error_t doca_argp_register_param(struct doca_argp_param *param)
{
	if (!param)
		return dpumap_fail_null(__func__);
	return dpumap_argp_add_param(__func__, NULL, param);
}
