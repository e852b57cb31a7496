/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What programs do in callbacks of contexts and connections, also in an order that makes no sense. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "by_address.h"

static void connect_by_address(void)
{
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
}

static bool is_request(const char *word)
{
	return !strcmp(word, "request:0");
}

/* --- the callback for a request --------------------------------------------------------------- */

static void stop_on_request(struct side *side, const char *word)
{
	if (!is_request(word))
		return;
	assert_ok(doca_ctx_stop(side->ctx));
	assert_int_equal(side_state(side), DOCA_CTX_STATE_IDLE);
}

/* rule: X-7, RE-reject */
static void the_callback_for_a_request_may_stop_the_context(void **state)
{
	there.on_word = stop_on_request;
	connect_by_address();
	assert_true(side_wait_word(&here, "failure:0", 1));
	there.on_word = by_address_serve;
	here.n_connections = there.n_connections = 0;
	assert_ok(side_start(&there));
	assert_ok(doca_rdma_start_listen_to_port(there.rdma, BY_ADDRESS_PORT));
	connect_by_address();
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_true(side_wait_word(&there, "established:0", 1));
	by_address_exchange(0);
}

static void answer_after_listening_ended(struct side *side, const char *word)
{
	if (!is_request(word))
		return;
	assert_ok(doca_rdma_stop_listen_to_port(side->rdma, BY_ADDRESS_PORT));
	assert_error(doca_rdma_connection_accept(side->connections[0], NULL, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connection_reject(side->connections[0]), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_start_listen_to_port(side->rdma, BY_ADDRESS_PORT));
}

/* rule: RE-listen-3, RE-accept, CM-R11 */
static void a_request_ends_with_its_listener(void **state)
{
	there.on_word = answer_after_listening_ended;
	connect_by_address();
	assert_true(side_wait_word(&here, "failure:0", 1));
	there.on_word = by_address_serve;
	by_address_connect();
	by_address_exchange(1);
}

static void answer_twice(struct side *side, const char *word)
{
	if (!is_request(word))
		return;
	assert_ok(doca_rdma_connection_reject(side->connections[0]));
	assert_error(doca_rdma_connection_reject(side->connections[0]), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connection_accept(side->connections[0], NULL, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_connection_disconnect(side->connections[0]));
}

/* rule: RE-accept, RE-reject */
static void a_request_is_answered_once(void **state)
{
	there.on_word = answer_twice;
	connect_by_address();
	assert_true(side_wait_word(&here, "failure:0", 1));
	assert_string_equal(there.log, "RUNNING request:0");
}

static void disconnect_request(struct side *side, const char *word)
{
	if (!is_request(word))
		return;
	assert_ok(doca_rdma_connection_disconnect(side->connections[0]));
	assert_error(doca_rdma_connection_accept(side->connections[0], NULL, 0),
		     DOCA_ERROR_INVALID_VALUE);
}

/* rule: RE-reject, CM-R5b, CM-R11 */
static void a_request_that_is_disconnected_is_rejected(void **state)
{
	there.on_word = disconnect_request;
	connect_by_address();
	assert_true(side_wait_word(&here, "failure:0", 1));
	assert_string_equal(there.log, "RUNNING request:0");
}

static void accept_and_disconnect(struct side *side, const char *word)
{
	if (!is_request(word))
		return;
	assert_ok(doca_rdma_connection_accept(side->connections[0], NULL, 0));
	assert_ok(doca_rdma_connection_disconnect(side->connections[0]));
}

/* rule: CM-R5c */
static void a_connection_that_is_accepted_and_disconnected_ends_once(void **state)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	there.on_word = accept_and_disconnect;
	connect_by_address();
	while (!side_count(&here, "failure:0") && !side_count(&here, "disconnection:0")) {
		side_progress();
		assert_true(monotonic_ms() < limit);
	}
	for (unsigned int i = 0; i < 1000; i++)
		side_progress();
	assert_int_equal(side_count(&here, "failure:0") + side_count(&here, "disconnection:0"), 1);
	assert_true(side_count(&there, "failure:0") + side_count(&there, "disconnection:0") <= 1);
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	assert_ok(doca_rdma_connection_disconnect(there.connections[0]));
}

/* --- callbacks for the end of a connection ---------------------------------------------------- */

#define TIMES 5u

static void connect_anew(struct side *side, const char *word)
{
	unsigned int i;

	if (sscanf(word, "disconnection:%u", &i) != 1 && sscanf(word, "failure:%u", &i) != 1)
		return;
	if (i < TIMES)
		connect_by_address();
	assert_ok(doca_rdma_connection_disconnect(side->connections[i]));
}

static void disconnect_established(struct side *side, const char *word)
{
	unsigned int i;

	by_address_serve(side, word);
	if (sscanf(word, "established:%u", &i) == 1 && i < TIMES)
		assert_ok(doca_rdma_connection_disconnect(side->connections[i]));
}

/* rule: CM-R5b, X-7 */
static void the_callback_for_a_disconnection_may_connect_anew(void **state)
{
	char last[32];

	here.on_word = connect_anew;
	there.on_word = disconnect_established;
	connect_by_address();
	snprintf(last, sizeof(last), "established:%u", TIMES);
	assert_true(side_wait_word(&here, last, 1));
	assert_true(side_wait_word(&there, last, 1));
	by_address_exchange(TIMES);
}

/* rule: CM-R7, X-7 */
static void the_callback_for_a_failure_may_connect_anew(void **state)
{
	char last[32];

	by_address_answer = BY_ADDRESS_REJECT;
	here.on_word = connect_anew;
	connect_by_address();
	snprintf(last, sizeof(last), "failure:%u", TIMES);
	assert_true(side_wait_word(&here, last, 1));
	here.on_word = NULL;
	assert_int_equal(side_count(&there, "established:0"), 0);
}

static void destroy_when_idle(struct side *side, const char *word)
{
	doca_error_t result;

	if (!strncmp(word, "disconnection:", 14) || !strncmp(word, "established:", 12)) {
		result = doca_ctx_stop(side->ctx);
		assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	} else if (!strcmp(word, "IDLE")) {
		assert_ok(doca_rdma_destroy(side->rdma));
		side->rdma = NULL;
		side->ctx = NULL;
	}
}

static void progress_until_destroyed(const struct side *side)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side->rdma) {
		side_progress();
		assert_true(monotonic_ms() < limit);
	}
}

