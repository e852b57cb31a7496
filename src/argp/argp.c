/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Creates, runs and destroys the parser; registers callbacks. */
#include "argp/argp.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "argp/param.h"
#include "log/log.h"

struct dpumap_argp *dpumap_argp_current;

#define LEVELS \
	"10 (off), 20 (critical), 30 (errors), 40 (warnings), 50 (info), 60 (debug), 70 (trace)"

static const struct doca_argp_param builtins[DPUMAP_ARGP_NUM_BUILTINS] = {
	{
		.builtin = DPUMAP_ARGP_HELP,
		.short_name = "h",
		.long_name = "help",
		.description = "Print this text",
		.type = DOCA_ARGP_TYPE_BOOLEAN,
	},
	{
		.builtin = DPUMAP_ARGP_VERSION,
		.short_name = "v",
		.long_name = "version",
		.description = "Print the version",
		.type = DOCA_ARGP_TYPE_BOOLEAN,
	},
	{
		.builtin = DPUMAP_ARGP_LOG_LEVEL,
		.short_name = "l",
		.long_name = "log-level",
		.arguments = "<level>",
		.description = "Log level of the program: " LEVELS,
		.type = DOCA_ARGP_TYPE_INT,
	},
	{
		.builtin = DPUMAP_ARGP_SDK_LOG_LEVEL,
		.long_name = "sdk-log-level",
		.arguments = "<level>",
		.description = "Log level of the library: " LEVELS,
		.type = DOCA_ARGP_TYPE_INT,
	},
	{
		.builtin = DPUMAP_ARGP_JSON,
		.short_name = "j",
		.long_name = "json",
		.arguments = "<path>",
		.description = "Read flags from a JSON file",
		.type = DOCA_ARGP_TYPE_STRING,
	},
};

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
	struct dpumap_argp *argp;

	if (dpumap_argp_current)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "doca_argp_init: called twice");
	if (program_name && !*program_name)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_init: the program name is empty");
	argp = calloc(1, sizeof(*argp));
	if (!argp)
		goto fail;
	if (program_name) {
		argp->program_name = strdup(program_name);
		if (!argp->program_name)
			goto free_argp;
	}
	memcpy(argp->builtins, builtins, sizeof(builtins));
	argp->config = program_config;
	dpumap_argp_current = argp;
	return DOCA_SUCCESS;

free_argp:
	free(argp);
fail:
	return dpumap_fail(DOCA_ERROR_NO_MEMORY, "doca_argp_init: no memory for the parser");
}

/* Forget the results of an earlier doca_argp_start(). */
static void forget_results(struct dpumap_argp *argp)
{
	for (size_t i = 0; i < argp->num_given; i++) {
		argp->given[i].param->on_line = 0;
		argp->given[i].param->in_file = 0;
	}
	for (size_t i = 0; i < DPUMAP_ARGP_NUM_BUILTINS; i++) {
		argp->builtins[i].on_line = 0;
		argp->builtins[i].in_file = 0;
	}
	free(argp->given);
	argp->given = NULL;
	argp->num_given = 0;
	argp->max_given = 0;
	argp->num_on_line = 0;
	argp->log_level = 0;
	argp->sdk_log_level = 0;
	argp->json_path = NULL;
	argp->level = &argp->program;
	json_object_put(argp->json);
	argp->json = NULL;
	for (size_t i = 0; i < argp->num_dpdk_texts; i++)
		free(argp->dpdk_texts[i]);
	free(argp->dpdk_texts);
	argp->dpdk_texts = NULL;
	argp->num_dpdk_texts = 0;
	free(argp->dpdk_argv);
	argp->dpdk_argv = NULL;
	argp->dpdk_argc = 0;
}

static void destroy(struct dpumap_argp *argp)
{
	forget_results(argp);
	dpumap_argp_free_params(argp->program.params);
	dpumap_argp_free_params(argp->refused_params);
	dpumap_argp_free_cmds(argp->program.cmds);
	dpumap_argp_free_cmds(argp->refused_cmds);
	free(argp->program_name);
	free(argp);
}

doca_error_t doca_argp_destroy(void)
{
	struct dpumap_argp *argp = dpumap_argp_current;

	if (!argp)
		return dpumap_fail_info(DOCA_ERROR_BAD_STATE,
					"doca_argp_destroy: doca_argp_init() was not called");
	dpumap_argp_current = NULL;
	if (argp->running)
		argp->destroyed = true;
	else
		destroy(argp);
	return DOCA_SUCCESS;
}

