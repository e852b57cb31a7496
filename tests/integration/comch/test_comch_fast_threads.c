/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * On each side a consumer and a producer in threads of their own, which create, start, stop and destroy
 * them while the main thread progresses the connection. The lane sanitize runs this with TSan.
 */
#include "flow.h"

/* rule: FP-12, X-13 */
static void threads_may_have_engines_of_their_own(void **state)
{
	flow_is(HERE, FLOW_THREADS, 4000, 512, 0, 0, 0);
}

/* rule: FP-12, FP-14b */
static void threads_that_come_and_go_disturb_no_others(void **state)
{
	for (uint32_t i = 0; i < 5; i++)
		flow_is(HERE, FLOW_THREADS, 20, 64, i, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		flow_test(threads_may_have_engines_of_their_own),
		flow_test(threads_that_come_and_go_disturb_no_others),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return flow_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
