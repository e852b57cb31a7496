/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* All calls that a queue pair makes, for a test that has a function on_NAME() for each. */
#ifndef DPUMAP_TESTS_WIRE_CALLS_H
#define DPUMAP_TESTS_WIRE_CALLS_H

#define WIRE_CALLS                                                                              \
	{                                                                                       \
		.gather = on_gather, .scatter = on_scatter, .finished = on_finished,            \
		.check_access = on_check_access, .read = on_read, .write = on_write,            \
		.atomic = on_atomic, .take = on_take, .fill = on_fill, .put_back = on_put_back, \
		.invalidate = on_invalidate, .received = on_received, .receives = on_receives,  \
		.event = on_event, .count = on_count,                                           \
	}

#endif
