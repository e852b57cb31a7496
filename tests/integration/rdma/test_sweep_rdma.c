/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Contexts with all kinds of tasks, and connections by address, while each allocation, each command and
 * each call of the connection manager fails once: every call reports it or a callback does, the contexts
 * stop, the same works afterwards, and nothing is left. DPUMAP_SWEEP_STRIDE=N runs every Nth point only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "base/array.h"
#include "faults.h"
#include "side.h"

#define PORT  13579
#define IS_V4 "\0\0\0\0\0\0\0\0\0\0\xff\xff"

static struct doca_rdma_addr *addr;
static unsigned int swept;

static void accept_request(struct side *side, const char *word)
{
	unsigned int i;

	/* What cannot be accepted for lack of memory is still a request. */
	if (sscanf(word, "request:%u", &i) == 1 &&
	    doca_rdma_connection_accept(side->connections[i], NULL, 0) != DOCA_SUCCESS)
		(void)doca_rdma_connection_reject(side->connections[i]);
}

static void create_address(void)
{
	struct doca_rdma_gid gids[256];
	char text[64];
	uint32_t n = 0;

	assert_ok(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(there.dev), &n));
	n = n < 256 ? n : 256;
	assert_ok(doca_rdma_cap_get_gid(doca_dev_as_devinfo(there.dev), 0, n, gids));
	for (uint32_t i = 0; i < n; i++)
		if (!memcmp(gids[i].raw, IS_V4, 12)) {
			assert_non_null(inet_ntop(AF_INET, gids[i].raw + 12, text, sizeof(text)));
			assert_ok(
				doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &addr));
			return;
		}
	fail_msg("the device has no IPv4 address");
}

static int sweep_setup(void **state)
{
	addr = NULL;
	if (side_setup(state) || side_set_callbacks(&here) != DOCA_SUCCESS ||
	    side_set_callbacks(&there) != DOCA_SUCCESS)
		return -1;
	there.on_word = accept_request;
	create_address();
	return 0;
}

static int sweep_teardown(void **state)
{
	return doca_rdma_addr_destroy(addr) == DOCA_SUCCESS ? side_teardown(state) : -1;
}
#define sweep_test(function) cmocka_unit_test_setup_teardown(function, sweep_setup, sweep_teardown)

static void start_both(void)
{
	side_forget(&here);
	side_forget(&there);
	if (side_state(&here) == DOCA_CTX_STATE_IDLE)
		assert_ok(side_start(&here));
	if (side_state(&there) == DOCA_CTX_STATE_IDLE)
		assert_ok(side_start(&there));
}

static void stop_both(void)
{
	assert_ok(side_stop(&here));
	assert_ok(side_stop(&there));
}

static void exchange(void)
{
	unsigned int n = there.n_done + 1;

	side_post(&there, .kind = SIDE_RECEIVE);
	side_ok(&here, .kind = SIDE_SEND, .connection = here.connections[here.n_connections - 1]);
	assert_true(side_wait(&there, n));
	assert_ok(there.done[n - 1].status);
}

/* Start, and connect by details. */
static doca_error_t live_by_details(void)
{
	doca_error_t result = side_start(&here);

	DOCA_ERROR_PROPAGATE(result, side_start(&there));
	return result == DOCA_SUCCESS ? side_connect() : result;
}

/* Listen, connect, and wait for the callback of either kind. */
static doca_error_t live_by_address(void)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	doca_error_t result = doca_rdma_start_listen_to_port(there.rdma, PORT);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0});
	if (result != DOCA_SUCCESS)
		return result;
	while (!side_count(&here, "established:0") && !side_count(&here, "failure:0")) {
		side_progress();
		assert_true(monotonic_ms() < limit);
	}
	if (side_count(&here, "failure:0"))
		return DOCA_ERROR_CONNECTION_ABORTED;
	return side_wait_word(&there, "established:0", 1) ? DOCA_SUCCESS : DOCA_ERROR_TIME_OUT;
}

static bool is_documented(doca_error_t result)
{
	return result == DOCA_ERROR_CONNECTION_ABORTED || result == DOCA_ERROR_NO_MEMORY ||
	       result == DOCA_ERROR_INITIALIZATION || result == DOCA_ERROR_NOT_SUPPORTED;
}

static bool fail_once(bool by_address, enum fault_kind fault, unsigned int n, int err)
{
	doca_error_t result;
	bool fired;

	if (by_address)
		start_both();
	fault_arm(fault, n, err);
	result = by_address ? live_by_address() : live_by_details();
	fired = fault_fired();
	fault_disarm();
	if (!fired)
		assert_ok(result);
	if (result == DOCA_SUCCESS) {
		exchange();
	} else {
		assert_true(is_documented(result));
		swept++;
	}
	stop_both();
	return fired;
}

