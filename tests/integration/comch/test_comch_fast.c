/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <string.h>

#include "flow.h"

#define SMALL 64u

/* A consumer there, and a producer here, each with so many tasks; returns the consumer's id. */
static uint32_t open_pair(uint32_t tasks, uint32_t size)
{
	uint32_t id;

	flow_ok(THERE, FLOW_CONSUMER, 0, tasks, size, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, tasks, size, 0);
	return id;
}

/* rule: FP-7a */
static void test_message_sent_arrives(void **state)
{
	uint32_t id = open_pair(4, SMALL);

	(void)state;
	flow_ok(THERE, FLOW_POST, 0, 4, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 4, SMALL, id);
	flow_ok(HERE, FLOW_SENT, 0, 4, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 0, 4, 0, 0);
	flow_is(THERE, FLOW_BAD, 0, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		flow_test(test_message_sent_arrives),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return flow_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
