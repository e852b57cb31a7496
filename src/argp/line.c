/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses the command line. Of all callbacks, only that of --version is called here. */
#include "argp/argp.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_version.h>

#include "argp/param.h"
#include "log/backend.h"
#include "log/log.h"

/* at is the next argument to read. */
struct line {
	int argc;
	char **argv;
	int at;
};

static bool is_named(const char *name, const char *text, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, text, len);
}

static bool has_name(const struct doca_argp_param *param, bool is_long, const char *text,
		     size_t len)
{
	return is_named(is_long ? param->long_name : param->short_name, text, len);
}

/* Find a parameter by name: of the level, inherited, or built in. */
static struct doca_argp_param *find_param(struct dpumap_argp *argp,
					  const struct dpumap_argp_level *level, bool is_long,
					  const char *text, size_t len)
{
	for (const struct dpumap_argp_level *at = level; at; at = at->up)
		for (struct doca_argp_param *p = at->params; p; p = p->next)
			if ((at == level || p->inherited) && has_name(p, is_long, text, len))
				return p;
	for (size_t i = 0; i < DPUMAP_ARGP_NUM_BUILTINS; i++)
		if (has_name(&argp->builtins[i], is_long, text, len))
			return &argp->builtins[i];
	return NULL;
}

static bool looks_like_flag(const char *argument)
{
	return argument[0] == '-' && argument[1] != '\0';
}

/* Of "--name=value", "-name=value" or without a value. */
static struct doca_argp_param *
find_flag(struct dpumap_argp *argp, const struct dpumap_argp_level *level, const char *argument)
{
	bool is_long;

	if (!looks_like_flag(argument))
		return NULL;
	is_long = argument[1] == '-';
	argument += is_long ? 2 : 1;
	return find_param(argp, level, is_long, argument, strcspn(argument, "="));
}

static doca_error_t read_int(const struct doca_argp_param *param, const char *text, int *number)
{
	struct dpumap_argp_name name = dpumap_argp_name(param);
	const char *digits = text + (*text == '-' || *text == '+');
	bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, is_hex ? 16 : 10);
	/* strtol() skips spaces. */
	if (*digits < '0' || *digits > '9' || *end)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: %s%s: \"%s\" is not an integer", name.dashes,
				   name.text, text);
	if (errno || value < INT_MIN || value > INT_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start: %s%s: %s is too %s",
				   name.dashes, name.text, text, *text == '-' ? "small" : "big");
	*number = (int)value;
	return DOCA_SUCCESS;
}

/* Decimal, whatever the locale of the program. */
static doca_error_t read_double(const struct doca_argp_param *param, const char *text, double *real)
{
	struct dpumap_argp_name name = dpumap_argp_name(param);
	locale_t posix = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end;

	if (!posix)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "doca_argp_start: no memory for a locale");
	*real = strtod_l(text, &end, posix);
	freelocale(posix);
	/* strtod_l() skips spaces, and knows words and hexadecimal numbers. */
	if (end == text || *end || text[strspn(text, "0123456789+-.eE")])
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: %s%s: \"%s\" is not a decimal number",
				   name.dashes, name.text, text);
	if (!isfinite(*real))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start: %s%s: %s is too %s",
				   name.dashes, name.text, text, *text == '-' ? "small" : "big");
	return DOCA_SUCCESS;
}

/* The text after "=", or the next argument, which is consumed. */
static doca_error_t take_text(struct dpumap_argp *argp, struct line *line,
			      const struct doca_argp_param *param, char *inline_value, char **text)
{
	struct dpumap_argp_name name = dpumap_argp_name(param);
	bool is_last = line->at == line->argc;

	if (inline_value) {
		*text = inline_value;
		return DOCA_SUCCESS;
	}
	if (is_last || !strcmp(line->argv[line->at], "--") ||
	    find_flag(argp, argp->level, line->argv[line->at]))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start: %s%s needs a value",
				   name.dashes, name.text);
	*text = line->argv[line->at++];
	return DOCA_SUCCESS;
}

static doca_error_t take_value(struct dpumap_argp *argp, struct line *line,
			       struct dpumap_argp_given *given, char *inline_value)
{
	struct dpumap_argp_name name = dpumap_argp_name(given->param);
	doca_error_t result;
	char *text;

	if (given->param->type == DOCA_ARGP_TYPE_JSON_OBJ)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_argp_start: %s%s is allowed in a JSON file only",
				   name.dashes, name.text);
	if (given->param->type == DOCA_ARGP_TYPE_BOOLEAN) {
		if (inline_value)
			return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
					   "doca_argp_start: %s%s takes no value", name.dashes,
					   name.text);
		given->value.on = true;
		return DOCA_SUCCESS;
	}
	result = take_text(argp, line, given->param, inline_value, &text);
	if (result != DOCA_SUCCESS)
		return result;
	if (given->param->type == DOCA_ARGP_TYPE_INT)
		return read_int(given->param, text, &given->value.number);
	if (given->param->type == DOCA_ARGP_TYPE_DOUBLE)
		return read_double(given->param, text, &given->value.real);
	given->value.text = text;
	return DOCA_SUCCESS;
}

