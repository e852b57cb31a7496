/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/tickets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

#define LIFE (TICKET_SECONDS * NSEC_PER_SEC)
#define NOW  (7 * NSEC_PER_SEC)

struct copy {
	uint8_t bytes[DPUMAP_TICKET_LEN];
};

static struct copy issue(struct tickets *tickets, uint64_t export, uint64_t now)
{
	struct dpumap_error error = {0};
	const uint8_t *bytes;
	struct copy copy;

	assert_int_equal(tickets_issue(tickets, export, now, &bytes, &error), DOCA_SUCCESS);
	memcpy(copy.bytes, bytes, sizeof(copy.bytes));
	return copy;
}

static void ticket_is_valid_once(void **state)
{
	struct tickets tickets = {0};
	struct copy first = issue(&tickets, 5, NOW), second = issue(&tickets, 6, NOW);
	uint64_t export = 0;

	assert_memory_not_equal(first.bytes, second.bytes, sizeof(first.bytes));
	assert_true(tickets_redeem(&tickets, second.bytes, NOW, &export));
	assert_int_equal(export, 6);
	assert_false(tickets_redeem(&tickets, second.bytes, NOW, &export));
	assert_true(tickets_redeem(&tickets, first.bytes, NOW, &export));
	assert_int_equal(export, 5);
}

static void each_bit_of_a_ticket_counts(void **state)
{
	struct tickets tickets = {0};
	struct copy copy = issue(&tickets, 1, NOW);
	uint64_t export = 0;

	for (size_t bit = 0; bit < 8 * sizeof(copy.bytes); bit++) {
		copy.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(tickets_redeem(&tickets, copy.bytes, NOW, &export));
		copy.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(tickets_redeem(&tickets, copy.bytes, NOW, &export));
}

/* Not even where no ticket is. */
static void zeros_are_not_a_ticket(void **state)
{
	static const uint8_t zeros[DPUMAP_TICKET_LEN];
	struct tickets tickets = {0};
	struct copy copy = issue(&tickets, 1, NOW);
	uint64_t export = 0;

	assert_false(tickets_redeem(&tickets, zeros, 0, &export));
	assert_false(tickets_redeem(&tickets, zeros, NOW, &export));
	assert_true(tickets_redeem(&tickets, copy.bytes, NOW, &export));
	assert_false(tickets_redeem(&tickets, zeros, NOW, &export));
}

static void ticket_expires(void **state)
{
	struct tickets tickets = {0};
	struct copy early = issue(&tickets, 1, NOW), late = issue(&tickets, 2, NOW + 1);
	uint64_t export = 0;

	assert_false(tickets_redeem(&tickets, early.bytes, NOW + LIFE, &export));
	assert_int_equal(export, 0);
	assert_true(tickets_redeem(&tickets, late.bytes, NOW + LIFE, &export));
	assert_int_equal(export, 2);
}

static void only_unused_tickets_count(void **state)
{
	struct tickets tickets = {0};
	struct dpumap_error error = {0};
	const uint8_t *bytes;
	struct copy last;
	uint64_t export;

	for (int i = 0; i < TICKETS_MAX; i++)
		last = issue(&tickets, 1, NOW + (uint64_t)i);
	assert_int_equal(tickets_issue(&tickets, 1, NOW + LIFE - 1, &bytes, &error),
			 DOCA_ERROR_FULL);
	assert_non_null(strstr(error.text, "unused tickets"));
	assert_true(tickets_redeem(&tickets, last.bytes, NOW + 4, &export));
	issue(&tickets, 2, NOW + 4);
	/* The first one has expired. */
	issue(&tickets, 3, NOW + LIFE);
	assert_int_equal(tickets_issue(&tickets, 1, NOW + LIFE, &bytes, &error), DOCA_ERROR_FULL);
}

static void tickets_end_with_their_export(void **state)
{
	struct tickets tickets = {0};
	struct copy one = issue(&tickets, 1, NOW), other = issue(&tickets, 2, NOW);
	uint64_t export;

	tickets_forget(&tickets, 1);
	assert_false(tickets_redeem(&tickets, one.bytes, NOW, &export));
	assert_true(tickets_redeem(&tickets, other.bytes, NOW, &export));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticket_is_valid_once),
		cmocka_unit_test(each_bit_of_a_ticket_counts),
		cmocka_unit_test(zeros_are_not_a_ticket),
		cmocka_unit_test(ticket_expires),
		cmocka_unit_test(only_unused_tickets_count),
		cmocka_unit_test(tickets_end_with_their_export),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
