/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "umem_peer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dpumap/dev.h>
#include <dpumap/umem.h>

#define SOCKET_ENV "DPUMAP_TEST_UMEM_PEER"
#define PIECE	   ((size_t)1 << 20)

enum op {
	OP_OPEN,
	OP_ADOPT,
	OP_LEND,
	OP_REGISTER,
	OP_EXPORT,
	OP_IMPORT,
	OP_UNIMPORT,
	OP_DEREGISTER,
	OP_MAP,
	OP_EXPORT_MAP,
	OP_UNMAP,
	OP_CHECK,
	OP_FILL,
};

struct order {
	enum op op;
	size_t offset, len;
	uint32_t access;
	uint32_t seed;
	struct descriptor desc;
};

struct answer {
	doca_error_t result;
	struct descriptor desc;
};

/* --- in the peer ------------------------------------------------------------------------------ */

static struct {
	struct fixture fixture;
	uint8_t *bytes;
	struct dpumap_umem *umem;
	struct doca_mmap *mmap;
} self;

static doca_error_t with_queue(doca_error_t opened)
{
	return opened == DOCA_SUCCESS ? dpumap_dma_create(self.fixture.dev, 8, &self.fixture.dma)
				      : opened;
}

static doca_error_t serve_register(const struct order *order)
{
	self.bytes = malloc(UMEM_PEER_LEN);
	if (!self.bytes)
		return DOCA_ERROR_NO_MEMORY;
	fixture_fill(self.bytes, UMEM_PEER_LEN, order->seed);
	return dpumap_umem_register(self.fixture.dev, self.bytes, UMEM_PEER_LEN, order->access,
				    &self.umem);
}

static doca_error_t serve_map(const struct order *order)
{
	doca_error_t result = doca_mmap_create(&self.mmap);

	DOCA_ERROR_PROPAGATE(result, dpumap_mmap_set_umem_memrange(self.mmap, self.umem,
								   order->offset, order->len));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(self.mmap, order->access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(self.mmap, self.fixture.dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(self.mmap));
	if (result != DOCA_SUCCESS) {
		doca_mmap_destroy(self.mmap);
		self.mmap = NULL;
	}
	return result;
}

static doca_error_t serve_export_map(struct descriptor *desc)
{
	const void *bytes = NULL;
	doca_error_t result;

	result = doca_mmap_export_pci(self.mmap, self.fixture.dev, &bytes, &desc->len);
	if (result == DOCA_SUCCESS)
		memcpy(desc->bytes, bytes, desc->len);
	return result;
}

static doca_error_t move(const struct fixture_buf *buf, uint8_t *at, size_t len, bool fill)
{
	struct fixture_copy copy = {buf->mmap, buf->bytes, self.mmap, at, len};

	if (fill)
		copy = (struct fixture_copy){self.mmap, at, buf->mmap, buf->bytes, len};
	return fixture_copy(&self.fixture, &copy);
}

/* The whole map in pieces, each filled from a seed of its own. */
static doca_error_t walk(uint32_t seed, bool fill, const struct fixture_buf *buf, uint8_t *wanted)
{
	doca_error_t result;
	uint8_t *addr;
	size_t len;

	result = doca_mmap_get_memrange(self.mmap, (void **)&addr, &len);
	for (size_t at = 0; at < len && result == DOCA_SUCCESS; at += PIECE) {
		size_t piece = len - at < PIECE ? len - at : PIECE;

		fixture_fill(wanted, piece, seed + (uint32_t)(at / PIECE));
		if (fill)
			memcpy(buf->bytes, wanted, piece);
		result = move(buf, addr + at, piece, fill);
		if (result == DOCA_SUCCESS && memcmp(buf->bytes, wanted, piece) != 0)
			result = DOCA_ERROR_UNEXPECTED;
	}
	return result;
}

static doca_error_t serve_walk(uint32_t seed, bool fill)
{
	uint8_t *wanted = malloc(PIECE);
	struct fixture_buf buf;
	doca_error_t result;

	if (!wanted)
		return DOCA_ERROR_NO_MEMORY;
	result = fixture_buf_create(&self.fixture, PIECE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &buf);
	if (result == DOCA_SUCCESS) {
		result = walk(seed, fill, &buf, wanted);
		DOCA_ERROR_PROPAGATE(result, fixture_buf_destroy(&buf));
	}
	free(wanted);
	return result;
}

static doca_error_t forget_umem(doca_error_t result)
{
	if (result == DOCA_SUCCESS)
		self.umem = NULL;
	return result;
}

static doca_error_t serve_unmap(void)
{
	doca_error_t result = doca_mmap_destroy(self.mmap);

	if (result == DOCA_SUCCESS)
		self.mmap = NULL;
	return result;
}

static doca_error_t serve(int socket, const struct order *order, struct descriptor *desc)
{
	switch (order->op) {
	case OP_OPEN:
		return with_queue(fixture_open_device(&self.fixture.dev));
	case OP_ADOPT:
		return with_queue(dpumap_dev_receive(socket, &self.fixture.dev));
	case OP_LEND:
		return dpumap_dev_send(self.fixture.dev, socket);
	case OP_REGISTER:
		return serve_register(order);
	case OP_EXPORT:
		return dpumap_umem_export(self.umem, desc->bytes, sizeof(desc->bytes), &desc->len);
	case OP_IMPORT:
		return dpumap_umem_import(self.fixture.dev, order->desc.bytes, order->desc.len,
					  &self.umem);
	case OP_UNIMPORT:
		return forget_umem(dpumap_umem_unimport(self.umem));
	case OP_DEREGISTER:
		return forget_umem(dpumap_umem_deregister(self.umem));
	case OP_MAP:
		return serve_map(order);
	case OP_EXPORT_MAP:
		return serve_export_map(desc);
	case OP_UNMAP:
		return serve_unmap();
	case OP_CHECK:
		return serve_walk(order->seed, false);
	case OP_FILL:
		return serve_walk(order->seed, true);
	}
	return DOCA_ERROR_UNEXPECTED;
}

bool umem_peer_is_this(void)
{
	return getenv(SOCKET_ENV);
}

int umem_peer_serve(void)
{
	int socket = process_inherited(SOCKET_ENV);
	struct answer answer = {0};
	struct order order;

	fcntl(socket, F_SETFD, FD_CLOEXEC);
	while (recv(socket, &order, sizeof(order), 0) == (ssize_t)sizeof(order)) {
		answer.result = serve(socket, &order, &answer.desc);
		if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) != (ssize_t)sizeof(answer))
			return 1;
	}
	free(self.bytes);
	if (self.mmap || self.umem)
		return 2;
	return self.fixture.dev && fixture_close(&self.fixture) != DOCA_SUCCESS ? 3 : 0;
}

