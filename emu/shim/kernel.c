/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "emu/engine/doorbell.h"
#include "emu/engine/engine.h"
#include "emu/ipc/cpus.h"
#include "emu/ipc/event_file.h"
#include "emu/ipc/proto.h"
#include "emu/shim/channel.h"
#include "emu/shim/last_work.h"
#include "emu/shim/rdma_cm.h"
#include "emu/shim/server_exit.h"

#define CDEV_PREFIX "/dev/infiniband/uverbs"
#define CDEV_MAJOR  231
#define CDEV_MINOR  192
#define FILE_NAME   "uverbs"
#define NAME_ROOM   24
#define STACK_NEAR  16384
#define OWN_FDS	    "/proc/self/fd/"

static pthread_mutex_t engine_lock = PTHREAD_MUTEX_INITIALIZER; /* also for server_exit.c */

static void *raw_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd,
			       off); // NOLINT(performance-no-int-to-ptr)
}

static const char *name_of(unsigned int dev, char name[NAME_ROOM])
{
	snprintf(name, NAME_ROOM, FILE_NAME "%u", dev);
	return name;
}

bool emu_kernel_present(void)
{
	return getenv(EMU_ENV_DIR) && getenv(EMU_ENV_ROLE);
}

bool emu_kernel_is_path(const char *path, unsigned int *dev)
{
	size_t n = sizeof(CDEV_PREFIX) - 1;
	unsigned long v;
	char *end;

	if (path && !strcmp(path, EMU_RDMA_CM_PATH)) {
		*dev = EMU_KERNEL_RDMA_CM;
		return emu_kernel_present();
	}
	if (!path || strncmp(path, CDEV_PREFIX, n) != 0 || path[n] < '0' || path[n] > '9')
		return false;
	v = strtoul(path + n, &end, 10);
	*dev = (unsigned int)v;
	return !*end && v < 1024 && emu_kernel_present();
}

bool emu_kernel_is_fd(int fd)
{
	return emu_channel_is_file(fd, FILE_NAME, NULL);
}

int emu_kernel_open(unsigned int dev, int flags, int *fd)
{
	char name[NAME_ROOM];

	if (dev == EMU_KERNEL_RDMA_CM)
		return emu_rdma_cm_open(flags, fd);
	return emu_channel_open(name_of(dev, name), flags & O_CLOEXEC, fd);
}

static void describe_cdev(unsigned int dev, struct stat *st)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(CDEV_MAJOR, CDEV_MINOR + dev);
	st->st_size = 0;
}

int emu_kernel_stat(unsigned int dev, struct stat *st)
{
	char name[NAME_ROOM];
	int err;

	if (dev == EMU_KERNEL_RDMA_CM)
		return emu_rdma_cm_stat(st);
	err = emu_channel_stat(name_of(dev, name), st);
	if (!err)
		describe_cdev(dev, st);
	return err;
}

void emu_kernel_fix_stat(int fd, struct stat *st)
{
	unsigned int dev;

	if (S_ISFIFO(st->st_mode))
		emu_rdma_cm_fix_stat(fd, st);
	if (S_ISSOCK(st->st_mode) && emu_channel_is_file(fd, FILE_NAME, &dev))
		describe_cdev(dev, st);
}

const char *emu_kernel_name(const char *path, char room[PATH_MAX])
{
	struct stat st;
	const char *name = NULL;
	unsigned int dev;
	int saved = errno, fd;

	if (!path || strncmp(path, OWN_FDS, sizeof(OWN_FDS) - 1) != 0 || !emu_kernel_present())
		return NULL;
	fd = atoi(path + sizeof(OWN_FDS) - 1);
	if (emu_channel_is_file(fd, FILE_NAME, &dev)) {
		snprintf(room, PATH_MAX, CDEV_PREFIX "%u", dev);
		name = room;
	} else if (!syscall(SYS_fstat, fd, &st) && emu_event_file_is(&st)) {
		name = "anon_inode:[infinibandevent]";
	} else if (emu_rdma_cm_is_file(fd)) {
		name = EMU_RDMA_CM_PATH;
	}
	errno = saved;
	return name;
}

/* --- engine ----------------------------------------------------------------------------------- */

static void lock_before_fork(void)
{
	pthread_mutex_lock(&engine_lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&engine_lock);
}

static void child_after_fork(void)
{
	emu_server_exit_forget();
	emu_doorbells_forget();
	pthread_mutex_init(&engine_lock, NULL);
}

/* The server is called while the lock is held, so it is taken before the channels' one. */
static void init_once(void)
{
	emu_channel_init();
	pthread_atfork(lock_before_fork, unlock_after_fork, child_after_fork);
}

