/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_side.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const enum sync_origin sync_origins[3] = {SYNC_OWN, SYNC_EXPORTED, SYNC_IMPORTED};

struct sync_test test;

/* --- in the peer ------------------------------------------------------------------------------ */

static struct {
	struct doca_dev *dev;
	struct doca_sync_event *event;
} self;

static doca_error_t serve_create(struct sync_answer *answer)
{
	doca_error_t result = doca_sync_event_create(&self.event);
	const uint8_t *bytes;

	DOCA_ERROR_PROPAGATE(result, doca_sync_event_add_publisher_location_remote_pci(self.event));
	DOCA_ERROR_PROPAGATE(result,
			     doca_sync_event_add_subscriber_location_cpu(self.event, self.dev));
	DOCA_ERROR_PROPAGATE(result, doca_sync_event_start(self.event));
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_export_to_remote_pci(self.event, self.dev, &bytes,
							      &answer->blob.len);
	if (result == DOCA_SUCCESS)
		memcpy(answer->blob.bytes, bytes, answer->blob.len);
	return result;
}

static doca_error_t serve_import(const struct sync_request *request)
{
	doca_error_t result = doca_sync_event_create_from_export(self.dev, request->blob.bytes,
								 request->blob.len, &self.event);

	return result == DOCA_SUCCESS ? doca_sync_event_start(self.event) : result;
}

static doca_error_t serve_add(const struct sync_request *request, struct sync_answer *answer)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < request->times && result == DOCA_SUCCESS; i++)
		result = doca_sync_event_update_add(self.event, request->value, &answer->value);
	return result;
}

static doca_error_t serve_destroy(void)
{
	doca_error_t result = doca_sync_event_destroy(self.event);

	self.event = NULL;
	return result;
}

static doca_error_t serve_one(const struct sync_request *request, struct sync_answer *answer)
{
	switch (request->order) {
	case SYNC_CREATE:
		return serve_create(answer);
	case SYNC_IMPORT:
		return serve_import(request);
	case SYNC_GET:
		return doca_sync_event_get(self.event, &answer->value);
	case SYNC_SET:
		return doca_sync_event_update_set(self.event, request->value);
	case SYNC_ADD:
		return serve_add(request, answer);
	case SYNC_WAIT_EQ:
		return doca_sync_event_wait_eq_yield(self.event, request->value, UINT64_MAX);
	case SYNC_WAIT_NEQ:
		return doca_sync_event_wait_neq(self.event, request->value, UINT64_MAX);
	case SYNC_WAIT_GT:
		return doca_sync_event_wait_gt(self.event, request->value, UINT64_MAX);
	case SYNC_STOP:
		return doca_sync_event_stop(self.event);
	default:
		return serve_destroy();
	}
}

int sync_serve(void)
{
	struct sync_request request;
	struct sync_answer answer;

	if (fixture_open_device(&self.dev) != DOCA_SUCCESS)
		return 1;
	while (process_receive(STDIN_FILENO, &request, sizeof(request))) {
		memset(&answer, 0, sizeof(answer));
		answer.result = serve_one(&request, &answer);
		if (!process_send(STDOUT_FILENO, &answer, sizeof(answer)))
			return 1;
	}
	if (self.event && doca_sync_event_destroy(self.event) != DOCA_SUCCESS)
		return 1;
	return doca_dev_close(self.dev) == DOCA_SUCCESS ? 0 : 1;
}

/* --- in the test ------------------------------------------------------------------------------ */

void sync_send(const struct process *peer, const struct sync_request *request)
{
	assert_true(process_send(peer->to, request, sizeof(*request)));
}

void sync_receive(const struct process *peer, struct sync_answer *answer)
{
	assert_true(process_receive(peer->from, answer, sizeof(*answer)));
}

static doca_error_t ask(const struct process *peer, const struct sync_request *request,
			struct sync_answer *answer)
{
	sync_send(peer, request);
	sync_receive(peer, answer);
	return answer->result;
}

