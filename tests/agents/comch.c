/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A client of dpumapd on the control channel, which uses DOCA alone.
 *
 *   comch PCI-ADDRESS NAME
 *
 * It connects to the server NAME and does what each line of standard input says, with one line of
 * output:
 *
 *   ask TEXT       send the message and print the reply
 *   bytes HEX      the same with these bytes
 *   next           wait for a message and print it
 *   use            import the last descriptor, copy all bytes from it, and print their number
 *   again          copy once more from the memory imported last
 *   flood N        send N messages "ping" without reading, then sleep until standard input ends
 *
 * It prints the lines of a reply separated by |, but not a descriptor. "ended" says that the
 * connection has ended.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_comch.h>
#include <doca_ctx.h>

#include "common.h"

#define SEND_TASKS 1024
#define RECV_QUEUE 8
#define LINE	   8192

struct message {
	struct message *next;
	size_t len;
	char bytes[];
};

static struct {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_comch_client *comch;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;
	bool has_ended;
	unsigned int unsent;
	struct message *received, **last;
	struct copier copier;
	struct doca_mmap *remote;
	char desc[4096]; /* the last descriptor received */
	size_t desc_len;
} client = {.last = &client.received};

static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_name(result));
	exit(EXIT_FAILURE);
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct message *message = calloc(1, sizeof(*message) + len + 1);

	(void)event, (void)connection;
	if (!message)
		exit(EXIT_FAILURE);
	memcpy(message->bytes, bytes, len);
	message->len = len;
	*client.last = message;
	client.last = &message->next;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task_data, (void)ctx_data;
	client.unsent--;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		     enum doca_ctx_states next)
{
	(void)data, (void)ctx, (void)prev;
	if (next == DOCA_CTX_STATE_RUNNING)
		must(doca_comch_client_get_connection(client.comch, &client.connection),
		     "the connection");
	else if (next != DOCA_CTX_STATE_STARTING)
		client.has_ended = true;
}

static void progress(void)
{
	doca_notification_handle_t handle;
	struct pollfd wait = {.events = POLLIN};

	if (doca_pe_progress(client.pe))
		return;
	must(doca_pe_get_notification_handle(client.pe, &handle), "the handle");
	must(doca_pe_request_notification(client.pe), "to arm the handle");
	wait.fd = (int)handle;
	(void)poll(&wait, 1, -1);
	must(doca_pe_clear_notification(client.pe, handle), "to clear the handle");
}

static void connect_to(const char *name)
{
	doca_error_t result;

	must(doca_comch_client_create(client.dev, name, &client.comch), "a client");
	client.ctx = doca_comch_client_as_ctx(client.comch);
	must(doca_pe_create(&client.pe), "an engine");
	must(doca_pe_connect_ctx(client.pe, client.ctx), "to connect the engine");
	must(doca_ctx_set_state_changed_cb(client.ctx, on_state), "a callback");
	must(doca_comch_client_set_recv_queue_size(client.comch, RECV_QUEUE), "the receive queue");
	must(doca_comch_client_task_send_set_conf(client.comch, on_sent, on_sent, SEND_TASKS),
	     "tasks");
	must(doca_comch_client_event_msg_recv_register(client.comch, on_message), "a callback");
	result = doca_ctx_start(client.ctx);
	must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "to start");
	while (!client.connection && !client.has_ended)
		progress();
	puts(client.has_ended ? "ended" : "connected");
	fflush(stdout);
}

/* False if the library refuses it, or the connection has ended. */
static bool put(const void *bytes, size_t len)
{
	struct doca_comch_task_send *task;

	if (client.has_ended ||
	    doca_comch_client_task_send_alloc_init(client.comch, client.connection, bytes,
						   (uint32_t)len, &task) != DOCA_SUCCESS)
		return false;
	if (doca_task_submit(doca_comch_task_send_as_task(task)) != DOCA_SUCCESS) {
		doca_task_free(doca_comch_task_send_as_task(task));
		return false;
	}
	client.unsent++;
	return true;
}

/* The bytes after the first line of a reply to get are a descriptor. */
static void keep_descriptor(struct message *message)
{
	char *end = strchr(message->bytes, '\n');
	size_t line = end ? (size_t)(end + 1 - message->bytes) : 0;

	if (!end || message->len - line > sizeof(client.desc))
		return;
	client.desc_len = message->len - line;
	memcpy(client.desc, end + 1, client.desc_len);
	*end = '\0';
}