/* Block signals: a handler that used the device would deadlock. */
static void lock_engine(sigset_t *old)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t all;

	pthread_once(&once, init_once);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
	pthread_mutex_lock(&engine_lock);
}

static void unlock_engine(const sigset_t *old)
{
	pthread_mutex_unlock(&engine_lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static int map_segment(int fd, size_t len, int prot, void **p)
{
	void *m = raw_mmap(NULL, len, prot, MAP_SHARED, fd, 0);

	if (m == MAP_FAILED) // NOLINT(performance-no-int-to-ptr)
		return errno;
	syscall(SYS_madvise, m, len, MADV_DONTDUMP); /* a dump would fill the holes of the file */
	*p = m;
	return 0;
}

/*
 * The mappings and the socket, which the program does not see if the kernel can hide it, live as
 * long as the engine, until the process ends. If the server of
 * the first engine has ended, a new server may request a second engine.
 */
static int run_engine(void *arg, const struct emu_reply *rep, int *fds)
{
	const char *list = getenv(EMU_ENV_CPUS);
	struct emu_engine_config config = {0};
	struct emu_cpus cpus;
	void *tables = NULL, *queues = NULL, *dm = NULL;
	bool hidden = false;
	pid_t server;
	int err;

	(void)arg;
	if (rep->nfds != EMU_MAX_FDS)
		return EIO;
	err = map_segment(fds[0], sizeof(struct emu_tables), PROT_READ, &tables);
	if (!err)
		err = map_segment(fds[1], sizeof(struct emu_queues), PROT_READ | PROT_WRITE,
				  &queues);
	if (!err)
		err = map_segment(fds[2], EMU_DM_BYTES, PROT_READ | PROT_WRITE, &dm);
	if (err)
		return err;
	config.tables = tables;
	config.queues = queues;
	config.dm = dm;
	config.slot = (uint32_t)rep->val[0];
	config.doorbells_ino = rep->val[1];
	config.notify_fd = fds[3];
	config.took_fd = &hidden;
	config.cpus = list && emu_cpus_parse(list, &cpus) ? &cpus : NULL;
	server = emu_server_exit_pid(fds[3]);
	err = emu_engine_start(&config);
	if (err)
		return err;
	if (hidden)
		config.notify_fd = -1;
	fds[3] = -1;
	emu_server_exit_watch(&config, server);
	emu_last_work_begin(&config);
	emu_last_signal_begin();
	return 0;
}

/* Another thread's command may have started it in the meantime (EALREADY). */
static int start_engine(int fd)
{
	struct emu_server_call q;
	struct emu_reply rep;
	sigset_t old;
	int err;

	emu_server_call_init(&q, EMU_OP_ENGINE);
	q.take = run_engine;
	q.signals = &old;
	lock_engine(&old);
	err = emu_channel_ask(fd, FILE_NAME, &q, &rep, NULL);
	unlock_engine(&old);
	if (err || rep.error == EALREADY)
		return err;
	return rep.error;
}

/* --- commands --------------------------------------------------------------------------------- */

static bool map_part(uintptr_t at, int fd, uint64_t offset, uint64_t len)
{
	void *p = (void *)at; // NOLINT(performance-no-int-to-ptr)

	return fd < 0 || !len ||
	       raw_mmap(p, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			(off_t)(offset - offset % EMU_MAP_PAGE)) == p;
}

static void unmap(uint64_t at, uint64_t len)
{
	syscall(SYS_munmap, at, len);
}

/* The dma-bufs of a queue, side by side. */
static int map_buffers(struct emu_server_call *q, const struct emu_map *m)
{
	const uint64_t ring_len = emu_map_ring_len(m), len = emu_map_len(m);
	const uintptr_t at =
		(uintptr_t)raw_mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == (uintptr_t)MAP_FAILED)
		return ENOMEM;
	if (!map_part(at, m->ring_fd, m->ring_offset, ring_len) ||
	    !map_part(at + ring_len, m->dbr_fd, m->dbr_offset, len - ring_len)) {
		unmap(at, len);
		return ENOMEM;
	}
	q->packet.req.arg[2] = at;
	return 0;
}

/* What the server wants done before the command is sent again. */
static int prepare(int fd, struct emu_server_call *q, const struct emu_reply *rep,
		   struct emu_map *map)
{
	int err = 0;

	if (rep->flags & EMU_REPLY_MAP) {
		memcpy(map, rep->val, sizeof(*map));
		return map_buffers(q, map);
	}
	if (rep->flags & EMU_REPLY_ENGINE || !emu_last_work_possible())
		err = start_engine(fd);
	if (rep->flags & EMU_REPLY_LET_SEND) {
		emu_last_work_of_queue((uint32_t)rep->val[0]);
		q->packet.req.arg[1] = 1;
	}
	return err;
}

#define TO_PREPARE (EMU_REPLY_ENGINE | EMU_REPLY_LET_SEND | EMU_REPLY_MAP)

static int ask(int fd, struct emu_server_call *q, struct emu_reply *rep, int *fds)
{
	struct emu_map map = {.ring_fd = -1, .dbr_fd = -1};
	sigset_t old;
	int err;

	err = emu_channel_ask(fd, FILE_NAME, q, rep, fds);
	for (int i = 0; i < 2 && !err && rep->flags & TO_PREPARE; i++) {
		err = prepare(fd, q, rep, &map);
		if (!err)
			err = emu_channel_ask(fd, FILE_NAME, q, rep, fds);
	}
	if ((err || rep->error) && q->packet.req.arg[2])
		unmap(q->packet.req.arg[2], emu_map_len(&map));
	if (!err && !rep->error && rep->flags & EMU_REPLY_UNMAP)
		unmap(rep->val[0], rep->val[1]);
	if (err && err != EMU_NOT_OURS) {
		lock_engine(&old);
		emu_server_exit_handle(fd, q->packet.head, q->head_len);
		unlock_engine(&old);
	}
	return err;
}

static void store_fd(const struct emu_reply *rep, int fd)
{
	void *p = (void *)(uintptr_t)rep->val[0]; // NOLINT(performance-no-int-to-ptr)
	int64_t wide = fd;
	int32_t narrow = fd;

	emu_event_file_came(fd);
	if (rep->val[1] == sizeof(wide))
		memcpy(p, &wide, sizeof(wide));
	else
		memcpy(p, &narrow, sizeof(narrow));
}

/*
 * The library builds its commands on the stack, so the request includes the bytes there and the
 * server need not read them. Other addresses may have to fail with EFAULT, which the server finds
 * out.
 */
static void take_along(struct emu_server_call *q, const struct ib_uverbs_ioctl_hdr *hdr)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), at = (uintptr_t)hdr;

	if (at % _Alignof(struct ib_uverbs_ioctl_hdr) || at < here || at - here > STACK_NEAR ||
	    hdr->length > EMU_HEAD_MAX)
		return;
	q->head_len = hdr->length;
	memcpy(q->packet.head, hdr, q->head_len);
}

