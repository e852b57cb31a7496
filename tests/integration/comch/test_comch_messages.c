/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Messages and progress, the same for both sides: run with a server and with a client in this process. */
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "base/array.h"

#define FLOOD 1500u

static void open_and_connect(uint32_t agent_actions)
{
	agent_open_both();
	assert_ok(agent_set_actions(&agent, 0, agent_actions));
	agent_connect();
}

static struct {
	unsigned int next;
	unsigned int wrong;
} numbered;

static void check_number(struct node *node, const char *word)
{
	uint8_t wanted[NODE_MESSAGE];
	uint32_t len;

	if (strncmp(word, "msg", 3) != 0)
		return;
	len = node_numbered(wanted, numbered.next++);
	if (len != node->message_len || memcmp(wanted, node->message, len) != 0)
		numbered.wrong++;
	node->log_len = 0; /* thousands of words do not fit */
	node->log[0] = 0;
}

static void wait_for_number(unsigned int n)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (numbered.next < n && monotonic_ms() < deadline)
		if (!node_progress_all())
			usleep(200);
	assert_int_equal(numbered.next, n);
	assert_int_equal(numbered.wrong, 0);
}

/* rule: CM-1a, CM-4, CM-5a, CM-7a */
static void messages_arrive_in_order_once_and_whole(void **state)
{
	memset(&numbered, 0, sizeof(numbered));
	open_and_connect(0);
	local.hook = check_number;
	local.actions = NODE_SCRIBBLE;
	assert_ok(agent_flood(&agent, 0, FLOOD));
	wait_for_number(FLOOD);
}

/* rule: CM-1b, CM-5a */
static void a_small_queue_loses_nothing(void **state)
{
	memset(&numbered, 0, sizeof(numbered));
	agent_open_both();
	assert_ok(node_set_queue(&local, 1));
	agent_connect();
	local.hook = check_number;
	assert_ok(agent_flood(&agent, 0, 200));
	wait_for_number(200);
}

/* rule: CM-1b, CM-2 */
static void a_receiver_that_does_not_progress_loses_nothing(void **state)
{
	char wanted[4096], text[16] = {0};
	size_t len;

	agent_open_both();
	assert_ok(agent_set_queue(&agent, 0, 2));
	agent_connect();
	assert_ok(agent_set_frozen(&agent, 0, true));
	len = (size_t)snprintf(wanted, sizeof(wanted), "%s", agent_log(&agent, 0));
	for (int i = 0; i < NODE_TASKS; i++) {
		snprintf(text, sizeof(text), "m%03d", i);
		assert_ok(node_send(&local, 0, text, 4));
		memset(text, '#', sizeof(text)); /* the message was copied */
		len += (size_t)snprintf(wanted + len, sizeof(wanted) - len, " msg:m%03d", i);
	}
	while (node_progress_all())
		;
	assert_in_range(node_count(&local, "sent"), 0, NODE_TASKS - 1);
	assert_ok(agent_set_frozen(&agent, 0, false));
	assert_ok(agent_wait(&agent, 0, "msg:m159", 1));
	assert_string_equal(agent_log(&agent, 0), wanted);
	assert_true(node_wait_for(&local, "sent", NODE_TASKS));
}

/* rule: CC-13, CM-1b */
static void a_burst_before_the_stop_arrives(void **state)
{
	agent_open_both();
	assert_ok(agent_set_queue(&agent, 0, 1));
	agent_connect();
	for (int i = 0; i < NODE_TASKS; i++)
		assert_ok(node_send(&local, 0, "burst", 5));
	node_stop(&local);
	node_wait(&local, "IDLE");
	assert_ok(agent_wait(&agent, 0, local.is_server ? "IDLE" : "disconnect:0", 1));
	assert_int_equal(agent_count(&agent, 0, "msg:burst"), NODE_TASKS);
	assert_int_equal(node_count(&local, "sent"), NODE_TASKS);
}

/* rule: CM-3 */
static void a_message_leaves_without_progress_of_its_sender(void **state)
{
	open_and_connect(0);
	local.is_frozen = true;
	assert_ok(node_send(&local, 0, "alone", 5));
	assert_ok(agent_wait(&agent, 0, "msg:alone", 1));
	assert_int_equal(node_count(&local, "sent"), 0);
}

