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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "emu/engine/engine.h"
#include "emu/ipc/access.h"
#include "emu/ipc/proto.h"
#include "emu/ipc/sock.h"
#include "emu/shim/server_exit.h"

#define CDEV_PREFIX	"/dev/infiniband/uverbs"
#define CDEV_MAJOR	231
#define CDEV_MINOR	192
#define MAX_ATTACHMENTS 256
#define NOT_OURS	(-1) /* distinct from all errno values */
#define STACK_NEAR	16384

/*
 * This process's channel to one open file description, identified by its socket's inode. The
 * channel has an inode too: a program that closes descriptors it does not know may have made
 * another file of its number.
 */
struct attachment {
	dev_t dev;
	ino_t ino;
	int fd;
	ino_t fd_ino;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct attachment attached[MAX_ATTACHMENTS];
static unsigned int nattached;

/* Direct system calls: the functions are interposed, by us or by a sanitizer. */
static int raw_fstat(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st) ? errno : 0;
}

static int raw_socket(int type)
{
	return (int)syscall(SYS_socket, AF_UNIX, type | SOCK_CLOEXEC, 0);
}

static void *raw_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd,
			       off); // NOLINT(performance-no-int-to-ptr)
}

static int device_path(unsigned int dev, struct sockaddr_un *sa)
{
	const char *dir = getenv(EMU_ENV_DIR), *role = getenv(EMU_ENV_ROLE);
	int n;

	if (!dir || !role)
		return ENOENT;
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	n = snprintf(sa->sun_path, sizeof(sa->sun_path), "%s/%s/uverbs%u", dir, role, dev);
	return n < 0 || n > EMU_PATH_MAX ? ENAMETOOLONG : 0;
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

	if (!path || strncmp(path, CDEV_PREFIX, n) != 0 || path[n] < '0' || path[n] > '9')
		return false;
	v = strtoul(path + n, &end, 10);
	*dev = (unsigned int)v;
	return !*end && v < 1024 && emu_kernel_present();
}

/* The number of the emulated device behind a socket, or -1. */
static int device_of(int fd)
{
	const char *dir = getenv(EMU_ENV_DIR);
	struct sockaddr_un sa = {0};
	socklen_t len = sizeof(sa);
	int saved = errno, dev = -1;
	const char *name;
	size_t n;

	if (!dir || getpeername(fd, (struct sockaddr *)&sa, &len) || sa.sun_family != AF_UNIX)
		goto out;
	sa.sun_path[sizeof(sa.sun_path) - 1] = '\0';
	n = strlen(dir);
	name = strrchr(sa.sun_path, '/');
	if (strncmp(sa.sun_path, dir, n) != 0 || sa.sun_path[n] != '/' || !name)
		goto out;
	if (sscanf(name, "/uverbs%d", &dev) != 1) // NOLINT(cert-err34-c)
		dev = -1;
out:
	errno = saved;
	return dev;
}

bool emu_kernel_is_fd(int fd)
{
	return fd >= 0 && device_of(fd) >= 0;
}

int emu_kernel_open(unsigned int dev, int flags, int *fd)
{
	struct sockaddr_un sa;
	int s, err;

	err = device_path(dev, &sa);
	if (err)
		return err;
	s = raw_socket(SOCK_SEQPACKET);
	if (s < 0)
		return errno;
	if (connect(s, (struct sockaddr *)&sa, sizeof(sa))) {
		err = errno == ECONNREFUSED ? ENXIO : errno;
		close(s);
		return err;
	}
	if (!emu_access_check_peer(s)) {
		close(s);
		return EACCES;
	}
	if (!(flags & O_CLOEXEC))
		fcntl(s, F_SETFD, 0);
	*fd = s;
	return 0;
}

static void describe_cdev(unsigned int dev, struct stat *st)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(CDEV_MAJOR, CDEV_MINOR + dev);
	st->st_size = 0;
}

int emu_kernel_stat(unsigned int dev, struct stat *st)
{
	struct sockaddr_un sa;
	int err;

	err = device_path(dev, &sa);
	if (err)
		return err;
	if (syscall(SYS_newfstatat, AT_FDCWD, sa.sun_path, st, 0))
		return errno;
	describe_cdev(dev, st);
	return 0;
}

void emu_kernel_fix_stat(int fd, struct stat *st)
{
	int dev;

	if (!S_ISSOCK(st->st_mode))
		return;
	dev = device_of(fd);
	if (dev >= 0)
		describe_cdev((unsigned int)dev, st);
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return raw_fstat(fd, &st) ? 0 : st.st_ino;
}

static bool is_ours(const struct attachment *a)
{
	return a->fd >= 0 && inode_of(a->fd) == a->fd_ino;
}