/* --help and --version end the program, as users of DOCA programs expect. */
__attribute__((noreturn)) static void exit_program(struct dpumap_argp *argp)
{
	argp->running = false;
	doca_argp_destroy();
	exit(EXIT_SUCCESS);
}

static doca_error_t print_version(struct dpumap_argp *argp)
{
	bool wanted = true;
	doca_error_t result;

	if (!argp->version_cb) {
		printf("%s, on DOCA %s\n", dpumap_argp_program_name(argp), doca_version_runtime());
		exit_program(argp);
	}
	result = argp->version_cb(&wanted, argp->config);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result, "doca_argp_start: the version callback failed");
	if (argp->destroyed)
		return dpumap_fail(
			DOCA_ERROR_BAD_STATE,
			"doca_argp_start: the version callback called doca_argp_destroy()");
	return DOCA_SUCCESS;
}

static doca_error_t take_log_level(const struct dpumap_argp_given *given, int *level)
{
	struct dpumap_argp_name name = dpumap_argp_name(given->param);

	if (!dpumap_log_is_level((uint32_t)given->value.number))
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"doca_argp_start: %s%s: invalid log level %d, must be 10, 20, ... 70",
			name.dashes, name.text, given->value.number);
	*level = given->value.number;
	return DOCA_SUCCESS;
}

static doca_error_t take_given(struct dpumap_argp *argp, const struct dpumap_argp_given *given)
{
	switch (given->param->builtin) {
	case DPUMAP_ARGP_HELP:
		dpumap_argp_print_usage(argp, argp->level);
		exit_program(argp);
	case DPUMAP_ARGP_VERSION:
		return print_version(argp);
	case DPUMAP_ARGP_LOG_LEVEL:
		return take_log_level(given, &argp->log_level);
	case DPUMAP_ARGP_SDK_LOG_LEVEL:
		return take_log_level(given, &argp->sdk_log_level);
	case DPUMAP_ARGP_JSON:
		argp->json_path = given->value.text;
		return DOCA_SUCCESS;
	case DPUMAP_ARGP_OWN:
		break;
	}
	return dpumap_argp_add_given(argp, *given);
}

static doca_error_t read_flag(struct dpumap_argp *argp, struct line *line)
{
	char *argument = line->argv[line->at++];
	char *equals = strchr(argument, '=');
	struct dpumap_argp_given given = {.param = find_flag(argp, argp->level, argument)};
	doca_error_t result;

	if (!given.param)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_argp_start: unknown flag %s; --help lists all flags",
				   argument);
	if (given.param->on_line && !given.param->multiplicity)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start: %s is given twice",
				   argument);
	result = take_value(argp, line, &given, equals ? equals + 1 : NULL);
	if (result == DOCA_SUCCESS)
		result = take_given(argp, &given);
	if (result == DOCA_SUCCESS)
		given.param->on_line++;
	return result;
}

static doca_error_t read_word(struct dpumap_argp *argp, struct line *line)
{
	const char *word = line->argv[line->at++];

	for (struct doca_argp_cmd *cmd = argp->level->cmds; cmd; cmd = cmd->next)
		if (!strcmp(cmd->name, word)) {
			argp->level = &cmd->level;
			return DOCA_SUCCESS;
		}
	if (argp->level->cmds)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_argp_start: unknown command %s; --help lists all commands",
				   word);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start: unexpected argument %s",
			   word);
}

/* Arguments before a "--" are for DPDK, and so is the name of the program. */
static doca_error_t read_dpdk(struct dpumap_argp *argp, struct line *line)
{
	doca_error_t result = dpumap_argp_add_dpdk(argp, line->argv[0]);
	int end = 1;

	while (end < line->argc && strcmp(line->argv[end], "--") != 0)
		end++;
	if (end == line->argc)
		return result;
	for (int i = 1; result == DOCA_SUCCESS && i < end; i++)
		result = dpumap_argp_add_dpdk(argp, line->argv[i]);
	line->at = end + 1;
	return result;
}

doca_error_t dpumap_argp_read_line(struct dpumap_argp *argp, int argc, char **argv)
{
	struct line line = {.argc = argc, .argv = argv, .at = 1};
	doca_error_t result = argp->dpdk_cb ? read_dpdk(argp, &line) : DOCA_SUCCESS;
	bool ended = false;

	while (result == DOCA_SUCCESS && line.at < argc) {
		bool is_flag = !ended && looks_like_flag(argv[line.at]);

		if (is_flag && !strcmp(argv[line.at], "--")) {
			ended = true;
			line.at++;
		} else {
			result = is_flag ? read_flag(argp, &line) : read_word(argp, &line);
		}
	}
	return result;
}