/* rule: CM-5b */
static void submit_calls_no_callback(void **state)
{
	size_t before;

	open_and_connect(0);
	before = local.log_len;
	local.is_frozen = true;
	for (int i = 0; i < 3; i++) {
		assert_ok(node_send(&local, 0, "x", 1));
		assert_ok(agent_wait(&agent, 0, "msg:x", (unsigned int)i + 1));
		assert_int_equal(local.log_len, before);
	}
	local.is_frozen = false;
	assert_true(node_wait_for(&local, "sent", 3));
}

/* rule: CM-4, CM-7a */
static void messages_of_every_length_keep_it(void **state)
{
	static const uint32_t lengths[] = {1, 7, 8, 9, 1000, 4079, 4080};
	uint8_t message[NODE_MESSAGE];

	open_and_connect(NODE_ECHO | NODE_SCRIBBLE);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		fixture_fill(message, lengths[i], i);
		local.message_len = 0;
		assert_ok(node_send_all(&local, 0, message, lengths[i]));
		for (uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
		     !local.message_len && monotonic_ms() < end;)
			node_progress_all();
		assert_int_equal(local.message_len, lengths[i]);
		assert_memory_equal(local.message, message, lengths[i]);
	}
}

/* rule: CE-alloc-2, X-1 */
static void messages_have_a_length(void **state)
{
	struct doca_comch_task_send *task = NULL;
	uint8_t message[NODE_MESSAGE + 1] = {0};

	agent_open_both();
	assert_ok(node_set_max_message(&local, 100));
	agent_connect();
	assert_error(node_alloc(&local, 0, message, 101, &task), DOCA_ERROR_INVALID_VALUE);
	assert_error(node_alloc(&local, 0, message, 0, &task), DOCA_ERROR_INVALID_VALUE);
	assert_error(node_alloc(&local, 0, message, UINT32_MAX, &task), DOCA_ERROR_INVALID_VALUE);
	assert_error(node_alloc(&local, 0, NULL, 8, &task), DOCA_ERROR_INVALID_VALUE);
	assert_error(node_alloc(&local, 0, message, 8, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(task);
	assert_ok(node_send(&local, 0, message, 100));
}

/* rule: CM-9 */
static void sides_with_different_sizes_connect(void **state)
{
	struct doca_comch_task_send *task;
	uint8_t message[NODE_MESSAGE];

	memset(message, 'm', sizeof(message));
	agent_open_both();
	assert_ok(node_set_max_message(&local, 30));
	agent_connect();
	assert_ok(node_send(&local, 0, message, 30));
	assert_ok(agent_wait(&agent, 0, "msg:mmmmmmmmmmmmmmmmmmmmmmmmmmmmmm", 1));
	assert_ok(agent_send(&agent, 0, 0, message, 30));
	node_wait(&local, "msg:mmmmmmmmmmmmmmmmmmmmmmmmmmmmmm");
	assert_error(agent_send(&agent, 0, 0, message, 31), DOCA_ERROR_INVALID_VALUE);
	assert_error(node_alloc(&local, 0, message, 31, &task), DOCA_ERROR_INVALID_VALUE);
	/* The connection goes on. */
	assert_ok(agent_send(&agent, 0, 0, "ok", 2));
	node_wait(&local, "msg:ok");
}

/* rule: CE-alloc-1, X-4 */
static void tasks_end(void **state)
{
	struct doca_comch_task_send *tasks[NODE_TASKS], *other = NULL;

	open_and_connect(0);
	for (int i = 0; i < NODE_TASKS; i++)
		assert_ok(node_alloc(&local, 0, "x", 1, &tasks[i]));
	assert_error(node_alloc(&local, 0, "x", 1, &other), DOCA_ERROR_NO_MEMORY);
	assert_null(other);
	doca_task_free(doca_comch_task_send_as_task(tasks[0]));
	assert_ok(node_alloc(&local, 0, "x", 1, &tasks[0]));
	for (int i = 0; i < NODE_TASKS; i++)
		doca_task_free(doca_comch_task_send_as_task(tasks[i]));
}

/* rule: CE-conf-3 */
static void without_tasks_nothing_is_sent(void **state)
{
	const char *name = node_unique_name();
	struct doca_comch_task_send *task;

	assert_ok(node_open_bare(&local, name, NULL));
	assert_ok(node_register(&local));
	assert_ok(agent_open(&agent, 0, name));
	agent_connect();
	assert_error(node_alloc(&local, 0, "x", 1, &task), DOCA_ERROR_NO_MEMORY);
	assert_ok(agent_send(&agent, 0, 0, "hello", 5));
	node_wait(&local, "msg:hello");
}

/* rule */
static void a_freed_task_can_be_read(void **state)
{
	union doca_data data = {.u64 = 77};
	struct doca_comch_task_send *task;
	struct doca_task *generic;

	open_and_connect(0);
	local.keeps_tasks = true;
	assert_ok(node_alloc(&local, 0, "x", 1, &task));
	generic = doca_comch_task_send_as_task(task);
	assert_ptr_equal((void *)generic, (void *)task);
	doca_task_set_user_data(generic, data);
	assert_ok(doca_task_submit(generic));
	node_wait(&local, "sent");
	doca_task_free(local.kept[--local.n_kept] == task ? generic : NULL);
	assert_ok(doca_task_get_status(generic));
	assert_true(doca_task_get_user_data(generic).u64 == 77);
	assert_ptr_equal(doca_comch_task_send_as_task(task), generic);
}

/* rule: CM-10 */
static void a_task_freed_in_flight_is_freed_after_its_callback(void **state)
{
	struct doca_comch_task_send *task;

	open_and_connect(0);
	local.keeps_tasks = true;
	assert_ok(node_alloc(&local, 0, "x", 1, &task));
	assert_ok(doca_task_submit(doca_comch_task_send_as_task(task)));
	doca_task_free(doca_comch_task_send_as_task(task));
	node_wait(&local, "sent");
	assert_ptr_equal(local.kept[--local.n_kept], task);
	(void)doca_ctx_stop(local.ctx);
	node_wait(&local, "IDLE");
}

static unsigned int rounds;

static void submit_again(struct node *node, const char *word)
{
	struct doca_comch_task_send *task;

	if (strcmp(word, "sent") != 0 || ++rounds == 5)
		return;
	task = node->kept[--node->n_kept];
	assert_ok(doca_task_submit(doca_comch_task_send_as_task(task)));
}

/* rule: X-7 */
static void a_callback_can_keep_and_submit_its_task(void **state)
{
	open_and_connect(0);
	rounds = 0;
	local.keeps_tasks = true;
	local.hook = submit_again;
	assert_ok(node_send(&local, 0, "again", 5));
	assert_true(node_wait_for(&local, "sent", 5));
	assert_ok(agent_wait(&agent, 0, "msg:again", 5));
	assert_int_equal(local.n_kept, 1);
}

static struct node other;

/* Progress the other engine alone, from inside a callback. */
static void drive_other(struct node *node, const char *word)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	if (strcmp(word, "msg:go") != 0)
		return;
	assert_ok(node_send(&other, 0, "ask", 3));
	while (!(node_count(&other, "sent") && node_count(&other, "msg:ask")) &&
	       monotonic_ms() < deadline)
		if (!doca_pe_progress(other.pe))
			usleep(200);
}

/* rule: X-8, CC-15 */
static void a_callback_can_block_and_drive_another_engine(void **state)
{
	const char *name;

	open_and_connect(0);
	name = node_unique_name();
	assert_ok(node_open(&other, name));
	assert_ok(agent_open(&agent, 1, name));
	assert_ok(agent_set_actions(&agent, 1, NODE_ECHO));
	if (other.is_server) {
		assert_ok(node_start(&other));
		assert_error(agent_start(&agent, 1), DOCA_ERROR_IN_PROGRESS);
		node_wait(&other, "connect:0");
		assert_ok(agent_wait(&agent, 1, "RUNNING", 1));
	} else {
		assert_ok(agent_start(&agent, 1));
		assert_error(node_start(&other), DOCA_ERROR_IN_PROGRESS);
		node_wait(&other, "RUNNING");
	}
	other.is_frozen = true;
	local.hook = drive_other;
	assert_ok(agent_send(&agent, 0, 0, "go", 2));
	node_wait(&local, "msg:go");
	assert_int_equal(node_count(&other, "msg:ask"), 1);
	assert_int_equal(node_count(&other, "sent"), 1);
	/* The blocked connection goes on. */
	assert_ok(agent_send(&agent, 0, 0, "on", 2));
	node_wait(&local, "msg:on");
	assert_ok(node_close(&other));
}

/* rule: X-9 */
static void progress_is_zero_when_nothing_happened(void **state)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	unsigned int busy = 0;

	open_and_connect(NODE_ECHO);
	local.is_frozen = true;
	assert_ok(node_send(&local, 0, "x", 1));
	while ((!node_count(&local, "msg:x") || !node_count(&local, "sent")) &&
	       monotonic_ms() < deadline) {
		size_t before = local.log_len;

		if (doca_pe_progress(local.pe)) {
			busy++;
			assert_true(local.log_len > before);
		}
	}
	assert_in_range(busy, 1, 2);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(doca_pe_progress(local.pe), 0);
}

