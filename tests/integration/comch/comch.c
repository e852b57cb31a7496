/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct message {
	uint32_t number;
	uint32_t len;
};

struct command {
	uint32_t op, client, num, len;
};

struct answer {
	int32_t status;
	uint32_t value;
};

struct process comch_peer;
struct comch_side comch_server;
struct doca_dev *comch_dev;
struct doca_dev_rep *comch_rep;
static char directory[64];

/* --- callbacks -------------------------------------------------------------------------------- */

static void on_state(const union doca_data user_data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct comch_side *side = user_data.ptr;

	(void)ctx;
	if (side->num_changes < COMCH_MAX_CHANGES)
		side->changes[side->num_changes++] = (struct comch_change){prev, next};
}

static struct comch_side *side_of(struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);
	union doca_data data = {0};

	doca_ctx_get_user_data(server ? doca_comch_server_as_ctx(server)
				      : doca_comch_client_as_ctx(client),
			       &data);
	return data.ptr;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	struct comch_side *side = ctx_data.ptr;

	(void)task_data;
	side->last_error = doca_task_get_status(doca_comch_task_send_as_task(task));
	if (side->last_error == DOCA_SUCCESS)
		side->num_sent++;
	else
		side->num_failed++;
	doca_task_free(doca_comch_task_send_as_task(task));
	if (side->on_sent)
		side->on_sent(side);
}

/* User data of a connection: the number of the next message of its peer. */
static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct comch_side *side = side_of(connection);
	union doca_data next = doca_comch_connection_get_user_data(connection);
	const struct message *message = (const struct message *)(const void *)buffer;

	(void)event;
	if ((uintptr_t)buffer % 8 || message->number != next.u64 || message->len != len ||
	    (len > sizeof(*message) && buffer[len - 1] != (uint8_t)message->number))
		side->num_wrong++;
	next.u64++;
	doca_comch_connection_set_user_data(connection, next);
	side->num_received++;
	side->last = connection;
	if (side->on_message)
		side->on_message(side, connection);
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	struct comch_side *side = side_of(connection);

	(void)event;
	side->num_connected += successful == 1;
	side->last = connection;
	if (side->on_connect)
		side->on_connect(side, connection);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	struct comch_side *side = side_of(connection);

	(void)event;
	side->num_disconnected += successful == 1;
	if (side->on_disconnect)
		side->on_disconnect(side, connection);
}

/* --- both sides ------------------------------------------------------------------------------- */

#define LOOKS  256
#define NAP_US 500

void comch_progress(struct doca_pe *pe)
{
	static unsigned int in_vain;

	if (doca_pe_progress(pe))
		in_vain = 0;
	else if (++in_vain > LOOKS)
		usleep(NAP_US);
}

enum doca_ctx_states comch_state(const struct comch_side *side)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(side->ctx, &state);
	return state;
}

static doca_error_t connect_ctx(struct comch_side *side)
{
	union doca_data data = {.ptr = side};
	doca_error_t result = doca_pe_connect_ctx(side->pe, side->ctx);

	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(side->ctx, data));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(side->ctx, on_state));
	return result;
}

doca_error_t comch_server_create(struct comch_side *side, struct doca_pe *pe, const char *name)
{
	doca_error_t result;

	*side = (struct comch_side){.pe = pe};
	result = doca_comch_server_create(comch_dev, comch_rep, name, &side->server);
	if (result != DOCA_SUCCESS)
		return result;
	side->ctx = doca_comch_server_as_ctx(side->server);
	result = connect_ctx(side);
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_task_send_set_conf(side->server, on_sent,
									  on_sent, COMCH_TASKS));
	DOCA_ERROR_PROPAGATE(result,
			     doca_comch_server_event_msg_recv_register(side->server, on_message));
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_event_connection_status_changed_register(
					     side->server, on_connect, on_disconnect));
	return result;
}

