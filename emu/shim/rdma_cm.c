/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/rdma_cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#include "emu/ipc/proto.h"
#include "emu/ipc/rdma_cm.h"
#include "emu/ipc/sock.h"
#include "emu/shim/channel.h"
#include "emu/shim/interpose.h"
#include "emu/shim/last_work.h"
#include "emu/shim/wait.h"

#define IDLE_MAX 16

/* A program that closes descriptors it does not know may have made another file of the number. */
struct link {
	int fd;
	ino_t ino;
};

/* This process's idle connections to the server. A program without an event channel has none. */
static struct {
	pthread_mutex_t lock;
	pid_t pid;
	atomic_uint n;
	struct link idle[IDLE_MAX];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ino_t inode_of(int fd)
{
	struct stat st;

	return syscall(SYS_fstat, fd, &st) ? 0 : st.st_ino;
}

/* --- connections ------------------------------------------------------------------------------ */

/* Not by close(), which takes the lock of the channels: fork() may take that one before the pool's. */
static void close_link(const struct link *l)
{
	if (inode_of(l->fd) == l->ino)
		syscall(SYS_close, l->fd);
}

static void empty_pool(void)
{
	while (pool.n)
		close_link(&pool.idle[--pool.n]);
}

/* The server takes the process that connected for the sender: a child connects anew. */
static void child_after_fork(void)
{
	empty_pool();
	pthread_mutex_init(&pool.lock, NULL);
}

static void lock_before_fork(void)
{
	pthread_mutex_lock(&pool.lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&pool.lock);
}

static void init_once(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, child_after_fork);
	/* If Yama restricts ptrace, let the server access our memory, as a kernel does. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static int connect_link(struct link *l)
{
	int fd, err = emu_channel_connect(EMU_RDMA_CM_NAME, 0, &fd);

	if (err)
		return err;
	l->fd = emu_channel_raise(fd);
	l->ino = inode_of(l->fd);
	return 0;
}

static bool take_idle(struct link *l)
{
	bool found = false;

	pthread_mutex_lock(&pool.lock);
	if (pool.pid != getpid())
		empty_pool();
	pool.pid = getpid();
	while (!found && pool.n) {
		*l = pool.idle[--pool.n];
		found = inode_of(l->fd) == l->ino;
	}
	pthread_mutex_unlock(&pool.lock);
	return found;
}

static void give_back(const struct link *l)
{
	bool kept;

	pthread_mutex_lock(&pool.lock);
	kept = pool.n < IDLE_MAX;
	if (kept)
		pool.idle[pool.n++] = *l;
	pthread_mutex_unlock(&pool.lock);
	if (!kept)
		close(l->fd);
}

bool emu_rdma_cm_is_used(void)
{
	return atomic_load_explicit(&pool.n, memory_order_relaxed);
}

/* A child of vfork() sees the links of its parent. */
void emu_rdma_cm_close_idle(void)
{
	int saved = errno;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(&pool.lock);
	if (pool.pid == getpid())
		empty_pool();
	pthread_mutex_unlock(&pool.lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
}

static int call(const struct link *l, const sigset_t *open, const struct emu_rdma_cm_request *q,
		struct emu_reply *rep, int *fd)
{
	unsigned int nfds;
	ssize_t n;
	int err;

	err = emu_sock_send(l->fd, q, sizeof(*q), NULL, 0);
	if (err)
		return err;
	emu_answer_await(l->fd, 0, open);
	n = emu_sock_recv(l->fd, rep, sizeof(*rep), fd, fd ? 1 : 0, &nfds, NULL);
	if (n == sizeof(*rep) && rep->magic == EMU_MAGIC && nfds <= rep->nfds)
		return nfds < rep->nfds ? EMFILE : 0;
	if (fd && nfds)
		close(*fd);
	return n < 0 ? (int)-n : EPIPE;
}

/* An idle connection may be one to a server that has ended since. */
static int exchange(const sigset_t *open, const struct emu_rdma_cm_request *q,
		    struct emu_reply *rep, int *fd)
{
	struct link l;
	int err = EPIPE;

	while ((err == EPIPE || err == ECONNRESET) && take_idle(&l)) {
		err = call(&l, open, q, rep, fd);
		if (err)
			close(l.fd);
	}
	if (err == EPIPE || err == ECONNRESET) {
		err = connect_link(&l);
		if (err)
			return err;
		err = call(&l, open, q, rep, fd);
		if (err)
			close(l.fd);
	}
	if (!err)
		give_back(&l);
	return err;
}

/* A signal handler that used the device would deadlock; a cancelled thread would leave its answer. */
static int ask(const struct emu_rdma_cm_request *q, struct emu_reply *rep, int *fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t all, old;
	int err, cancel;

	pthread_once(&once, init_once);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	err = exchange(&old, q, rep, fd);
	pthread_setcancelstate(cancel, &cancel);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	/* To a program a server that has ended is a removed device, for which the kernel says EIO. */
	if (err && err != EMFILE && q->op == EMU_RDMA_CM_WRITE)
		err = EIO;
	return err ? err : rep->error;
}

/* --- files ------------------------------------------------------------------------------------ */

int emu_rdma_cm_open(int flags, int *fd)
{
	const struct emu_rdma_cm_request q = {.magic = EMU_MAGIC, .op = EMU_RDMA_CM_OPEN};
	struct emu_reply rep;
	int err;

	err = ask(&q, &rep, fd);
	if (err)
		return err;
	if (rep.nfds != 1)
		return EIO;
	if (!(flags & O_CLOEXEC))
		fcntl(*fd, F_SETFD, 0);
	if (flags & O_NONBLOCK)
		fcntl(*fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static void describe(struct stat *st)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(EMU_RDMA_CM_MAJOR, EMU_RDMA_CM_MINOR);
	st->st_size = 0;
}

int emu_rdma_cm_stat(struct stat *st)
{
	const char *dir = getenv(EMU_ENV_DIR), *role = getenv(EMU_ENV_ROLE);
	char path[EMU_PATH_MAX + 1];
	int n;

	if (!dir || !role)
		return ENOENT;
	n = snprintf(path, sizeof(path), "%s/%s/" EMU_RDMA_CM_NAME, dir, role);
	if (n < 0 || n > EMU_PATH_MAX)
		return ENAMETOOLONG;
	if (syscall(SYS_newfstatat, AT_FDCWD, path, st, 0))
		return errno;
	describe(st);
	return 0;
}

static bool has_name(int fd)
{
	char link[32], path[512];
	int saved = errno;
	const char *name;
	long n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	errno = saved;
	if (n < 0)
		return false;
	path[n] = '\0';
	name = strrchr(path, '/');
	return name && !strncmp(name + 1, EMU_RDMA_CM_FIFO, sizeof(EMU_RDMA_CM_FIFO) - 1);
}

void emu_rdma_cm_fix_stat(int fd, struct stat *st)
{
	if (S_ISFIFO(st->st_mode) && getenv(EMU_ENV_ROLE) && has_name(fd))
		describe(st);
}

bool emu_rdma_cm_is_file(int fd)
{
	struct stat st;
	int saved = errno;
	bool is_fifo = !syscall(SYS_fstat, fd, &st) && S_ISFIFO(st.st_mode);

	errno = saved;
	return is_fifo && has_name(fd);
}

/* --- commands --------------------------------------------------------------------------------- */

/* The program's own descriptor stays open. */
static void close_held(void *arg)
{
	NEXT(close)(*(int *)arg);
}

/* How rdma_get_cm_event() asks; rdma_user_cm.h. */
struct get_event {
	struct rdma_ucm_cmd_hdr hdr;
	struct rdma_ucm_get_event cmd;
};

/*
 * Programs ask for an event again and again, and the FIFO says whether one waits. If anything else may be wrong, the
 * server is asked.
 */
static bool finds_no_event(int fd, const void *buf, size_t len)
{
	struct pollfd events = {.fd = fd, .events = POLLIN};
	struct get_event request;
	const struct iovec from = {(void *)(uintptr_t)buf, sizeof(request)};
	const struct iovec to = {&request, sizeof(request)};
	struct timespec now = {0};

	return len == sizeof(request) && emu_rdma_cm_is_file(fd) &&
	       process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(request) &&
	       request.hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT &&
	       request.hdr.in == sizeof(request.cmd) &&
	       request.hdr.out >= offsetof(struct rdma_ucm_event_resp, reserved) &&
	       syscall(SYS_ppoll, &events, 1ul, &now, NULL, 0ul) == 0;
}

/* EBADF: the descriptor is not an open rdma_cm. */
static int command(int fd, const void *buf, size_t len)
{
	struct emu_rdma_cm_request q = {.magic = EMU_MAGIC, .op = EMU_RDMA_CM_WRITE};
	struct emu_reply rep = {0};
	struct stat st;
	int flags, err;

	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || syscall(SYS_fstat, fd, &st) ||
	    !S_ISFIFO(st.st_mode) || !getenv(EMU_ENV_DIR) || !getenv(EMU_ENV_ROLE))
		return EBADF;
	if (flags & O_NONBLOCK && finds_no_event(fd, buf, len))
		return EAGAIN;
	q.dev = st.st_dev;
	q.ino = st.st_ino;
	q.addr = (uintptr_t)buf;
	q.len = len;
	while ((err = ask(&q, &rep, NULL)) == EAGAIN) {
		if (rep.flags & EMU_REPLY_LET_SEND) {
			emu_last_work_of_queue((uint32_t)rep.val[0]);
			q.again = 1;
			continue;
		}
		flags = fcntl(fd, F_GETFL);
		err = flags & O_NONBLOCK ? EAGAIN : emu_pipe_wait(fd, NULL);
		if (err)
			return err;
	}
	if (!err && rep.flags & EMU_REPLY_LET_PASS)
		emu_last_work_let_pass();
	return err;
}

static ssize_t write_file(int fd, const void *buf, size_t len)
{
	int err = command(fd, buf, len);

	if (err == EBADF)
		return NEXT(write)(fd, buf, len);
	if (!err)
		return (ssize_t)len;
	errno = err;
	return -1;
}

/*
 * Another thread may close the descriptor meanwhile and open another file of its number. The command goes
 * on with the file that it began with, as in the kernel; with a full table of files, with the descriptor.
 */
EXPORT ssize_t write(int fd, const void *buf, size_t len)
{
	ssize_t n = NEXT(write)(fd, buf, len);
	int held;

	if (n >= 0 || errno != EBADF)
		return n;
	held = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (held < 0) {
		if (errno == EBADF)
			return -1;
		return write_file(fd, buf, len);
	}
	pthread_cleanup_push(close_held, &held);
	n = write_file(held, buf, len);
	pthread_cleanup_pop(1);
	return n;
}
