/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "mate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dpumap/dev.h>
#include <dpumap/umem.h>

#define SOCKET_ENV "DPUMAP_TEST_MATE"
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
	struct side_desc desc;
};

struct answer {
	doca_error_t result;
	struct side_desc desc;
};

/* --- the mate ------------------------------------------------------------------------------------
 */

static struct {
	struct rig rig;
	uint8_t *bytes;
	struct dpumap_umem *umem;
	struct doca_mmap *mmap;
} self;

static doca_error_t with_queue(doca_error_t opened)
{
	return opened == DOCA_SUCCESS ? dpumap_dma_create(self.rig.dev, 8, &self.rig.dma) : opened;
}

static doca_error_t serve_register(const struct order *order)
{
	self.bytes = malloc(MATE_LEN);
	if (!self.bytes)
		return DOCA_ERROR_NO_MEMORY;
	rig_fill(self.bytes, MATE_LEN, order->seed);
	return dpumap_umem_register(self.rig.dev, self.bytes, MATE_LEN, order->access, &self.umem);
}

static doca_error_t serve_map(const struct order *order)
{
	doca_error_t result = doca_mmap_create(&self.mmap);

	DOCA_ERROR_PROPAGATE(result, dpumap_mmap_set_umem_memrange(self.mmap, self.umem,
								   order->offset, order->len));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(self.mmap, order->access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(self.mmap, self.rig.dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(self.mmap));
	if (result != DOCA_SUCCESS) {
		doca_mmap_destroy(self.mmap);
		self.mmap = NULL;
	}
	return result;
}

static doca_error_t serve_export_map(struct side_desc *desc)
{
	const void *bytes = NULL;
	doca_error_t result;

	result = doca_mmap_export_pci(self.mmap, self.rig.dev, &bytes, &desc->len);
	if (result == DOCA_SUCCESS)
		memcpy(desc->bytes, bytes, desc->len);
	return result;
}

static doca_error_t move(const struct rig_buf *buf, uint8_t *at, size_t len, bool fill)
{
	struct rig_copy copy = {buf->mmap, buf->bytes, self.mmap, at, len};

	if (fill)
		copy = (struct rig_copy){self.mmap, at, buf->mmap, buf->bytes, len};
	return rig_copy(&self.rig, &copy);
}

/* All of the map in pieces, each filled anew from a seed of its own. */
static doca_error_t walk(uint32_t seed, bool fill, const struct rig_buf *buf, uint8_t *wanted)
{
	doca_error_t result;
	uint8_t *addr;
	size_t len;

	result = doca_mmap_get_memrange(self.mmap, (void **)&addr, &len);
	for (size_t at = 0; at < len && result == DOCA_SUCCESS; at += PIECE) {
		size_t piece = len - at < PIECE ? len - at : PIECE;

		rig_fill(wanted, piece, seed + (uint32_t)(at / PIECE));
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
	struct rig_buf buf;
	doca_error_t result;

	if (!wanted)
		return DOCA_ERROR_NO_MEMORY;
	result = rig_buf_create(&self.rig, PIECE, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &buf);
	if (result == DOCA_SUCCESS) {
		result = walk(seed, fill, &buf, wanted);
		DOCA_ERROR_PROPAGATE(result, rig_buf_destroy(&buf));
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

static doca_error_t serve(int socket, const struct order *order, struct side_desc *desc)
{
	switch (order->op) {
	case OP_OPEN:
		return with_queue(rig_open_device(&self.rig.dev));
	case OP_ADOPT:
		return with_queue(dpumap_dev_receive(socket, &self.rig.dev));
	case OP_LEND:
		return dpumap_dev_send(self.rig.dev, socket);
	case OP_REGISTER:
		return serve_register(order);
	case OP_EXPORT:
		return dpumap_umem_export(self.umem, desc->bytes, sizeof(desc->bytes), &desc->len);
	case OP_IMPORT:
		return dpumap_umem_import(self.rig.dev, order->desc.bytes, order->desc.len,
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

bool mate_is_one(void)
{
	return getenv(SOCKET_ENV);
}

int mate_serve(void)
{
	int socket = rig_inherited(SOCKET_ENV);
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
	return self.rig.dev && rig_close(&self.rig) != DOCA_SUCCESS ? 3 : 0;
}

/* --- who tells it --------------------------------------------------------------------------------
 */

bool mate_start(struct mate *mate, const char *side)
{
	mate->pid = rig_spawn_self(side, SOCKET_ENV, &mate->socket);
	return mate->pid > 0;
}

bool mate_start_with(struct mate *mate, const char *side, const char *libraries)
{
	const char *before = getenv("LD_LIBRARY_PATH");
	char *kept = before ? strdup(before) : NULL;
	bool started;

	setenv("LD_LIBRARY_PATH", libraries, 1);
	started = mate_start(mate, side);
	if (kept)
		setenv("LD_LIBRARY_PATH", kept, 1);
	else
		unsetenv("LD_LIBRARY_PATH");
	free(kept);
	return started;
}

bool mate_finish(struct mate *mate)
{
	int status;

	close(mate->socket);
	status = rig_reap(mate->pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fprintf(stderr, "mate: status 0x%x\n", (unsigned int)status);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

bool mate_kill(struct mate *mate)
{
	int status;

	if (kill(mate->pid, SIGKILL))
		return false;
	close(mate->socket);
	status = rig_reap(mate->pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool tell(struct mate *mate, const struct order *order)
{
	return send(mate->socket, order, sizeof(*order), MSG_NOSIGNAL) == (ssize_t)sizeof(*order);
}

static doca_error_t hear(struct mate *mate, struct side_desc *desc)
{
	struct answer answer;

	if (recv(mate->socket, &answer, sizeof(answer), 0) != (ssize_t)sizeof(answer))
		return DOCA_ERROR_CONNECTION_RESET;
	if (desc)
		*desc = answer.desc;
	return answer.result;
}

static doca_error_t call(struct mate *mate, const struct order *order, struct side_desc *desc)
{
	return tell(mate, order) ? hear(mate, desc) : DOCA_ERROR_CONNECTION_RESET;
}

static doca_error_t call_simple(struct mate *mate, enum op op)
{
	return call(mate, &(struct order){.op = op}, NULL);
}

doca_error_t mate_open(struct mate *mate)
{
	return call_simple(mate, OP_OPEN);
}

doca_error_t mate_adopt(struct mate *mate, const struct doca_dev *dev)
{
	doca_error_t result;

	if (!tell(mate, &(struct order){.op = OP_ADOPT}))
		return DOCA_ERROR_CONNECTION_RESET;
	result = dpumap_dev_send(dev, mate->socket);
	return result == DOCA_SUCCESS ? hear(mate, NULL) : result;
}

doca_error_t mate_lend(struct mate *mate, struct doca_dev **dev)
{
	doca_error_t result;

	if (!tell(mate, &(struct order){.op = OP_LEND}))
		return DOCA_ERROR_CONNECTION_RESET;
	result = dpumap_dev_receive(mate->socket, dev);
	return result == DOCA_SUCCESS ? hear(mate, NULL) : result;
}

doca_error_t mate_register(struct mate *mate, uint32_t access, uint32_t seed)
{
	return call(mate, &(struct order){.op = OP_REGISTER, .access = access, .seed = seed}, NULL);
}

doca_error_t mate_export(struct mate *mate, struct side_desc *desc)
{
	return call(mate, &(struct order){.op = OP_EXPORT}, desc);
}

doca_error_t mate_import(struct mate *mate, const struct side_desc *desc)
{
	return call(mate, &(struct order){.op = OP_IMPORT, .desc = *desc}, NULL);
}

doca_error_t mate_unimport(struct mate *mate)
{
	return call_simple(mate, OP_UNIMPORT);
}

doca_error_t mate_deregister(struct mate *mate)
{
	return call_simple(mate, OP_DEREGISTER);
}

doca_error_t mate_map(struct mate *mate, size_t offset, size_t len, uint32_t access)
{
	struct order order = {.op = OP_MAP, .offset = offset, .len = len, .access = access};

	return call(mate, &order, NULL);
}

doca_error_t mate_export_map(struct mate *mate, struct side_desc *desc)
{
	return call(mate, &(struct order){.op = OP_EXPORT_MAP}, desc);
}

doca_error_t mate_unmap(struct mate *mate)
{
	return call_simple(mate, OP_UNMAP);
}

doca_error_t mate_check(struct mate *mate, uint32_t seed)
{
	return call(mate, &(struct order){.op = OP_CHECK, .seed = seed}, NULL);
}

doca_error_t mate_fill(struct mate *mate, uint32_t seed)
{
	return call(mate, &(struct order){.op = OP_FILL, .seed = seed}, NULL);
}
