/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands, which are a tree of levels. */
#include "argp/argp.h"

#include <stdlib.h>
#include <string.h>

#include "argp/param.h"
#include "log/log.h"

static void free_cmd(struct doca_argp_cmd *cmd)
{
	dpumap_argp_free_params(cmd->level.params);
	dpumap_argp_free_cmds(cmd->level.cmds);
	free((char *)cmd->name);
	free((char *)cmd->description);
	free(cmd);
}

void dpumap_argp_free_cmds(struct doca_argp_cmd *cmds)
{
	while (cmds) {
		struct doca_argp_cmd *next = cmds->next;

		free_cmd(cmds);
		cmds = next;
	}
}

doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd)
{
	struct doca_argp_cmd *created;

	if (!cmd)
		return dpumap_fail_null(__func__);
	if (!dpumap_argp_current)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: doca_argp_init() was not called",
				   __func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory for a command", __func__);
	created->level.cmd = created;
	*cmd = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd)
{
	if (!cmd)
		return dpumap_fail_null(__func__);
	if (cmd->owner != DPUMAP_ARGP_USERS)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: the command was registered; doca_argp_destroy() frees it",
				   __func__);
	free_cmd(cmd);
	return DOCA_SUCCESS;
}

static bool can_set(const struct doca_argp_cmd *cmd, const char *function)
{
	if (cmd && cmd->owner == DPUMAP_ARGP_USERS)
		return true;
	dpumap_log(DPUMAP_LOG_ERROR, "%s: %s", function,
		   cmd ? "the command is registered already: ignored" : "the command is NULL");
	return false;
}

void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name)
{
	if (can_set(cmd, __func__) && !dpumap_argp_set_text(&cmd->name, name))
		cmd->lost_text = true;
}

void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description)
{
	if (can_set(cmd, __func__) && !dpumap_argp_set_text(&cmd->description, description))
		cmd->lost_text = true;
}

void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback)
{
	if (can_set(cmd, __func__))
		cmd->callback = callback;
}

void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd)
{
	if (can_set(cmd, __func__))
		cmd->hidden = true;
}

static doca_error_t check_cmd(const char *function, const struct dpumap_argp_level *level,
			      const struct doca_argp_cmd *cmd)
{
	if (cmd->lost_text)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory for a text", function);
	if (!cmd->name || !cmd->description)
		return dpumap_fail(DOCA_ERROR_INITIALIZATION, "%s: the command has no %s", function,
				   cmd->name ? "description" : "name");
	if (!dpumap_argp_is_name(cmd->name))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: \"%s\" is not a valid name",
				   function, cmd->name);
	for (const struct doca_argp_cmd *c = level->cmds; c; c = c->next)
		if (!strcmp(c->name, cmd->name))
			return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
					   "%s: command %s exists already", function, cmd->name);
	return DOCA_SUCCESS;
}

static bool is_within(const struct dpumap_argp_level *level, const struct doca_argp_cmd *cmd)
{
	for (; level; level = level->up)
		if (level->cmd == cmd)
			return true;
	return false;
}

static void append(struct dpumap_argp_level *level, struct doca_argp_cmd *cmd)
{
	struct doca_argp_cmd **end = &level->cmds;

	while (*end)
		end = &(*end)->next;
	*end = cmd;
	cmd->level.up = level;
	cmd->owner = DPUMAP_ARGP_REGISTERED;
}

static void refuse(struct doca_argp_cmd *cmd)
{
	if (cmd->owner != DPUMAP_ARGP_USERS)
		return;
	if (!dpumap_argp_current) {
		free_cmd(cmd);
		return;
	}
	cmd->owner = DPUMAP_ARGP_REFUSED;
	cmd->next = dpumap_argp_current->refused_cmds;
	dpumap_argp_current->refused_cmds = cmd;
}

static doca_error_t try_add(const char *function, struct doca_argp_cmd *upper,
			    struct doca_argp_cmd *cmd)
{
	struct dpumap_argp *argp = dpumap_argp_configurable(function);
	struct dpumap_argp_level *level;
	doca_error_t result;

	if (!argp)
		return DOCA_ERROR_BAD_STATE;
	level = upper ? &upper->level : &argp->program;
	result = check_cmd(function, level, cmd);
	if (result != DOCA_SUCCESS)
		return result;
	if (is_within(level, cmd))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: %s would be a subcommand of itself", function, cmd->name);
	append(level, cmd);
	return DOCA_SUCCESS;
}

/* Register a subcommand of upper, or with NULL a command of the program. */
static doca_error_t add_cmd(const char *function, struct doca_argp_cmd *upper,
			    struct doca_argp_cmd *cmd)
{
	doca_error_t result;

	if (cmd->owner != DPUMAP_ARGP_USERS)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the command is registered already",
				   function);
	result = try_add(function, upper, cmd);
	if (result != DOCA_SUCCESS)
		refuse(cmd);
	return result;
}

doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *param)
{
	if (cmd && param)
		return dpumap_argp_add_param(__func__, cmd, param);
	if (param)
		dpumap_argp_refuse_param(param);
	return dpumap_fail_null(__func__);
}

doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *subcmd)
{
	if (cmd && subcmd)
		return add_cmd(__func__, cmd, subcmd);
	if (subcmd)
		refuse(subcmd);
	return dpumap_fail_null(__func__);
}

doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *cmd)
{
	if (!cmd)
		return dpumap_fail_null(__func__);
	return add_cmd(__func__, NULL, cmd);
}
