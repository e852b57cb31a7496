/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/server_exit.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "base/array.h"
#include "emu/ipc/grace.h"
#include "emu/ipc/unmap.h"

/* A server that gave this process an engine: it has ended when the engine's socket hangs up. */
struct served {
	struct served *next;
	struct emu_queues *queues;
	uint32_t slot;
	uint32_t serial;
	int fd;	      /* -1: only the engine has it */
	uint64_t ino; /* of the socket: its number may stand for another file by now */
	pid_t pid;
	bool ended;
	uint32_t gave_up_at[EMU_MAX_ENGINES];
	uint32_t not_unmapped_at[EMU_MAX_ENGINES];
};

#define HANG_UP_MS 2000

static struct served *served;

static uint64_t inode_of(int fd)
{
	struct stat st;

	return syscall(SYS_fstat, fd, &st) ? 0 : st.st_ino;
}

pid_t emu_server_exit_pid(int socket)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? 0 : peer.pid;
}

void emu_server_exit_watch(const struct emu_engine_config *config, pid_t server)
{
	struct served *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	s->queues = config->queues;
	s->slot = config->slot;
	s->serial = atomic_load(&config->queues->engine[config->slot].serial);
	s->fd = config->notify_fd;
	s->ino = s->fd < 0 ? 0 : inode_of(s->fd);
	s->pid = server;
	s->next = served;
	served = s;
}

void emu_server_exit_forget(void)
{
	while (served) {
		struct served *s = served;

		served = s->next;
		if (s->ino && inode_of(s->fd) == s->ino)
			close(s->fd);
		free(s);
	}
}

static bool socket_hung_up(const struct served *s)
{
	struct pollfd hangup = {.fd = s->fd};

	return inode_of(s->fd) == s->ino && poll(&hangup, 1, HANG_UP_MS) == 1 &&
	       hangup.revents & POLLHUP;
}

/* The engine looks at its socket when it wakes, but not each time. */
static bool engine_is_orphaned(const struct served *s)
{
	struct emu_engine *e = &s->queues->engine[s->slot];
	const struct timespec pause = {.tv_nsec = 1000000};

	for (unsigned int ms = 0; ms < HANG_UP_MS && !atomic_load(&e->orphaned); ms++) {
		atomic_fetch_add(&e->wake, 1);
		syscall(SYS_futex, &e->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
		nanosleep(&pause, NULL);
	}
	return atomic_load(&e->orphaned);
}

/*
 * This must be certain, as all engines will be told. A process that ends closes one socket after
 * the other, and the device's may be first.
 */
static bool has_ended(const struct served *s)
{
	return (s->ino ? socket_hung_up(s) : engine_is_orphaned(s)) &&
	       atomic_load(&s->queues->engine[s->slot].serial) == s->serial;
}

/* Each engine sees it when it begins its next pass; it unmaps and copies nothing from then on. */
static void mark_ended(struct served *s)
{
	s->ended = true;
	atomic_store(&s->queues->server_ended, 1); /* server_exit.pml: mark_ended */
	/* server_exit.pml: mark_wait */
	emu_grace_wait(s->queues, s->gave_up_at, emu_engine_ended);
	emu_unmap_wait(s->queues, s->not_unmapped_at, emu_engine_ended);
}

/* The handle of the object that a command destroys, if it may be a queue. */
static bool destroys(const uint8_t *head, size_t len, uint32_t *handle)
{
	static const struct {
		uint16_t object, method, attr;
	} methods[] = {
		{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, UVERBS_ATTR_DESTROY_CQ_HANDLE},
		{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE},
		{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, UVERBS_ATTR_DESTROY_SRQ_HANDLE},
		{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
		 MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE},
	};
	struct ib_uverbs_ioctl_hdr h;
	struct ib_uverbs_attr a;
	size_t m = 0, i;

	if (len < sizeof(h))
		return false;
	memcpy(&h, head, sizeof(h));
	while (m < ARRAY_SIZE(methods) &&
	       (methods[m].object != h.object_id || methods[m].method != h.method_id))
		m++;
	if (m == ARRAY_SIZE(methods))
		return false;
	for (i = 0; i < h.num_attrs && sizeof(h) + (i + 1) * sizeof(a) <= len; i++) {
		memcpy(&a, head + sizeof(h) + i * sizeof(a), sizeof(a));
		*handle = (uint32_t)a.data;
		if (a.attr_id == methods[m].attr)
			return true;
	}
	return false;
}

/* Only queues of this process's engine: other processes own the memory of theirs. */
static void retire(struct served *s, uint64_t ino, uint32_t handle)
{
	struct emu_queues *q = s->queues;
	const struct {
		void *first;
		size_t size;
		uint32_t n;
	} tables[] = {
		{q->cq, sizeof(q->cq[0]), atomic_load(&q->cq_high)},
		{q->srq, sizeof(q->srq[0]), atomic_load(&q->srq_high)},
		{q->qp, sizeof(q->qp[0]), atomic_load(&q->qp_high)},
	};
	struct emu_queue seen;

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (size_t i = 0; i < tables[t].n; i++) {
			uint8_t *entry = (uint8_t *)tables[t].first + i * tables[t].size;

			memcpy(&seen, entry, sizeof(seen));
			if (seen.engine == s->slot && seen.file == ino && seen.handle == handle)
				/* server_exit.pml: retire */
				atomic_store((_Atomic uint32_t *)(void *)entry, 0);
		}
	}
	atomic_fetch_add(&q->engine[s->slot].change, 1);
	/* server_exit.pml: retire_wait */
	emu_grace_wait(q, s->gave_up_at, emu_engine_ended);
}

void emu_server_exit_handle(int fd, const uint8_t *head, size_t len)
{
	uint64_t ino = inode_of(fd);
	pid_t server = emu_server_exit_pid(fd);
	uint32_t handle;

	for (struct served *s = served; s; s = s->next) {
		if (s->pid != server || (!s->ended && !has_ended(s)))
			continue;
		if (!s->ended)
			mark_ended(s);
		if (ino && destroys(head, len, &handle))
			retire(s, ino, handle);
	}
	/* server_exit.pml: returned */
}