static void close_own(const struct attachment *a)
{
	if (is_ours(a))
		close(a->fd);
}

/*
 * A forked child must not use the parent's channels: the server takes their process for the
 * sender, and detects the parent's end by them.
 */
static void child_after_fork(void)
{
	unsigned int i;

	for (i = 0; i < nattached; i++)
		close_own(&attached[i]);
	nattached = 0;
	emu_server_exit_forget();
	pthread_mutex_init(&lock, NULL);
}

static void lock_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void init_once(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, child_after_fork);
	/*
	 * If Yama restricts ptrace, let the server and other engines access our memory, as a
	 * device would.
	 */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

struct question {
	struct emu_packet packet;
	size_t head_len;
};

static void ask(struct question *q, enum emu_op op)
{
	q->packet.req = (struct emu_request){.magic = EMU_MAGIC, .op = op};
	q->head_len = 0;
}

static int call(int channel, const struct question *q, struct emu_reply *rep, int *fds)
{
	unsigned int nfds;
	ssize_t n;
	int err;

	err = emu_sock_send(channel, &q->packet, sizeof(q->packet.req) + q->head_len, NULL, 0);
	if (err)
		return err;
	n = emu_sock_recv(channel, rep, sizeof(*rep), fds, EMU_MAX_FDS, &nfds, NULL);
	err = n < 0 ? (int)-n : 0;
	if (!err && (n != sizeof(*rep) || rep->magic != EMU_MAGIC || nfds > rep->nfds))
		err = EIO;
	/* The kernel drops those for which the process has no number left. */
	if (!err && nfds < rep->nfds)
		err = EMFILE;
	while (err && n > 0 && nfds)
		close(fds[--nfds]);
	return err;
}

static void detach(unsigned int i)
{
	close_own(&attached[i]);
	attached[i] = attached[--nattached];
}

