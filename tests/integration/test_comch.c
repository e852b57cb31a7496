/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Servers, clients and their messages (doca_comch.h), between the two functions of a card. */
#include <string.h>

#include "comch.h"

#define LONGEST 4080u

/* --- messages --------------------------------------------------------------------------------- */

static void client_connects_and_disconnects(void **state)
{
	(void)state;
	assert_command(COMCH_START, 0, 0, 0);
	comch_wait(comch_server.num_connected == 1);
	assert_command(COMCH_STOP, 0, 0, 0);
	comch_wait(comch_server.num_disconnected == 1);
}

static void messages_arrive_in_order_in_both_directions(void **state)
{
	uint32_t wrong = 1;

	(void)state;
	assert_command(COMCH_START, 0, 0, 0);
	assert_command(COMCH_SEND, 0, 3000, 64);
	assert_command(COMCH_SEND, 0, 300, LONGEST);
	comch_wait(comch_server.num_received == 3300);
	assert_int_equal(comch_server.num_wrong, 0);
	comch_ask(COMCH_RECEIVE, 0, 2000, 0);
	assert_ok(comch_send(&comch_server, comch_server.last, 2000, LONGEST));
	assert_ok(comch_answer(&wrong));
	assert_int_equal(wrong, 0);
	assert_int_equal(comch_server.num_failed, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		comch_test(client_connects_and_disconnects),
		comch_test(messages_arrive_in_order_in_both_directions),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return comch_serve();
	return cmocka_run_group_tests(tests, comch_open_group, comch_close_group);
}