doca_error_t sync_ask(const struct process *peer, enum sync_order order, uint64_t value)
{
	struct sync_request request = {.order = order, .value = value, .times = 1};
	struct sync_answer answer;

	return ask(peer, &request, &answer);
}

uint64_t sync_ask_value(const struct process *peer, enum sync_order order, uint64_t value)
{
	struct sync_request request = {.order = order, .value = value, .times = 1};
	struct sync_answer answer;

	assert_ok(ask(peer, &request, &answer));
	return answer.value;
}

struct doca_sync_event *sync_create(struct doca_dev *dev, enum sync_publisher publisher)
{
	struct doca_sync_event *event = NULL;

	assert_ok(doca_sync_event_create(&event));
	if (publisher == SYNC_BY_CPU)
		assert_ok(doca_sync_event_add_publisher_location_cpu(event, dev));
	else if (publisher == SYNC_BY_PCI)
		assert_ok(doca_sync_event_add_publisher_location_remote_pci(event));
	else
		assert_ok(doca_sync_event_add_publisher_location_remote_net(event));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, dev));
	return event;
}

static void import_from_peer(void)
{
	struct sync_request request = {.order = SYNC_CREATE};
	struct sync_answer answer;

	assert_ok(ask(&test.peer, &request, &answer));
	assert_ok(doca_sync_event_create_from_export(test.dev, answer.blob.bytes, answer.blob.len,
						     &test.event));
}

static void export_to_peer(void)
{
	struct sync_request request = {.order = SYNC_IMPORT};
	struct sync_answer answer;
	const uint8_t *bytes;

	assert_ok(doca_sync_event_export_to_remote_pci(test.event, test.dev, &bytes,
						       &request.blob.len));
	assert_in_range(request.blob.len, 1, 1024);
	memcpy(request.blob.bytes, bytes, request.blob.len);
	assert_ok(ask(&test.peer, &request, &answer));
}

int sync_setup(void **state)
{
	enum sync_origin origin = *(const enum sync_origin *)*state;

	if (fixture_count(state))
		return -1;
	memset(&test, 0, sizeof(test));
	test.origin = origin;
	if (origin != SYNC_OWN && !process_start_peer(&test.peer, test_options.peer_as))
		return -1;
	if (fixture_open_device(&test.dev) != DOCA_SUCCESS ||
	    doca_pe_create(&test.pe) != DOCA_SUCCESS)
		return -1;
	if (origin == SYNC_IMPORTED)
		import_from_peer();
	else
		test.event = sync_create(test.dev, SYNC_BY_PCI);
	return 0;
}

int sync_teardown(void **state)
{
	doca_error_t result = DOCA_SUCCESS;

	if (test.event)
		result = doca_sync_event_destroy(test.event);
	DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(test.pe));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(test.dev));
	if (test.peer.pid && !process_finish(&test.peer))
		return -1;
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

void sync_start(void)
{
	assert_ok(doca_sync_event_start(test.event));
	if (test.origin == SYNC_EXPORTED)
		export_to_peer();
}

void sync_stop(void)
{
	assert_ok(doca_sync_event_stop(test.event));
}

void sync_use_ctx(void)
{
	test.ctx = doca_sync_event_as_ctx(test.event);
	assert_non_null(test.ctx);
	assert_ok(doca_pe_connect_ctx(test.pe, test.ctx));
}

void sync_start_ctx(void)
{
	assert_ok(doca_ctx_start(test.ctx));
	if (test.origin == SYNC_EXPORTED)
		export_to_peer();
}

void sync_stop_ctx(void)
{
	assert_ok(doca_ctx_stop(test.ctx));
}

uint64_t sync_value(void)
{
	uint64_t value = 0;

	assert_ok(doca_sync_event_get(test.event, &value));
	return value;
}