/* The callback, or the value that it rejects, is wrong. */
static doca_error_t fail_callback(doca_error_t error, const struct doca_argp_param *param)
{
	struct dpumap_argp_name name = dpumap_argp_name(param);

	return dpumap_fail(error, "doca_argp_start: the callback of %s%s failed", name.dashes,
			   name.text);
}

/* A callback may have destroyed the parser. */
static doca_error_t check_alive(const struct dpumap_argp *argp)
{
	if (!argp->destroyed)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_BAD_STATE,
			   "doca_argp_start: a callback called doca_argp_destroy()");
}

static void *value_of(struct dpumap_argp_given *given)
{
	if (given->param->type == DOCA_ARGP_TYPE_STRING)
		return given->value.text;
	if (given->param->type == DOCA_ARGP_TYPE_JSON_OBJ)
		return given->value.json;
	return &given->value;
}

static doca_error_t call_param(const struct dpumap_argp *argp, struct dpumap_argp_given *given)
{
	doca_error_t result = given->param->callback(value_of(given), argp->config);

	if (result != DOCA_SUCCESS)
		return fail_callback(result, given->param);
	given->owns_device = false;
	return check_alive(argp);
}

static doca_error_t call_params(struct dpumap_argp *argp)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = argp->num_on_line; result == DOCA_SUCCESS && i < argp->num_given; i++)
		result = call_param(argp, &argp->given[i]);
	for (size_t i = 0; result == DOCA_SUCCESS && i < argp->num_on_line; i++)
		result = call_param(argp, &argp->given[i]);
	return result;
}

static doca_error_t open_devices(struct dpumap_argp *argp)
{
	doca_error_t result = dpumap_argp_open_devices(argp);

	return result == DOCA_SUCCESS ? check_alive(argp) : result;
}

static doca_error_t set_log_level(struct dpumap_argp *argp)
{
	int level = argp->log_level;
	doca_error_t result;

	if (!level)
		return DOCA_SUCCESS;
	if (!argp->logger_cb)
		return doca_log_level_set_global_lower_limit((uint32_t)level);
	result = argp->logger_cb(&level, argp->config);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result, "doca_argp_start: the logger callback failed");
	return check_alive(argp);
}

static doca_error_t set_log_levels(struct dpumap_argp *argp)
{
	doca_error_t result = DOCA_SUCCESS;

	if (argp->logger_disabled)
		return DOCA_SUCCESS;
	if (argp->sdk_log_level)
		result = doca_log_level_set_global_sdk_limit((uint32_t)argp->sdk_log_level);
	return result == DOCA_SUCCESS ? set_log_level(argp) : result;
}

static doca_error_t start_dpdk(const struct dpumap_argp *argp)
{
	doca_error_t result;

	if (!argp->dpdk_cb)
		return DOCA_SUCCESS;
	result = argp->dpdk_cb((int)argp->dpdk_argc, argp->dpdk_argv);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result, "doca_argp_start: the DPDK callback failed");
	return check_alive(argp);
}

/* A command is called before its subcommands. */
static doca_error_t call_commands(const struct dpumap_argp *argp,
				  const struct dpumap_argp_level *level)
{
	doca_error_t result;

	if (!level->cmd)
		return DOCA_SUCCESS;
	result = call_commands(argp, level->up);
	if (result != DOCA_SUCCESS || !level->cmd->callback)
		return result;
	result = level->cmd->callback(argp->config);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result, "doca_argp_start: the callback of command %s failed",
				   level->cmd->name);
	return check_alive(argp);
}

static doca_error_t validate(const struct dpumap_argp *argp)
{
	doca_error_t result;

	if (!argp->validation_cb)
		return DOCA_SUCCESS;
	result = argp->validation_cb(argp->config);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result, "doca_argp_start: the validation callback failed");
	return check_alive(argp);
}

static const struct doca_argp_param *find_singular(const struct dpumap_argp *argp)
{
	for (size_t i = 0; i < argp->num_given; i++)
		if (argp->given[i].param->singular)
			return argp->given[i].param;
	return NULL;
}

static doca_error_t check_singular(const struct dpumap_argp *argp,
				   const struct doca_argp_param *singular)
{
	for (size_t i = 0; i < argp->num_given; i++) {
		struct dpumap_argp_name alone = dpumap_argp_name(singular);
		struct dpumap_argp_name other = dpumap_argp_name(argp->given[i].param);

		if (argp->given[i].param != singular)
			return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
					   "doca_argp_start: %s%s cannot be combined with %s%s",
					   alone.dashes, alone.text, other.dashes, other.text);
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_mandatory(const struct dpumap_argp *argp)
{
	for (const struct dpumap_argp_level *level = argp->level; level; level = level->up)
		for (const struct doca_argp_param *p = level->params; p; p = p->next) {
			struct dpumap_argp_name name = dpumap_argp_name(p);

			if (p->mandatory && !p->on_line && !p->in_file)
				return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
						   "doca_argp_start: %s%s is missing", name.dashes,
						   name.text);
		}
	return DOCA_SUCCESS;
}

