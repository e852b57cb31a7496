/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fixture.h"

static struct rig_counts before;

int fixture_count(void **state)
{
	(void)state;
	return rig_read_counts(&before) ? 0 : -1;
}

int fixture_recount(void **state)
{
	(void)state;
	return rig_counts_return(&before) ? 0 : -1;
}
