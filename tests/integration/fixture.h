/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CMocka for all integration tests; a test of main() with a peer is main() of the peer as well.
 */
#ifndef DPUMAP_TESTS_FIXTURE_H
#define DPUMAP_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "peer.h"

#define assert_ok(call) assert_error(call, DOCA_SUCCESS)
#define assert_error(call, wanted) \
	assert_string_equal(doca_error_get_name(call), doca_error_get_name(wanted))

#define LOCAL_RW ((uint32_t)DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)
#define PCI_RW	 ((uint32_t)DOCA_ACCESS_FLAG_PCI_READ_WRITE)
#define PCI_RO	 ((uint32_t)DOCA_ACCESS_FLAG_PCI_READ_ONLY)

/* Whatever a test leaves alive on the device fails the test. */
#define counted_test(function) \
	cmocka_unit_test_setup_teardown(function, fixture_count, fixture_recount)

/*
 * After an export: false if it has succeeded, as it must; true if it has been refused, as it must
 * be on a device that does not share device memory.
 */
bool fixture_refused(doca_error_t result, enum side_source source);

int fixture_count(void **state);
int fixture_recount(void **state);

#endif