/* --- in the parent ---------------------------------------------------------------------------- */

bool umem_peer_start(struct process *peer, const char *as)
{
	return process_start_on_socket(peer, as, SOCKET_ENV);
}

bool umem_peer_start_with(struct process *peer, const char *as, const char *libraries)
{
	const char *before = getenv("LD_LIBRARY_PATH");
	char *kept = before ? strdup(before) : NULL;
	bool started;

	setenv("LD_LIBRARY_PATH", libraries, 1);
	started = umem_peer_start(peer, as);
	if (kept)
		setenv("LD_LIBRARY_PATH", kept, 1);
	else
		unsetenv("LD_LIBRARY_PATH");
	free(kept);
	return started;
}

static bool send_order(struct process *peer, const struct order *order)
{
	return send(peer->to, order, sizeof(*order), MSG_NOSIGNAL) == (ssize_t)sizeof(*order);
}

static doca_error_t receive_answer(struct process *peer, struct descriptor *desc)
{
	struct answer answer;

	if (recv(peer->to, &answer, sizeof(answer), 0) != (ssize_t)sizeof(answer))
		return DOCA_ERROR_CONNECTION_RESET;
	if (desc)
		*desc = answer.desc;
	return answer.result;
}

static doca_error_t call(struct process *peer, const struct order *order, struct descriptor *desc)
{
	return send_order(peer, order) ? receive_answer(peer, desc) : DOCA_ERROR_CONNECTION_RESET;
}

static doca_error_t call_simple(struct process *peer, enum op op)
{
	return call(peer, &(struct order){.op = op}, NULL);
}

doca_error_t umem_peer_open(struct process *peer)
{
	return call_simple(peer, OP_OPEN);
}

doca_error_t umem_peer_adopt(struct process *peer, const struct doca_dev *dev)
{
	doca_error_t result;

	if (!send_order(peer, &(struct order){.op = OP_ADOPT}))
		return DOCA_ERROR_CONNECTION_RESET;
	result = dpumap_dev_send(dev, peer->to);
	return result == DOCA_SUCCESS ? receive_answer(peer, NULL) : result;
}

doca_error_t umem_peer_lend(struct process *peer, struct doca_dev **dev)
{
	doca_error_t result;

	if (!send_order(peer, &(struct order){.op = OP_LEND}))
		return DOCA_ERROR_CONNECTION_RESET;
	result = dpumap_dev_receive(peer->to, dev);
	return result == DOCA_SUCCESS ? receive_answer(peer, NULL) : result;
}

doca_error_t umem_peer_register(struct process *peer, uint32_t access, uint32_t seed)
{
	return call(peer, &(struct order){.op = OP_REGISTER, .access = access, .seed = seed}, NULL);
}

doca_error_t umem_peer_export(struct process *peer, struct descriptor *desc)
{
	return call(peer, &(struct order){.op = OP_EXPORT}, desc);
}

doca_error_t umem_peer_import(struct process *peer, const struct descriptor *desc)
{
	return call(peer, &(struct order){.op = OP_IMPORT, .desc = *desc}, NULL);
}

doca_error_t umem_peer_unimport(struct process *peer)
{
	return call_simple(peer, OP_UNIMPORT);
}

doca_error_t umem_peer_deregister(struct process *peer)
{
	return call_simple(peer, OP_DEREGISTER);
}

doca_error_t umem_peer_map(struct process *peer, size_t offset, size_t len, uint32_t access)
{
	struct order order = {.op = OP_MAP, .offset = offset, .len = len, .access = access};

	return call(peer, &order, NULL);
}

doca_error_t umem_peer_export_map(struct process *peer, struct descriptor *desc)
{
	return call(peer, &(struct order){.op = OP_EXPORT_MAP}, desc);
}

doca_error_t umem_peer_unmap(struct process *peer)
{
	return call_simple(peer, OP_UNMAP);
}

doca_error_t umem_peer_check(struct process *peer, uint32_t seed)
{
	return call(peer, &(struct order){.op = OP_CHECK, .seed = seed}, NULL);
}

doca_error_t umem_peer_fill(struct process *peer, uint32_t seed)
{
	return call(peer, &(struct order){.op = OP_FILL, .seed = seed}, NULL);
}
