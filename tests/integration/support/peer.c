/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "peer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum op { OP_EXPORT, OP_IMPORT, OP_READ, OP_WRITE, OP_PEEK, OP_STOP, OP_DROP, OP_KEY_ACCESS };

struct request {
	uint32_t op;
	uint32_t map;
	struct map_spec what;
	uint64_t offset;
	uint64_t len;	  /* bytes to read or write */
	uint64_t payload; /* bytes that follow */
	uint32_t key;
	uint32_t use;
};

struct reply {
	int32_t status;
	uint64_t payload;
};

struct sharer parent;
struct process peer;

bool peer_start(struct process *p)
{
	return process_start_peer(p, test_options.peer_as);
}

/* Send a request with its payload; receive the reply, with a payload of at most *room bytes. */
static int32_t call(struct process *p, struct request *request, const void *payload, void *answer,
		    size_t *room)
{
	struct reply reply;

	if (!process_send(p->to, request, sizeof(*request)) ||
	    !process_send(p->to, payload, request->payload) ||
	    !process_receive(p->from, &reply, sizeof(reply)))
		return DOCA_ERROR_CONNECTION_RESET;
	if (reply.payload > (room ? *room : 0) || !process_receive(p->from, answer, reply.payload))
		return DOCA_ERROR_CONNECTION_RESET;
	if (room)
		*room = reply.payload;
	return reply.status;
}

static doca_error_t call_simple(struct process *p, enum op op, unsigned int map)
{
	struct request request = {.op = op, .map = map};

	return (doca_error_t)call(p, &request, NULL, NULL, NULL);
}

doca_error_t peer_export(struct process *p, unsigned int map, const struct map_spec *what,
			 struct descriptor *desc)
{
	struct request request = {.op = OP_EXPORT, .map = map, .what = *what};

	desc->len = sizeof(desc->bytes);
	return (doca_error_t)call(p, &request, NULL, desc->bytes, &desc->len);
}

doca_error_t peer_import(struct process *p, unsigned int map, const struct descriptor *desc)
{
	struct request request = {.op = OP_IMPORT, .map = map, .payload = desc->len};

	return (doca_error_t)call(p, &request, desc->bytes, NULL, NULL);
}

doca_error_t peer_read(struct process *p, unsigned int map, size_t offset, uint8_t *dst, size_t len)
{
	struct request request = {.op = OP_READ, .map = map, .offset = offset, .len = len};

	return (doca_error_t)call(p, &request, NULL, dst, &len);
}

doca_error_t peer_write(struct process *p, unsigned int map, size_t offset, const uint8_t *src,
			size_t len)
{
	struct request request = {
		.op = OP_WRITE,
		.map = map,
		.offset = offset,
		.len = len,
		.payload = len,
	};

	return (doca_error_t)call(p, &request, src, NULL, NULL);
}

doca_error_t peer_peek(struct process *p, unsigned int map, size_t offset, uint8_t *dst, size_t len)
{
	struct request request = {.op = OP_PEEK, .map = map, .offset = offset, .len = len};

	return (doca_error_t)call(p, &request, NULL, dst, &len);
}

doca_error_t peer_stop(struct process *p, unsigned int map)
{
	return call_simple(p, OP_STOP, map);
}

doca_error_t peer_drop(struct process *p, unsigned int map)
{
	return call_simple(p, OP_DROP, map);
}

int peer_key_access(struct process *p, uint32_t key, uint64_t addr, enum key_use use)
{
	struct request request = {.op = OP_KEY_ACCESS, .offset = addr, .key = key, .use = use};

	return call(p, &request, NULL, NULL, NULL);
}

static doca_error_t serve_import(struct sharer *sharer, const struct request *request,
				 const uint8_t *payload)
{
	struct descriptor desc = {.len = request->payload};

	if (desc.len > sizeof(desc.bytes))
		return DOCA_ERROR_TOO_BIG;
	memcpy(desc.bytes, payload, desc.len);
	return sharer_import(sharer, request->map, &desc);
}

static doca_error_t serve_export(struct sharer *sharer, const struct request *request,
				 uint8_t *payload, uint64_t *len)
{
	struct descriptor desc;
	doca_error_t result = sharer_export(sharer, request->map, &request->what, &desc);

	if (result == DOCA_SUCCESS) {
		memcpy(payload, desc.bytes, desc.len);
		*len = desc.len;
	}
	return result;
}

static int32_t execute(struct sharer *sharer, const struct request *request, uint8_t *payload,
		       uint64_t *answer)
{
	switch ((enum op)request->op) {
	case OP_EXPORT:
		return serve_export(sharer, request, payload, answer);
	case OP_IMPORT:
		return serve_import(sharer, request, payload);
	case OP_READ:
		*answer = request->len;
		return sharer_read(sharer, request->map, request->offset, payload, request->len);
	case OP_WRITE:
		return sharer_write(sharer, request->map, request->offset, payload, request->len);
	case OP_PEEK:
		*answer = request->len;
		return sharer_peek(sharer, request->map, request->offset, payload, request->len);
	case OP_STOP:
		return sharer_stop(sharer, request->map);
	case OP_DROP:
		return sharer_drop(sharer, request->map);
	case OP_KEY_ACCESS:
		return key_access(request->key, request->offset, (enum key_use)request->use);
	}
	return DOCA_ERROR_UNEXPECTED;
}

static bool serve_one(struct sharer *sharer, uint8_t *payload)
{
	struct request request;
	struct reply reply = {0};

	if (!process_receive(STDIN_FILENO, &request, sizeof(request)) ||
	    request.map >= SHARER_MAPS || request.len > SHARER_BOUNCE_LEN ||
	    request.payload > SHARER_BOUNCE_LEN ||
	    !process_receive(STDIN_FILENO, payload, request.payload))
		return false;
	reply.status = execute(sharer, &request, payload, &reply.payload);
	if (reply.status != DOCA_SUCCESS)
		reply.payload = 0;
	return process_send(STDOUT_FILENO, &reply, sizeof(reply)) &&
	       process_send(STDOUT_FILENO, payload, reply.payload);
}

int peer_serve(void)
{
	uint8_t *payload = malloc(SHARER_BOUNCE_LEN);
	doca_error_t result = DOCA_ERROR_NO_MEMORY;
	struct sharer sharer;

	if (!payload)
		return 1;
	result = sharer_open(&sharer);
	if (result == DOCA_SUCCESS) {
		while (serve_one(&sharer, payload))
			;
		result = sharer_close(&sharer);
	}
	free(payload);
	return result != DOCA_SUCCESS;
}

int peer_setup(void **state)
{
	if (fixture_count(state) || sharer_open(&parent) != DOCA_SUCCESS)
		return -1;
	return peer_start(&peer) ? 0 : -1;
}

int peer_teardown_parent(void **state)
{
	return sharer_close(&parent) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

int peer_teardown(void **state)
{
	return process_finish(&peer) ? peer_teardown_parent(state) : -1;
}