static doca_error_t check_given(const struct dpumap_argp *argp)
{
	const struct doca_argp_param *singular = find_singular(argp);

	return singular ? check_singular(argp, singular) : check_mandatory(argp);
}

static doca_error_t parse(struct dpumap_argp *argp, int argc, char **argv)
{
	doca_error_t result = dpumap_argp_read_line(argp, argc, argv);

	argp->num_on_line = argp->num_given;
	if (result == DOCA_SUCCESS && argp->json_path)
		result = dpumap_argp_read_file(argp);
	return result == DOCA_SUCCESS ? check_given(argp) : result;
}

static doca_error_t run_callbacks(struct dpumap_argp *argp)
{
	doca_error_t result = set_log_levels(argp);

	if (result == DOCA_SUCCESS)
		result = start_dpdk(argp);
	if (result == DOCA_SUCCESS)
		result = open_devices(argp);
	if (result == DOCA_SUCCESS)
		result = call_params(argp);
	dpumap_argp_close_devices(argp);
	if (result == DOCA_SUCCESS)
		result = call_commands(argp, argp->level);
	return result == DOCA_SUCCESS ? validate(argp) : result;
}

static bool is_argv(int argc, char **argv)
{
	if (argc < 1 || !argv)
		return false;
	for (int i = 0; i < argc; i++)
		if (!argv[i])
			return false;
	return true;
}

doca_error_t doca_argp_start(int argc, char **argv)
{
	struct dpumap_argp *argp = dpumap_argp_current;
	doca_error_t result;

	if (!argp)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "doca_argp_start: doca_argp_init() was not called");
	if (argp->running || argp->started)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "doca_argp_start: called twice");
	if (!is_argv(argc, argv))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: argc and argv must be those of main()");
	forget_results(argp);
	argp->path = argv[0];
	argp->running = true;
	result = parse(argp, argc, argv);
	if (result == DOCA_SUCCESS)
		result = run_callbacks(argp);
	argp->running = false;
	argp->started = result == DOCA_SUCCESS;
	if (argp->destroyed)
		destroy(argp);
	return result;
}

struct dpumap_argp *dpumap_argp_configurable(const char *function)
{
	struct dpumap_argp *argp = dpumap_argp_current;

	if (argp && !argp->running && !argp->started)
		return argp;
	dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_BAD_STATE, "%s: %s", function,
			argp ? "call it before doca_argp_start()"
			     : "doca_argp_init() was not called");
	return NULL;
}

doca_error_t doca_argp_usage(void)
{
	struct dpumap_argp *argp = dpumap_argp_current;

	if (!argp)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "doca_argp_usage: doca_argp_init() was not called");
	dpumap_argp_print_usage(argp, argp->running ? argp->level : &argp->program);
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(__func__);

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return dpumap_fail_null(__func__);
	argp->version_cb = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(__func__);

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return dpumap_fail_null(__func__);
	argp->validation_cb = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_logger_callback(doca_argp_param_cb_t callback)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(__func__);

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return dpumap_fail_null(__func__);
	if (argp->logger_cb)
		return dpumap_fail(DOCA_ERROR_ALREADY_EXIST,
				   "%s: a logger callback is registered already", __func__);
	argp->logger_cb = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_logger_callback(void)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(__func__);

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	argp->logger_disabled = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(__func__);

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return dpumap_fail_null(__func__);
	argp->dev_open_cb = callback;
	argp->dev_open_ctx = usr_ctx;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_disable_pedantic_config_parsing(void)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(__func__);

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	argp->ignores_unknown = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(__func__);

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	if (!callback)
		return dpumap_fail_null(__func__);
	argp->dpdk_cb = callback;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
	int wanted = dpumap_argp_current ? dpumap_argp_current->log_level : 0;

	if (!log_level)
		return dpumap_fail_null(__func__);
	*log_level = wanted ? wanted : (int)doca_log_level_get_global_lower_limit();
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_get_sdk_log_level(int *log_level)
{
	int wanted = dpumap_argp_current ? dpumap_argp_current->sdk_log_level : 0;

	if (!log_level)
		return dpumap_fail_null(__func__);
	*log_level = wanted ? wanted : (int)doca_log_level_get_global_sdk_limit();
	return DOCA_SUCCESS;
}