static bool hung_up(const struct attachment *a)
{
	ssize_t n;
	char c;

	if (!is_ours(a))
		return true;
	n = recv(a->fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Forget the channels of closed devices: the server has hung up on them. */
static void sweep(void)
{
	unsigned int i = 0;

	while (i < nattached) {
		if (hung_up(&attached[i]))
			detach(i);
		else
			i++;
	}
}

/* Once, although libraries try again. */
static void explain_refusal(int err)
{
	static pid_t told;

	if (told == getpid())
		return;
	told = getpid();
	if (err == ESRCH)
		fprintf(stderr,
			"dpumap-emu: process %d is in another PID namespace than the emulator; "
			"start an emulator in that namespace, with a directory of its own "
			"(--dir)\n",
			(int)getpid());
	else
		fprintf(stderr,
			"dpumap-emu: the emulator cannot reach the memory of process %d: %s\n",
			(int)getpid(), strerror(err));
}

/*
 * Attach this process to an open file description that it holds. The server reads the cookie to
 * prove that it can access our memory, and compares our number with the one that it sees.
 */
static int attach(int fd, const struct stat *st, int *channel)
{
	uint64_t cookie = 0x656d756c00000000ull | (uint32_t)getpid();
	struct emu_request req = {
		.magic = EMU_MAGIC,
		.op = EMU_OP_ATTACH,
		.arg = {(uintptr_t)&cookie, cookie, st->st_ino},
	};
	struct emu_reply rep;
	unsigned int nfds;
	int fds[EMU_MAX_FDS], pair[2], err;
	ssize_t n;

	sweep();
	if (nattached == MAX_ATTACHMENTS)
		return EMFILE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return errno;
	err = emu_sock_send(fd, &req, sizeof(req), &pair[1], 1);
	close(pair[1]);
	if (err)
		goto close_channel;
	n = emu_sock_recv(pair[0], &rep, sizeof(rep), fds, EMU_MAX_FDS, &nfds, NULL);
	if (n != sizeof(rep) || rep.magic != EMU_MAGIC) {
		err = EIO;
		goto close_channel;
	}
	if (rep.error) {
		err = rep.error;
		explain_refusal(err);
		goto close_channel;
	}
	attached[nattached++] = (struct attachment){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.fd = pair[0],
		.fd_ino = inode_of(pair[0]),
	};
	*channel = pair[0];
	return 0;

close_channel:
	close(pair[0]);
	return err;
}

/* A known socket need not be asked for its peer's address again. */
static int channel_of(int fd, int *channel)
{
	struct stat st;
	unsigned int i;

	if (raw_fstat(fd, &st))
		return NOT_OURS;
	for (i = 0; i < nattached; i++) {
		if (attached[i].dev != st.st_dev || attached[i].ino != st.st_ino)
			continue;
		if (!is_ours(&attached[i])) {
			detach(i);
			break;
		}
		*channel = attached[i].fd;
		return 0;
	}
	if (device_of(fd) < 0)
		return NOT_OURS;
	return attach(fd, &st, channel);
}

static int map_segment(int fd, size_t len, int prot, void **p)
{
	void *m = raw_mmap(NULL, len, prot, MAP_SHARED, fd, 0);

	if (m == MAP_FAILED) // NOLINT(performance-no-int-to-ptr)
		return errno;
	*p = m;
	return 0;
}

/*
 * The mappings and the socket live as long as the engine, until the process ends. If the server of
 * the first engine has ended, a new server may request a second engine.
 */
static int start_engine(int channel)
{
	struct question q;
	struct emu_engine_config config = {0};
	void *tables = NULL, *queues = NULL, *dm = NULL;
	struct emu_reply rep;
	int fds[EMU_MAX_FDS], err, i;

	ask(&q, EMU_OP_ENGINE);
	err = call(channel, &q, &rep, fds);
	if (err)
		return err;
	if (rep.error)
		return rep.error;
	if (rep.nfds != EMU_MAX_FDS)
		return EIO;
	err = map_segment(fds[0], sizeof(struct emu_tables), PROT_READ, &tables);
	if (!err)
		err = map_segment(fds[1], sizeof(struct emu_queues), PROT_READ | PROT_WRITE,
				  &queues);
	if (!err)
		err = map_segment(fds[2], EMU_MAX_CARDS * EMU_DM_STRIDE, PROT_READ | PROT_WRITE,
				  &dm);
	if (!err) {
		config.tables = tables;
		config.queues = queues;
		config.dm = dm;
		config.slot = (uint32_t)rep.val[0];
		config.notify_fd = fds[3];
		err = emu_engine_start(&config);
	}
	for (i = 0; i < EMU_MAX_FDS - 1; i++)
		close(fds[i]);
	if (err)
		close(fds[3]);
	else
		emu_server_exit_watch(&config);
	return err;
}

static int request(int fd, const struct question *q, struct emu_reply *rep, int *fds)
{
	int channel = -1, err;

	err = channel_of(fd, &channel);
	if (err)
		return err;
	err = call(channel, q, rep, fds);
	if (err == EPIPE || err == ECONNRESET) {
		/* A closed device had this inode number before. */
		sweep();
		err = channel_of(fd, &channel);
		if (!err)
			err = call(channel, q, rep, fds);
	}
	if (err || !(rep->flags & EMU_REPLY_ENGINE))
		return err;
	err = start_engine(channel);
	return err ? err : call(channel, q, rep, fds);
}

/* Block signals: a handler that used the device would deadlock, or interrupt the exchange. */
static int request_locked(int fd, const struct question *q, struct emu_reply *rep, int *fds)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t all, old;
	int err;

	pthread_once(&once, init_once);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_mutex_lock(&lock);
	err = request(fd, q, rep, fds);
	if (err && err != NOT_OURS)
		emu_server_exit_settle(fd, q->packet.head, q->head_len);
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

static void store_fd(const struct emu_reply *rep, int fd)
{
	void *p = (void *)(uintptr_t)rep->val[0]; // NOLINT(performance-no-int-to-ptr)
	int64_t wide = fd;
	int32_t narrow = fd;

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
static void take_along(struct question *q, const struct ib_uverbs_ioctl_hdr *hdr)
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
	struct question q;
	struct emu_reply rep;
	int fds[EMU_MAX_FDS], saved = errno, err;

	ask(&q, EMU_OP_IOCTL);
	q.packet.req.arg[0] = (uintptr_t)hdr;
	take_along(&q, hdr);
	err = request_locked(fd, &q, &rep, fds);
	if (!err && !rep.error && rep.flags & EMU_REPLY_STORE_FD)
		store_fd(&rep, fds[0]);
	errno = saved;
	*error = err ? (err == EMFILE ? err : EIO) : rep.error;
	return err != NOT_OURS;
}

int emu_kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off, void **p)
{
	struct question q;
	struct emu_reply rep;
	int fds[EMU_MAX_FDS], saved = errno, err = 0;

	if (!(flags & MAP_SHARED))
		return EINVAL;
	ask(&q, EMU_OP_MMAP);
	q.packet.req.arg[0] = (uint64_t)off;
	q.packet.req.arg[1] = len;
	q.packet.req.arg[2] = (uint64_t)prot;
	if (request_locked(fd, &q, &rep, fds))
		return EIO;
	if (rep.error)
		return rep.error;
	*p = raw_mmap(addr, len, prot, flags, fds[0], (off_t)rep.val[0]);
	if (*p == MAP_FAILED) // NOLINT(performance-no-int-to-ptr)
		err = errno;
	close(fds[0]);
	if (!err)
		errno = saved;
	return err;
}
