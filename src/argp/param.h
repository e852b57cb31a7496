/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parameters and their names. */
#ifndef DPUMAP_ARGP_PARAM_H
#define DPUMAP_ARGP_PARAM_H

#include "argp/argp.h"

/* Whether the name is not empty, does not begin with "-" and has no "=" or white space. */
bool dpumap_argp_is_name(const char *name);
/* Replace *copy by a copy of text; false, and *copy is NULL, without memory. */
bool dpumap_argp_set_text(const char **copy, const char *text);
void dpumap_argp_free_params(struct doca_argp_param *params);
/* Keep a parameter that cannot be registered until doca_argp_destroy(): the user gave it away. */
void dpumap_argp_refuse_param(struct doca_argp_param *param);
/* Register a parameter of a command, or with NULL of the program. */
doca_error_t dpumap_argp_add_param(const char *function, struct doca_argp_cmd *cmd,
				   struct doca_argp_param *param);

/* The flag as users type it, "--long" or "-short". */
struct dpumap_argp_name {
	const char *dashes;
	const char *text;
};
struct dpumap_argp_name dpumap_argp_name(const struct doca_argp_param *param);

#endif