/* Wait as programs do that sleep on the descriptor; returns how often it woke up. */
static unsigned int sleep_until(const char *word)
{
	doca_notification_handle_t handle;
	unsigned int wakes = 0;

	assert_ok(doca_pe_get_notification_handle(local.pe, &handle));
	for (;;) {
		struct pollfd pfd = {.fd = handle, .events = POLLIN};

		while (doca_pe_progress(local.pe))
			;
		if (node_count(&local, word))
			return wakes;
		assert_ok(doca_pe_request_notification(local.pe));
		assert_int_equal(poll(&pfd, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_ok(doca_pe_clear_notification(local.pe, 0));
		wakes++;
	}
}

/* rule */
static void a_program_can_sleep_until_something_happens(void **state)
{
	unsigned int wakes = 0;

	agent_open_both();
	assert_ok(agent_set_actions(&agent, 0, NODE_ECHO));
	local.is_frozen = true;
	if (local.is_server) {
		assert_ok(node_start(&local));
		assert_error(agent_start(&agent, 0), DOCA_ERROR_IN_PROGRESS);
		wakes += sleep_until("connect:0");
	} else {
		assert_ok(agent_start(&agent, 0));
		assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
		wakes += sleep_until("RUNNING");
	}
	assert_in_range(wakes, 0, 10);
	assert_ok(node_send(&local, 0, "x", 1));
	sleep_until("msg:x");
	sleep_until("sent");
	agent_stop(&agent, 0);
	wakes = sleep_until(local.is_server ? "disconnect:0" : "IDLE");
	assert_in_range(wakes, 0, 10);
}

static void check_that_it_waits(void)
{
	assert_error(node_stop(&local), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(node_count(&local, "STOPPING"), 1);
	for (int i = 0; i < 1000; i++)
		node_progress_all();
	assert_int_equal(node_state(&local), DOCA_CTX_STATE_STOPPING);
}

static void check_that_it_ends(void)
{
	node_wait(&local, "IDLE");
	assert_ok(agent_wait(&agent, 0, local.is_server ? "IDLE" : "disconnect:0", 1));
}

/* rule: CC-14 */
static void a_context_that_stops_waits_for_its_producers(void **state)
{
	struct doca_comch_producer *producer;

	open_and_connect(0);
	assert_ok(doca_comch_producer_create(local.connections[0], &producer));
	check_that_it_waits();
	assert_ok(doca_comch_producer_destroy(producer));
	check_that_it_ends();
}

/* rule: CC-14 */
static void a_context_that_stops_waits_for_its_consumers(void **state)
{
	struct doca_comch_consumer *consumer;
	struct fixture f = {0};
	struct fixture_buf buf;

	open_and_connect(0);
	f.dev = local.dev;
	assert_ok(fixture_buf_create(&f, 64, PCI_RW, &buf));
	assert_ok(doca_comch_consumer_create(local.connections[0], buf.mmap, &consumer));
	check_that_it_waits();
	assert_ok(doca_comch_consumer_destroy(consumer));
	check_that_it_ends();
	assert_ok(fixture_buf_destroy(&buf));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		agent_test(messages_arrive_in_order_once_and_whole),
		agent_test(a_small_queue_loses_nothing),
		agent_test(a_receiver_that_does_not_progress_loses_nothing),
		agent_test(a_burst_before_the_stop_arrives),
		agent_test(a_message_leaves_without_progress_of_its_sender),
		agent_test(submit_calls_no_callback),
		agent_test(messages_of_every_length_keep_it),
		agent_test(messages_have_a_length),
		agent_test(sides_with_different_sizes_connect),
		agent_test(tasks_end),
		agent_test(without_tasks_nothing_is_sent),
		agent_test(a_freed_task_can_be_read),
		agent_test(a_task_freed_in_flight_is_freed_after_its_callback),
		agent_test(a_callback_can_keep_and_submit_its_task),
		agent_test(a_callback_can_block_and_drive_another_engine),
		agent_test(progress_is_zero_when_nothing_happened),
		agent_test(a_context_that_stops_waits_for_its_producers),
		agent_test(a_context_that_stops_waits_for_its_consumers),
		agent_test(a_program_can_sleep_until_something_happens),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return agent_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