void comch_server_destroy(struct comch_side *side)
{
	doca_error_t result = doca_ctx_stop(side->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		assert_ok(result);
	comch_wait(comch_state(side) == DOCA_CTX_STATE_IDLE);
	assert_ok(doca_comch_server_destroy(side->server));
	side->server = NULL;
}

doca_error_t comch_submit(struct comch_side *side, struct doca_comch_connection *connection,
			  uint32_t len)
{
	uint64_t bytes[510] = {0};
	struct message message = {.number = side->next_number, .len = len};
	struct doca_comch_task_send *task;
	doca_error_t result;

	memcpy(bytes, &message, sizeof(message));
	if (len > sizeof(message))
		((uint8_t *)bytes)[len - 1] = (uint8_t)message.number;
	if (side->server)
		result = doca_comch_server_task_send_alloc_init(side->server, connection, bytes,
								len, &task);
	else
		result = doca_comch_client_task_send_alloc_init(side->client, connection, bytes,
								len, &task);
	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_AGAIN : result;
	side->next_number++;
	return doca_task_submit(doca_comch_task_send_as_task(task));
}

doca_error_t comch_send(struct comch_side *side, struct doca_comch_connection *connection,
			uint32_t num, uint32_t len)
{
	uint32_t wanted = side->num_sent + side->num_failed + num;
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	doca_error_t result;

	while (side->num_sent + side->num_failed < wanted) {
		result = num ? comch_submit(side, connection, len) : DOCA_ERROR_AGAIN;
		if (result == DOCA_SUCCESS)
			num--;
		else if (result != DOCA_ERROR_AGAIN)
			return result;
		while (doca_pe_progress(side->pe))
			;
		if (monotonic_ms() > end)
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

/* --- the process of the server ---------------------------------------------------------------- */

int comch_open_group(void **state)
{
	strcpy(directory, "/tmp/dpumap-comch.XXXXXX");
	return mkdtemp(directory) ? setenv("DPUMAP_COMCH_DIR", directory, 1) : -1;
}

int comch_close_group(void **state)
{
	return rmdir(directory);
}

static doca_error_t open_rep(void)
{
	struct doca_devinfo_rep **reps;
	uint32_t num;
	doca_error_t result;

	result = doca_devinfo_rep_create_list(comch_dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num);
	if (result != DOCA_SUCCESS)
		return result;
	result = num ? doca_dev_rep_open(reps[0], &comch_rep) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_rep_destroy_list(reps);
	return result;
}

int comch_setup(void **state)
{
	struct doca_pe *pe;

	if (fixture_count(state) || fixture_open_device(&comch_dev) != DOCA_SUCCESS ||
	    open_rep() != DOCA_SUCCESS || doca_pe_create(&pe) != DOCA_SUCCESS ||
	    comch_server_create(&comch_server, pe, COMCH_NAME) != DOCA_SUCCESS ||
	    doca_ctx_start(comch_server.ctx) != DOCA_SUCCESS ||
	    !process_start_peer(&comch_peer, "host"))
		return -1;
	return 0;
}

int comch_teardown(void **state)
{
	struct doca_pe *pe = comch_server.pe;
	bool is_fine = true;

	if (comch_server.server)
		comch_server_destroy(&comch_server);
	if (comch_peer.pid)
		is_fine = process_finish(&comch_peer);
	if (doca_pe_destroy(pe) != DOCA_SUCCESS || doca_dev_rep_close(comch_rep) != DOCA_SUCCESS ||
	    doca_dev_close(comch_dev) != DOCA_SUCCESS)
		return -1;
	return is_fine ? fixture_recount(state) : -1;
}

void comch_ask(enum comch_op op, unsigned int client, uint32_t num, uint32_t len)
{
	struct command command = {.op = op, .client = client, .num = num, .len = len};

	assert_true(process_send(comch_peer.to, &command, sizeof(command)));
}

doca_error_t comch_answer(uint32_t *value)
{
	struct answer answer;

	if (!process_receive(comch_peer.from, &answer, sizeof(answer)))
		return DOCA_ERROR_CONNECTION_RESET;
	if (value)
		*value = answer.value;
	return (doca_error_t)answer.status;
}

doca_error_t comch_command(enum comch_op op, unsigned int client, uint32_t num, uint32_t len,
			   uint32_t *value)
{
	struct pollfd answered = {.fd = comch_peer.from, .events = POLLIN};

	comch_ask(op, client, num, len);
	while (!poll(&answered, 1, 0))
		for (int i = 0; i < 64; i++)
			comch_progress(comch_server.pe);
	return comch_answer(value);
}

/* --- the process of the clients --------------------------------------------------------------- */

static struct comch_side clients[COMCH_MAX_CLIENTS];

static doca_error_t create_client(struct comch_side *side, const char *name)
{
	doca_error_t result;

	*side = (struct comch_side){0};
	result = doca_pe_create(&side->pe);
	DOCA_ERROR_PROPAGATE(result, doca_comch_client_create(comch_dev, name, &side->client));
	if (result != DOCA_SUCCESS)
		return result;
	side->ctx = doca_comch_client_as_ctx(side->client);
	result = connect_ctx(side);
	DOCA_ERROR_PROPAGATE(result, doca_comch_client_task_send_set_conf(side->client, on_sent,
									  on_sent, COMCH_TASKS));
	DOCA_ERROR_PROPAGATE(result,
			     doca_comch_client_event_msg_recv_register(side->client, on_message));
	return result;
}

static doca_error_t begin(struct comch_side *side, bool is_other)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!side->client)
		result = create_client(side, is_other ? COMCH_OTHER_NAME : COMCH_NAME);
	if (result != DOCA_SUCCESS)
		return result;
	side->num_changes = 0;
	result = doca_ctx_start(side->ctx);
	if (result != DOCA_ERROR_IN_PROGRESS || comch_state(side) != DOCA_CTX_STATE_STARTING)
		return DOCA_ERROR_UNEXPECTED;
	return DOCA_SUCCESS;
}

static doca_error_t progress_while(const struct comch_side *side, enum doca_ctx_states state,
				   bool is_wanted)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while ((comch_state(side) == state) == is_wanted) {
		comch_progress(side->pe);
		if (monotonic_ms() > end)
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

static doca_error_t finish(struct comch_side *side)
{
	doca_error_t result = progress_while(side, DOCA_CTX_STATE_STARTING, true);

	if (result != DOCA_SUCCESS)
		return result;
	if (comch_state(side) == DOCA_CTX_STATE_RUNNING)
		return doca_comch_client_get_connection(side->client, &side->last);
	result = progress_while(side, DOCA_CTX_STATE_IDLE, false);
	return result == DOCA_SUCCESS ? DOCA_ERROR_NOT_FOUND : result;
}

static doca_error_t submit(struct comch_side *side, uint32_t num, uint32_t len)
{
	doca_error_t result = DOCA_SUCCESS;

	while (num-- && result == DOCA_SUCCESS)
		result = comch_submit(side, side->last, len);
	return result;
}

static doca_error_t receive(const struct comch_side *side, uint32_t num, uint32_t *value)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (side->num_received < num) {
		comch_progress(side->pe);
		if (monotonic_ms() > end)
			return DOCA_ERROR_TIME_OUT;
	}
	*value = side->num_wrong;
	return DOCA_SUCCESS;
}

static doca_error_t await_end(const struct comch_side *side, uint32_t *value)
{
	doca_error_t result = progress_while(side, DOCA_CTX_STATE_IDLE, false);

	*value = side->num_failed;
	return result;
}

static doca_error_t stop_side(const struct comch_side *side, uint32_t *value)
{
	doca_error_t result = doca_ctx_stop(side->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS && result != DOCA_SUCCESS)
		return result;
	return await_end(side, value);
}

static doca_error_t sleep_until_started(struct comch_side *side, uint32_t *value)
{
	doca_notification_handle_t handle;
	struct pollfd event = {.events = POLLIN};

	doca_pe_get_notification_handle(side->pe, &handle);
	event.fd = handle;
	while (comch_state(side) == DOCA_CTX_STATE_STARTING) {
		doca_pe_request_notification(side->pe);
		if (poll(&event, 1, FIXTURE_TIMEOUT_MS) != 1)
			return DOCA_ERROR_TIME_OUT;
		doca_pe_clear_notification(side->pe, handle);
		++*value;
		while (doca_pe_progress(side->pe))
			;
	}
	return finish(side);
}

static uint32_t changes_of(const struct comch_side *side)
{
	uint32_t all = 0;

	for (unsigned int i = 0; i < side->num_changes; i++)
		all = all << 4 | (uint32_t)side->changes[i].next;
	return all;
}

static doca_error_t destroy(struct comch_side *side)
{
	doca_error_t result = doca_comch_client_destroy(side->client);

	if (result != DOCA_SUCCESS)
		return result;
	side->client = NULL;
	return doca_pe_destroy(side->pe);
}

static doca_error_t execute(const struct command *command, uint32_t *value)
{
	struct comch_side *side = &clients[command->client];
	doca_error_t result;

	switch ((enum comch_op)command->op) {
	case COMCH_START:
		result = begin(side, command->num);
		return result == DOCA_SUCCESS ? finish(side) : result;
	case COMCH_BEGIN:
		return begin(side, command->num);
	case COMCH_FINISH:
		return finish(side);
	case COMCH_SEND:
		return comch_send(side, side->last, command->num, command->len);
	case COMCH_SUBMIT:
		return submit(side, command->num, command->len);
	case COMCH_RECEIVE:
		return receive(side, command->num, value);
	case COMCH_AWAIT_END:
		return await_end(side, value);
	case COMCH_STOP:
		return stop_side(side, value);
	case COMCH_CHANGES:
		*value = changes_of(side);
		return DOCA_SUCCESS;
	case COMCH_SLEEP:
		return sleep_until_started(side, value);
	case COMCH_DESTROY:
		return destroy(side);
	}
	return DOCA_ERROR_UNEXPECTED;
}

static bool close_clients(void)
{
	uint32_t value;

	for (unsigned int i = 0; i < COMCH_MAX_CLIENTS; i++)
		if (clients[i].client && (stop_side(&clients[i], &value) != DOCA_SUCCESS ||
					  destroy(&clients[i]) != DOCA_SUCCESS))
			return false;
	return doca_dev_close(comch_dev) == DOCA_SUCCESS;
}

int comch_serve(void)
{
	struct command command;
	struct answer answer;

	if (fixture_open_device(&comch_dev) != DOCA_SUCCESS)
		return 1;
	while (process_receive(STDIN_FILENO, &command, sizeof(command))) {
		answer.value = 0;
		answer.status = (int32_t)execute(&command, &answer.value);
		if (!process_send(STDOUT_FILENO, &answer, sizeof(answer)))
			break;
	}
	return close_clients() ? 0 : 1;
}

/* --- another server --------------------------------------------------------------------------- */

#define OTHER_ENV "DPUMAP_TEST_OTHER_SERVER"

bool comch_start_other_server(struct process *process)
{
	char byte;

	return process_start_on_socket(process, "dpu", OTHER_ENV) &&
	       process_receive(process->from, &byte, 1);
}

int comch_serve_other(void)
{
	int socket = process_inherited(OTHER_ENV);
	struct pollfd end = {.fd = socket, .events = POLLIN};
	struct doca_pe *pe;

	if (socket < 0)
		return -1;
	if (fixture_open_device(&comch_dev) != DOCA_SUCCESS || open_rep() != DOCA_SUCCESS ||
	    doca_pe_create(&pe) != DOCA_SUCCESS ||
	    comch_server_create(&comch_server, pe, COMCH_OTHER_NAME) != DOCA_SUCCESS ||
	    doca_ctx_start(comch_server.ctx) != DOCA_SUCCESS || !process_send(socket, "", 1))
		return 1;
	while (!poll(&end, 1, 0))
		doca_pe_progress(pe);
	comch_server_destroy(&comch_server);
	return doca_pe_destroy(pe) == DOCA_SUCCESS ? 0 : 1;
}
