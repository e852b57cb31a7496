/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The usage text. */
#include "argp/argp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where descriptions begin. */
#define COLUMN 42

const char *dpumap_argp_program_name(const struct dpumap_argp *argp)
{
	const char *slash;

	if (argp->program_name)
		return argp->program_name;
	if (!argp->path)
		return program_invocation_short_name;
	slash = strrchr(argp->path, '/');
	return slash ? slash + 1 : argp->path;
}

static void print_commands_path(const struct dpumap_argp_level *level)
{
	if (!level->cmd)
		return;
	print_commands_path(level->up);
	printf(" %s", level->cmd->name);
}

static void print_described(int printed, const char *description)
{
	/* Two spaces at least, else the next line. */
	if (printed > COLUMN - 2)
		printf("\n%*s%s\n", COLUMN, "", description);
	else
		printf("%*s%s\n", COLUMN - printed, "", description);
}

static void print_param(const struct doca_argp_param *param)
{
	int printed = printf("  ");

	if (param->short_name)
		printed += printf("-%s", param->short_name);
	if (param->short_name && param->long_name)
		printed += printf(", ");
	if (param->long_name)
		printed += printf("--%s", param->long_name);
	if (param->arguments)
		printed += printf(" %s", param->arguments);
	print_described(printed, param->description);
}

static bool is_shown(const struct dpumap_argp_level *level, const struct dpumap_argp_level *at,
		     const struct doca_argp_param *param)
{
	return !param->hidden && (at == level || param->inherited);
}

static void print_params(const struct dpumap_argp_level *level)
{
	bool any = false;

	for (const struct dpumap_argp_level *at = level; at; at = at->up)
		for (const struct doca_argp_param *p = at->params; p; p = p->next) {
			if (!is_shown(level, at, p))
				continue;
			if (!any)
				printf("\nProgram Flags:\n");
			any = true;
			print_param(p);
		}
}

static void print_cmds(const struct dpumap_argp_level *level)
{
	bool any = false;

	for (const struct doca_argp_cmd *c = level->cmds; c; c = c->next) {
		if (c->hidden)
			continue;
		if (!any)
			printf("\nCommands:\n");
		any = true;
		print_described(printf("  %s", c->name), c->description);
	}
}

void dpumap_argp_print_usage(const struct dpumap_argp *argp, const struct dpumap_argp_level *level)
{
	printf("Usage: %s%s", dpumap_argp_program_name(argp),
	       argp->dpdk_cb ? " [DPDK Flags] --" : "");
	print_commands_path(level);
	printf(" [DOCA Flags] [Program Flags]%s\n\nDOCA Flags:\n", level->cmds ? " [Command]" : "");
	for (size_t i = 0; i < DPUMAP_ARGP_NUM_BUILTINS; i++)
		print_param(&argp->builtins[i]);
	print_params(level);
	print_cmds(level);
	fflush(stdout);
}