static unsigned int stride(void)
{
	return (unsigned int)test_setting("DPUMAP_SWEEP_STRIDE", 1);
}

static void sweep(bool by_address, enum fault_kind fault, int err)
{
	unsigned int live;

	/* What is created once and kept. */
	fault_disarm();
	assert_false(fail_once(by_address, FAULT_NONE, 1, 0));
	here.n_connections = there.n_connections = 0;
	here.n_done = there.n_done = 0;
	live = fault_count_live();
	swept = 0;
	for (unsigned int n = 1; fail_once(by_address, fault, n, err); n += stride()) {
		here.n_connections = there.n_connections = 0;
		here.n_done = there.n_done = 0;
		assert_true(n < 300);
	}
	print_message("%u points swept\n", swept);
	assert_true(swept > 3 / stride());
	assert_int_equal(fault_count_live(), live);
	start_both();
	assert_ok(by_address ? live_by_address() : side_connect());
	exchange();
	stop_both();
}

static void each_allocation_of_contexts_fails_once(void **state)
{
	sweep(false, FAULT_ALLOC, ENOMEM);
}

static void each_command_of_contexts_fails_once(void **state)
{
	sweep(false, FAULT_COMMAND, EIO);
	sweep(false, FAULT_COMMAND, ENOMEM);
}

static void each_allocation_of_connections_by_address_fails_once(void **state)
{
	sweep(true, FAULT_ALLOC, ENOMEM);
}

static void each_command_of_connections_by_address_fails_once(void **state)
{
	sweep(true, FAULT_COMMAND, EIO);
}

static void each_call_of_the_connection_manager_fails_once(void **state)
{
	sweep(true, FAULT_MANAGER, EIO);
	sweep(true, FAULT_MANAGER, ENOMEM);
}

/* Disconnect on one side, and wait until the other one has its callback. */
static void disconnect(void)
{
	(void)doca_rdma_connection_disconnect(here.connections[0]);
	assert_true(side_wait_word(&there, "disconnection:0", 1));
}

/* Stop may fail, and works when it is called again. */
static void stop_until_idle(struct side *side)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side_state(side) != DOCA_CTX_STATE_IDLE) {
		(void)doca_ctx_stop(side->ctx);
		side_progress();
		assert_true(monotonic_ms() < limit);
	}
}

static bool end_fails_once(enum fault_kind fault, unsigned int n, bool disconnects)
{
	bool fired;

	start_both();
	assert_ok(live_by_address());
	fault_arm(fault, n, EIO);
	if (disconnects)
		disconnect();
	stop_until_idle(&here);
	stop_until_idle(&there);
	fired = fault_fired();
	fault_disarm();
	return fired;
}

/*
 * An id of the test's own. With the last one of a device, librdmacm destroys its protection domain, which
 * it forgets if that fails.
 */
static struct rdma_cm_id *keep_domain_of_manager(struct rdma_event_channel *channel)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	enum doca_rdma_addr_type type;
	struct rdma_cm_id *id;
	const char *text;
	uint16_t port;

	assert_ok(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_int_equal(inet_pton(AF_INET, text, &at.sin_addr), 1);
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(id, (struct sockaddr *)&at), 0);
	return id;
}

/* Neither keeps a context running for ever, nor leaves anything. */
static void each_step_of_the_end_fails_once(void **state)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = keep_domain_of_manager(channel);
	static const enum fault_kind faults[] = {FAULT_DESTROY, FAULT_COMMAND, FAULT_MANAGER};
	unsigned int live;

	assert_false(end_fails_once(FAULT_NONE, 1, true));
	live = fault_count_live();
	for (size_t i = 0; i < 2 * ARRAY_SIZE(faults); i++) {
		unsigned int n = 1;

		while (end_fails_once(faults[i / 2], n, i % 2)) {
			n += stride();
			assert_true(n < 100);
		}
		print_message("%u points swept\n", (n - 1) / stride());
		assert_true(n > 1);
	}
	assert_int_equal(fault_count_live(), live);
	assert_int_equal(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		sweep_test(each_allocation_of_contexts_fails_once),
		sweep_test(each_command_of_contexts_fails_once),
		sweep_test(each_allocation_of_connections_by_address_fails_once),
		sweep_test(each_command_of_connections_by_address_fails_once),
		sweep_test(each_call_of_the_connection_manager_fails_once),
		sweep_test(each_step_of_the_end_fails_once),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, side_use_manager, NULL);
}