/* Lines are separated by | in the output. */
static void print_message(bool has_descriptor)
{
	struct message *message;

	while (!client.received && !client.has_ended)
		progress();
	message = client.received;
	if (!message) {
		puts("ended");
		return;
	}
	client.received = message->next;
	if (!client.received)
		client.last = &client.received;
	if (has_descriptor)
		keep_descriptor(message);
	for (char *at = message->bytes; (at = strchr(at, '\n'));)
		*at = '|';
	puts(message->bytes);
	free(message);
}

static void copy_again(void)
{
	struct memory memory;
	doca_error_t result;
	size_t len = 0;
	void *addr;

	result = client.remote ? doca_mmap_get_memrange(client.remote, &addr, &len)
			       : DOCA_ERROR_NOT_FOUND;
	if (result == DOCA_SUCCESS)
		result = create_memory(client.dev, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &memory);
	if (result == DOCA_SUCCESS) {
		must(open_copier(client.dev, &client.copier), "a copier");
		result = copy(&client.copier, (struct place){memory.mmap, memory.bytes},
			      (struct place){client.remote, addr}, len);
		close_copier(&client.copier);
		if (result == DOCA_SUCCESS)
			printf("%zu %.8s\n", len, memory.bytes);
		destroy_memory(&memory);
	}
	if (result != DOCA_SUCCESS)
		puts(doca_error_get_name(result));
}

static void drop_import(void)
{
	if (client.remote)
		must(doca_mmap_destroy(client.remote), "to destroy the import");
	client.remote = NULL;
}

static void use(void)
{
	doca_error_t result;

	drop_import();
	result = doca_mmap_create_from_export(NULL, client.desc, client.desc_len, client.dev,
					      &client.remote);
	if (result != DOCA_SUCCESS) {
		client.remote = NULL;
		puts(doca_error_get_name(result));
		return;
	}
	copy_again();
}

static void exchange(const void *bytes, size_t len, bool has_descriptor)
{
	if (put(bytes, len))
		print_message(has_descriptor);
	else
		puts(client.has_ended ? "ended" : "refused");
}

static void put_hex(const char *hex)
{
	char bytes[LINE];
	size_t len = 0;
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[len++] = (char)byte;
	exchange(bytes, len, false);
}

static void flood(int number)
{
	while (number-- > 0)
		(void)put("ping", 4);
	puts("flooded");
	fflush(stdout);
	while (getchar() != EOF)
		;
}

static void obey(const char *line)
{
	if (strncmp(line, "ask ", 4) == 0) {
		exchange(line + 4, strlen(line + 4), strncmp(line + 4, "get ", 4) == 0);
	} else if (strncmp(line, "bytes ", 6) == 0) {
		put_hex(line + 6);
	} else if (strcmp(line, "next") == 0) {
		print_message(false);
	} else if (strcmp(line, "use") == 0) {
		use();
	} else if (strcmp(line, "again") == 0) {
		copy_again();
	} else if (strncmp(line, "flood ", 6) == 0) {
		flood(atoi(line + 6)); // NOLINT(cert-err34-c)
	} else {
		fprintf(stderr, "unknown: %s\n", line);
		exit(EXIT_FAILURE);
	}
	fflush(stdout);
}

static void disconnect(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_stop(client.ctx);
	while (doca_ctx_get_state(client.ctx, &state) == DOCA_SUCCESS &&
	       state != DOCA_CTX_STATE_IDLE)
		progress();
	must(doca_comch_client_destroy(client.comch), "to destroy the client");
	must(doca_pe_destroy(client.pe), "to destroy the engine");
	while (client.received) {
		struct message *next = client.received->next;

		free(client.received);
		client.received = next;
	}
}

static doca_error_t can_connect(const struct doca_devinfo *devinfo)
{
	return doca_comch_cap_client_is_supported(devinfo);
}

int main(int argc, char **argv)
{
	char line[LINE];

	if (argc != 3)
		return EXIT_FAILURE;
	must(open_device(argv[1], can_connect, &client.dev), argv[1]);
	connect_to(argv[2]);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	drop_import();
	disconnect();
	must(doca_dev_close(client.dev), "to close the device");
	return EXIT_SUCCESS;
}
