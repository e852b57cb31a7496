/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sync events in steps, under faults: each allocation and each command of each step fails once. The step
 * reports it, works when it is called again, and no object is left in the end.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "faults.h"
#include "sync_side.h"

/* The export of the peer, for imports. */
static struct sync_blob peers;

struct life {
	struct doca_sync_event *event;
	struct doca_ctx *ctx;
	struct doca_sync_event_remote_net *remote;
	struct sync_blob blob;
};

static void on_wait(struct doca_sync_event_task_wait_eq *task, union doca_data data,
		    union doca_data ctx_data)
{
	(void)data, (void)ctx_data;
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
}

static doca_error_t create(struct life *life)
{
	return doca_sync_event_create(&life->event);
}

static doca_error_t start(struct life *life)
{
	if (!life->ctx) {
		life->ctx = doca_sync_event_as_ctx(life->event);
		assert_ok(doca_pe_connect_ctx(test.pe, life->ctx));
		assert_ok(doca_sync_event_task_wait_eq_set_conf(life->event, on_wait, on_wait, 2));
	}
	return doca_ctx_start(life->ctx);
}

static doca_error_t start_for_pci(struct life *life)
{
	if (!life->ctx) {
		assert_ok(doca_sync_event_add_publisher_location_remote_pci(life->event));
		assert_ok(doca_sync_event_add_subscriber_location_cpu(life->event, test.dev));
	}
	return start(life);
}

static doca_error_t start_for_net(struct life *life)
{
	if (!life->ctx) {
		assert_ok(doca_sync_event_add_publisher_location_remote_net(life->event));
		assert_ok(doca_sync_event_add_subscriber_location_cpu(life->event, test.dev));
	}
	return start(life);
}

static doca_error_t export_to_pci(struct life *life)
{
	const uint8_t *bytes;

	return doca_sync_event_export_to_remote_pci(life->event, test.dev, &bytes, &life->blob.len);
}

static doca_error_t export_to_net(struct life *life)
{
	const uint8_t *bytes;
	doca_error_t result =
		doca_sync_event_export_to_remote_net(life->event, &bytes, &life->blob.len);

	if (result == DOCA_SUCCESS)
		memcpy(life->blob.bytes, bytes, life->blob.len);
	return result;
}

static doca_error_t import_from_pci(struct life *life)
{
	return doca_sync_event_create_from_export(test.dev, peers.bytes, peers.len, &life->event);
}

static doca_error_t import_from_net(struct life *life)
{
	return doca_sync_event_remote_net_create_from_export(test.dev, life->blob.bytes,
							     life->blob.len, &life->remote);
}

typedef doca_error_t step_fn(struct life *life);

static step_fn *const pci_exporter[] = {create, start_for_pci, export_to_pci, NULL};
static step_fn *const net_exporter[] = {create, start_for_net, export_to_net, import_from_net,
					NULL};
static step_fn *const pci_importer[] = {import_from_pci, start, NULL};

static bool is_documented(doca_error_t result)
{
	return result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_DRIVER ||
	       result == DOCA_ERROR_INITIALIZATION || result == DOCA_ERROR_NOT_PERMITTED;
}

/* The event works. */
static void use(const struct life *life)
{
	uint64_t value = 0, before = 0;

	assert_ok(doca_sync_event_get(life->event, &before));
	assert_ok(doca_sync_event_update_add(life->event, 2, &value));
	assert_int_equal(value, before);
	assert_ok(doca_sync_event_wait_gt(life->event, before, UINT64_MAX));
}

static void end(struct life *life)
{
	if (life->remote)
		assert_ok(doca_sync_event_remote_net_destroy(life->remote));
	assert_ok(doca_ctx_stop(life->ctx));
	assert_ok(doca_sync_event_destroy(life->event));
}