/* rule: X-7, RD-10a */
static void a_context_may_be_destroyed_in_the_callback_of_its_connection(void **state)
{
	by_address_connect();
	there.on_word = destroy_when_idle;
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	progress_until_destroyed(&there);
}

/* The message arrives before the event that its connection is established. */
/* rule: X-7, CM-R3 */
static void a_context_may_be_destroyed_before_its_first_message(void **state)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 64));
	connect_by_address();
	assert_true(side_wait_word(&there, "request:0", 1));
	while (!side_count(&here, "established:0")) {
		doca_pe_progress(here.pe);
		assert_true(monotonic_ms() < limit);
	}
	side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, 64));
	while (!here.n_done) {
		doca_pe_progress(here.pe);
		assert_true(monotonic_ms() < limit);
	}
	there.on_word = destroy_when_idle;
	progress_until_destroyed(&there);
	assert_int_equal(there.n_done, 1);
}

/* --- callbacks of tasks ----------------------------------------------------------------------- */

static void destroy_too_early(struct side *side, const struct side_done *done,
			      struct doca_task *task)
{
	(void)done;
	assert_error(doca_rdma_destroy(side->rdma), DOCA_ERROR_BAD_STATE);
	assert_int_not_equal(doca_pe_destroy(side->pe), DOCA_SUCCESS);
	assert_ok(doca_rdma_connection_disconnect(side->connections[0]));
	doca_task_free(task);
	doca_task_free(task);
	side->hook = NULL;
}

/* rule: RE-destroy, CM-R6 */
static void nothing_is_destroyed_while_the_context_runs(void **state)
{
	by_address_connect();
	here.hook = destroy_too_early;
	for (unsigned int i = 0; i < 4; i++)
		side_post(&here, .kind = SIDE_SEND, .data = i);
	side_post(&there, .kind = SIDE_RECEIVE);
	assert_true(side_wait(&here, 4));
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(here.done[i].data, i);
	assert_true(side_wait_word(&there, "disconnection:0", 1));
	by_address_connect();
	by_address_exchange(1);
}

/* --- other processes -------------------------------------------------------------------------- */

/* A child has copies of all objects. Its end must not end those of the parent. */
/* rule: RD-10a */
static void a_forked_child_ends_no_connection(void **state)
{
	int status;
	pid_t child;

	by_address_connect();
	by_address_exchange(0);
	child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (unsigned int i = 0; i < 4; i++)
		by_address_exchange(0);
	assert_int_equal(side_count(&there, "disconnection:0"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		by_address_test(the_callback_for_a_request_may_stop_the_context),
		by_address_test(a_request_ends_with_its_listener),
		by_address_test(a_request_is_answered_once),
		by_address_test(a_request_that_is_disconnected_is_rejected),
		by_address_test(a_connection_that_is_accepted_and_disconnected_ends_once),
		by_address_test(the_callback_for_a_disconnection_may_connect_anew),
		by_address_test(the_callback_for_a_failure_may_connect_anew),
		by_address_test(a_context_may_be_destroyed_in_the_callback_of_its_connection),
		by_address_test(a_context_may_be_destroyed_before_its_first_message),
		by_address_test(nothing_is_destroyed_while_the_context_runs),
		by_address_test(a_forked_child_ends_no_connection),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, side_use_manager, NULL);
}
