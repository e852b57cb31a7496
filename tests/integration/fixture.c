/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fixture.h"

static struct rig_counts before;

bool fixture_refused(doca_error_t result, enum side_source source)
{
	bool refused = source == SIDE_DEVICE_MEMORY && rig_options.shares_direct;

	assert_error(result, refused ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS);
	return refused;
}

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