static bool fail_once(step_fn *const *steps, size_t failing, enum fault_kind fault, unsigned int n,
		      int err)
{
	struct life life = {0};
	bool fired = false;

	for (size_t i = 0; steps[i]; i++) {
		doca_error_t result;

		if (i == failing)
			fault_arm(fault, n, err);
		result = steps[i](&life);
		if (i == failing) {
			fired = fault_fired();
			fault_disarm();
			if (!fired)
				assert_ok(result);
		}
		if (result != DOCA_SUCCESS) {
			assert_int_equal(i, failing);
			assert_true(is_documented(result));
			assert_ok(steps[i](&life));
		}
	}
	use(&life);
	end(&life);
	return fired;
}

static void sweep(step_fn *const *steps, enum fault_kind fault, int err)
{
	unsigned int live, swept = 0;

	(void)fail_once(steps, 0, FAULT_NONE, 1, 0);
	live = fault_count_live();
	for (size_t i = 0; steps[i]; i++) {
		unsigned int n = 1;

		while (fail_once(steps, i, fault, n, err))
			assert_true(++n < 100);
		swept += n - 1;
	}
	assert_true(swept > 1);
	assert_int_equal(fault_count_live(), live);
}

static int setup(void **state)
{
	struct sync_request request = {.order = SYNC_CREATE};
	struct sync_answer answer;

	*state = (void *)&sync_origins[SYNC_EXPORTED];
	if (sync_setup(state))
		return -1;
	assert_ok(doca_sync_event_destroy(test.event));
	test.event = NULL;
	sync_send(&test.peer, &request);
	sync_receive(&test.peer, &answer);
	peers = answer.blob;
	return answer.result == DOCA_SUCCESS ? 0 : -1;
}

/* rule: SEE-fault */
static void each_allocation_fails_once(void **state)
{
	sweep(pci_exporter, FAULT_ALLOC, ENOMEM);
	sweep(net_exporter, FAULT_ALLOC, ENOMEM);
	sweep(pci_importer, FAULT_ALLOC, ENOMEM);
}

/* rule: SEE-fault */
static void each_command_fails_once(void **state)
{
	static const int errors[] = {EIO, ENOMEM, EREMOTEIO};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		sweep(pci_exporter, FAULT_COMMAND, errors[i]);
		sweep(net_exporter, FAULT_COMMAND, errors[i]);
		sweep(pci_importer, FAULT_COMMAND, errors[i]);
	}
}

/* A device that fails to destroy: stop reports it, or tries again from progress. */
static bool stop_fails_once(step_fn *const *steps, unsigned int n)
{
	struct life life = {0};
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	enum doca_ctx_states now;
	doca_error_t result;
	bool fired;

	for (size_t i = 0; steps[i]; i++)
		assert_ok(steps[i](&life));
	fault_arm(FAULT_DESTROY, n, EIO);
	result = doca_ctx_stop(life.ctx);
	fired = fault_fired();
	fault_disarm();
	if (result != DOCA_SUCCESS) {
		assert_true(fired);
		assert_error(doca_sync_event_destroy(life.event), DOCA_ERROR_IN_USE);
		do {
			(void)doca_ctx_stop(life.ctx);
			assert_ok(doca_ctx_get_state(life.ctx, &now));
			assert_true(monotonic_ms() < deadline);
		} while (now != DOCA_CTX_STATE_IDLE);
	}
	end(&life);
	return fired;
}

/* rule: SEE-fault */
static void each_destruction_fails_once(void **state)
{
	unsigned int n;

	for (n = 1; stop_fails_once(pci_exporter, n); n++)
		assert_true(n < 100);
	assert_true(n > 3);
	for (n = 1; stop_fails_once(pci_importer, n); n++)
		assert_true(n < 100);
	assert_true(n > 2);
}

#define fault_test(function) cmocka_unit_test_setup_teardown(function, setup, sync_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		fault_test(each_allocation_fails_once),
		fault_test(each_command_fails_once),
		fault_test(each_destruction_fails_once),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return sync_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
