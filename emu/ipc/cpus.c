/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/ipc/cpus.h"

#include <stdlib.h>
#include <string.h>

static bool parse_number(const char **p, unsigned long *n)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	*n = strtoul(*p, &end, 10);
	*p = end;
	return *n < EMU_MAX_CPUS;
}

static bool parse_range(const char **p, struct emu_cpus *c)
{
	unsigned long first, last;

	if (!parse_number(p, &first))
		return false;
	last = first;
	if (**p == '-') {
		++*p;
		if (!parse_number(p, &last) || last < first)
			return false;
	}
	for (; first <= last; first++)
		c->word[first / EMU_CPUS_PER_WORD] |= 1ul << first % EMU_CPUS_PER_WORD;
	return true;
}

bool emu_cpus_parse(const char *list, struct emu_cpus *c)
{
	memset(c, 0, sizeof(*c));
	while (parse_range(&list, c)) {
		if (!*list)
			return true;
		if (*list++ != ',')
			return false;
	}
	return false;
}