/*
 * To a program a server that has ended is a removed device, for which the kernel returns EIO. See
 * server_exit.h.
 */
bool emu_kernel_ioctl(int fd, void *hdr, int *error)
{
	struct emu_server_call q;
	struct emu_reply rep;
	int fds[EMU_MAX_FDS], saved = errno, err;

	emu_server_call_init(&q, EMU_OP_IOCTL);
	q.packet.req.arg[0] = (uintptr_t)hdr;
	take_along(&q, hdr);
	err = ask(fd, &q, &rep, fds);
	if (!err && !rep.error && rep.flags & EMU_REPLY_STORE_FD)
		store_fd(&rep, fds[0]);
	errno = saved;
	*error = err ? (err == EMFILE ? err : EIO) : rep.error;
	return err != EMU_NOT_OURS;
}

struct mapping {
	void *addr;
	size_t len;
	int prot, flags;
	void *at;  /* the result, */
	int error; /* and why it failed */
};

static int map_file(void *arg, const struct emu_reply *rep, int *fds)
{
	struct mapping *m = arg;

	if (rep->nfds != 1)
		return EIO;
	m->at = raw_mmap(m->addr, m->len, m->prot, m->flags, fds[0], (off_t)rep->val[0]);
	m->error = m->at == MAP_FAILED ? errno : 0; // NOLINT(performance-no-int-to-ptr)
	if (!m->error && rep->flags & EMU_REPLY_DOORBELL)
		emu_doorbells_mapped();
	return 0;
}

int emu_kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off, void **p)
{
	struct mapping m = {addr, len, prot, flags, NULL, 0};
	struct emu_server_call q;
	struct emu_reply rep;

	if (!(flags & MAP_SHARED))
		return EINVAL;
	emu_server_call_init(&q, EMU_OP_MMAP);
	q.packet.req.arg[0] = (uint64_t)off;
	q.packet.req.arg[1] = len;
	q.packet.req.arg[2] = (uint64_t)prot;
	q.take = map_file;
	q.arg = &m;
	if (ask(fd, &q, &rep, NULL))
		return EIO;
	if (rep.error)
		return rep.error;
	*p = m.at;
	return m.error;
}
