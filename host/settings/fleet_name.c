/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/settings/fleet_name.h"

#include <string.h>

/* Has it the form DPU:EXPORT, of names or patterns? A path with a slash before the colon has not. */
static bool fleet_name_is_name(const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;

	return colon && colon != text && colon[1] && !memchr(text, '/', (size_t)(colon - text));
}

static bool is_cp(const struct options *o)
{
	return strcmp(o->command->cli.name, "cp") == 0;
}

/* If one argument of cp is ":NAME", an export of a dpumapd, the other one is a file. */
static int argument_of_cp(const struct options *o)
{
	if (o->num_args == 3)
		return fleet_name_is_name(o->args[1]) ? 1 : -1;
	for (int i = 0; i < 2; i++)
		if (!o->args[i] || o->args[i][0] == ':')
			return -1;
	for (int i = 0; i < 2; i++)
		if (fleet_name_is_name(o->args[i]))
			return i;
	return -1;
}

bool fleet_name_keeps_colon(const struct options *options)
{
	return is_cp(options) && options->num_args == 2;
}

int fleet_name_argument(const struct options *options)
{
	unsigned int takes = options->command->cli.takes;

	if (!(takes & OPTION_FLEET) || takes & OPTION_PATTERN)
		return -1;
	if (is_cp(options))
		return argument_of_cp(options);
	if (fleet_name_is_name(options->args[0]))
		return 0;
	/* info DPU */
	return options->fleet && options->args[0] && takes & OPTION_DPU ? 0 : -1;
}

bool fleet_name_is_required(const struct options *options)
{
	return options->num_labels || strncmp(options->command->cli.name, "fleet ", 6) == 0;
}

bool fleet_name_is_likely(const struct options *options)
{
	bool is_pattern = options->command->cli.takes & OPTION_PATTERN;

	return fleet_name_is_required(options) || fleet_name_argument(options) >= 0 ||
	       (is_pattern && fleet_name_is_name(options->args[0]));
}

static const char *check_pattern(const struct options *o)
{
	if (o->num_labels && o->connect)
		return "--label and --connect exclude each other: only exports in a fleet have "
		       "labels";
	return NULL;
}

const char *fleet_name_check(const struct options *options)
{
	unsigned int takes = options->command->cli.takes;

	if (!(takes & OPTION_FLEET))
		return NULL;
	if (options->given & OPTION_CACHED && !options->fleet && !fleet_name_is_likely(options))
		return "--cached needs --fleet, or an export DPU:EXPORT in a configured fleet";
	if (options->fleet && options->connect)
		return "--fleet and --connect exclude each other: the registry has the addresses";
	if (options->fleet && options->server)
		return "--fleet and --server exclude each other: the certificate must contain the "
		       "name of the DPU";
	if (options->fleet && options->descriptor)
		return "--fleet and --descriptor exclude each other";
	if (takes & OPTION_PATTERN)
		return check_pattern(options);
	if (is_cp(options) && options->num_args == 2 && fleet_name_is_name(options->args[0]) &&
	    fleet_name_is_name(options->args[1]))
		return "cp needs one export and one file (write ./FILE if its name has a colon)";
	if (options->fleet && fleet_name_argument(options) < 0)
		return takes & OPTION_DPU ? "with --fleet, info needs DPU or DPU:EXPORT"
					  : "with --fleet, an export is named DPU:EXPORT";
	return NULL;
}
