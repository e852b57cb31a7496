/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "peer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum op { OP_EXPORT, OP_IMPORT, OP_READ, OP_WRITE, OP_PEEK, OP_STOP, OP_DROP, OP_RAW };

struct request {
	uint32_t op;
	uint32_t map;
	struct side_export what;
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

bool peer_start(struct peer *peer)
{
	const char *const argv[] = {
		rig_options.emu,  "run",       "--as", rig_options.peer_as, "--",
		rig_options.self, "--be-peer", NULL,
	};

	peer->pid = rig_spawn(argv, &peer->to, &peer->from);
	return peer->pid > 0;
}

static int hang_up(struct peer *peer)
{
	close(peer->to);
	close(peer->from);
	return rig_reap(peer->pid);
}

bool peer_finish(struct peer *peer)
{
	int status = hang_up(peer);

	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool peer_kill(struct peer *peer)
{
	int status;

	if (kill(peer->pid, SIGKILL))
		return false;
	status = hang_up(peer);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Send a request with what follows it; take the answer, with at most room bytes that follow it. */
static int32_t call(struct peer *peer, struct request *request, const void *payload, void *answer,
		    size_t *room)
{
	struct reply reply;

	if (!rig_send(peer->to, request, sizeof(*request)) ||
	    !rig_send(peer->to, payload, request->payload) ||
	    !rig_receive(peer->from, &reply, sizeof(reply)))
		return DOCA_ERROR_CONNECTION_RESET;
	if (reply.payload > (room ? *room : 0) || !rig_receive(peer->from, answer, reply.payload))
		return DOCA_ERROR_CONNECTION_RESET;
	if (room)
		*room = reply.payload;
	return reply.status;
}

static doca_error_t call_simple(struct peer *peer, enum op op, unsigned int map)
{
	struct request request = {.op = op, .map = map};

	return (doca_error_t)call(peer, &request, NULL, NULL, NULL);
}

doca_error_t peer_export_map(struct peer *peer, unsigned int map, const struct side_export *what,
			     struct side_desc *desc)
{
	struct request request = {.op = OP_EXPORT, .map = map, .what = *what};

	desc->len = sizeof(desc->bytes);
	return (doca_error_t)call(peer, &request, NULL, desc->bytes, &desc->len);
}

doca_error_t peer_import_map(struct peer *peer, unsigned int map, const struct side_desc *desc)
{
	struct request request = {.op = OP_IMPORT, .map = map, .payload = desc->len};

	return (doca_error_t)call(peer, &request, desc->bytes, NULL, NULL);
}

doca_error_t peer_read(struct peer *peer, unsigned int map, size_t offset, uint8_t *dst, size_t len)
{
	struct request request = {.op = OP_READ, .map = map, .offset = offset, .len = len};

	return (doca_error_t)call(peer, &request, NULL, dst, &len);
}

doca_error_t peer_write(struct peer *peer, unsigned int map, size_t offset, const uint8_t *src,
			size_t len)
{
	struct request request = {
		.op = OP_WRITE,
		.map = map,
		.offset = offset,
		.len = len,
		.payload = len,
	};

	return (doca_error_t)call(peer, &request, src, NULL, NULL);
}

doca_error_t peer_peek(struct peer *peer, unsigned int map, size_t offset, uint8_t *dst, size_t len)
{
	struct request request = {.op = OP_PEEK, .map = map, .offset = offset, .len = len};

	return (doca_error_t)call(peer, &request, NULL, dst, &len);
}

doca_error_t peer_stop(struct peer *peer, unsigned int map)
{
	return call_simple(peer, OP_STOP, map);
}

doca_error_t peer_drop(struct peer *peer, unsigned int map)
{
	return call_simple(peer, OP_DROP, map);
}

int peer_raw_access(struct peer *peer, uint32_t key, uint64_t addr, enum raw_use use)
{
	struct request request = {.op = OP_RAW, .offset = addr, .key = key, .use = use};

	return call(peer, &request, NULL, NULL, NULL);
}

static doca_error_t serve_import(struct side *side, const struct request *request,
				 const uint8_t *payload)
{
	struct side_desc desc = {.len = request->payload};

	if (desc.len > sizeof(desc.bytes))
		return DOCA_ERROR_TOO_BIG;
	memcpy(desc.bytes, payload, desc.len);
	return side_import_map(side, request->map, &desc);
}

static doca_error_t serve_export(struct side *side, const struct request *request, uint8_t *payload,
				 uint64_t *len)
{
	struct side_desc desc;
	doca_error_t result = side_export_map(side, request->map, &request->what, &desc);

	if (result == DOCA_SUCCESS) {
		memcpy(payload, desc.bytes, desc.len);
		*len = desc.len;
	}
	return result;
}

static int32_t execute(struct side *side, const struct request *request, uint8_t *payload,
		       uint64_t *answer)
{
	switch ((enum op)request->op) {
	case OP_EXPORT:
		return serve_export(side, request, payload, answer);
	case OP_IMPORT:
		return serve_import(side, request, payload);
	case OP_READ:
		*answer = request->len;
		return side_read(side, request->map, request->offset, payload, request->len);
	case OP_WRITE:
		return side_write(side, request->map, request->offset, payload, request->len);
	case OP_PEEK:
		*answer = request->len;
		return side_peek(side, request->map, request->offset, payload, request->len);
	case OP_STOP:
		return side_stop(side, request->map);
	case OP_DROP:
		return side_drop(side, request->map);
	case OP_RAW:
		return raw_access(request->key, request->offset, (enum raw_use)request->use);
	}
	return DOCA_ERROR_UNEXPECTED;
}

static bool serve_one(struct side *side, uint8_t *payload)
{
	struct request request;
	struct reply reply = {0};

	if (!rig_receive(STDIN_FILENO, &request, sizeof(request)) || request.map >= SIDE_MAPS ||
	    request.len > SIDE_BOUNCE_LEN || request.payload > SIDE_BOUNCE_LEN ||
	    !rig_receive(STDIN_FILENO, payload, request.payload))
		return false;
	reply.status = execute(side, &request, payload, &reply.payload);
	if (reply.status != DOCA_SUCCESS)
		reply.payload = 0;
	return rig_send(STDOUT_FILENO, &reply, sizeof(reply)) &&
	       rig_send(STDOUT_FILENO, payload, reply.payload);
}

int peer_serve(void)
{
	uint8_t *payload = malloc(SIDE_BOUNCE_LEN);
	doca_error_t result = DOCA_ERROR_NO_MEMORY;
	struct side side;

	if (!payload)
		return 1;
	result = side_open(&side);
	if (result == DOCA_SUCCESS) {
		while (serve_one(&side, payload))
			;
		result = side_close(&side);
	}
	free(payload);
	return result != DOCA_SUCCESS;
}
