/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/ipc/access.h"
#include "emu/ipc/sock.h"
#include "emu/shim/refusal.h"
#include "emu/shim/server_exit.h"
#include "emu/shim/wait.h"

#define BUCKETS	     64u
#define PARALLEL     16u /* channels of one file: the server has one thread */
#define SWEEP_STEP   16u
#define HELPERS_PART 16u /* of all numbers of descriptors */

/*
 * A channel belongs to one open file description, identified by its socket's inode. The channel has
 * an inode too: a program that closes descriptors it does not know may have made another file of its
 * number. A busy channel belongs to the thread that took it.
 */
struct channel {
	struct channel *next;
	dev_t dev;
	ino_t ino;
	const char *name;
	int fd;
	ino_t fd_ino;
	pid_t server;
	int server_end;	 /* until the server has it; else -1 */
	uint64_t serial; /* an inode's number may stand for a newer file */
	bool busy;
	bool maybe_closed; /* the program closed a descriptor of the file, which has others */
};

/* fork() takes it too: what is in the table, a child closes. Never held while waiting for a reply. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static struct channel *table[BUCKETS];
static atomic_uint nchannels;
static unsigned int nwaiting;
static unsigned int nmaybe_closed;
static unsigned int sweep_at = SWEEP_STEP; /* the number of channels */
static uint64_t last_serial;
static pid_t owner; /* of the table: a child of vfork() sees it too */

/* Direct system calls: the functions are interposed, by us or by a sanitizer. */
static int raw_fstat(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st) ? errno : 0;
}

static void raw_close(int fd)
{
	syscall(SYS_close, fd);
}

static rlim_t lowest_helper(void)
{
	struct rlimit files;
	rlim_t limit = FD_SETSIZE; /* the kernel's table is as long as the highest number */

	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < limit)
		limit = files.rlim_cur;
	return limit - limit / HELPERS_PART;
}

int emu_channel_raise(int fd)
{
	int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest_helper());

	if (high < 0)
		return fd;
	raw_close(fd);
	return high;
}

static int raw_socket(int type)
{
	return (int)syscall(SYS_socket, AF_UNIX, type | SOCK_CLOEXEC, 0);
}

/* A sanitizer that had seen these descriptors created would miss their close. */
static int raw_socketpair(int pair[2])
{
	return syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ? errno : 0;
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return raw_fstat(fd, &st) ? 0 : st.st_ino;
}

/* --- files ------------------------------------------------------------------------------------ */

static int address_of(const char *name, struct sockaddr_un *sa)
{
	const char *dir = getenv(EMU_ENV_DIR), *role = getenv(EMU_ENV_ROLE);
	int n;

	if (!dir || !role)
		return ENOENT;
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	n = snprintf(sa->sun_path, sizeof(sa->sun_path), "%s/%s/%s", dir, role, name);
	return n < 0 || n > EMU_PATH_MAX ? ENAMETOOLONG : 0;
}

int emu_channel_connect(const char *name, int flags, int *fd)
{
	struct sockaddr_un sa;
	int s, err;

	err = address_of(name, &sa);
	if (err)
		return err;
	s = raw_socket(SOCK_SEQPACKET | flags);
	if (s < 0)
		return errno;
	if (connect(s, (struct sockaddr *)&sa, sizeof(sa)))
		err = errno;
	else if (!emu_access_check_peer(s))
		err = EACCES;
	if (err) {
		raw_close(s);
		emu_refusal_print_lost(err);
		return err == ECONNREFUSED ? ENXIO : err;
	}
	*fd = s;
	return 0;
}

int emu_channel_open(const char *name, int flags, int *fd)
{
	int err = emu_channel_connect(name, flags & O_NONBLOCK ? SOCK_NONBLOCK : 0, fd);

	if (!err && !(flags & O_CLOEXEC))
		fcntl(*fd, F_SETFD, 0);
	return err;
}

int emu_channel_stat(const char *name, struct stat *st)
{
	struct sockaddr_un sa;
	int err = address_of(name, &sa);

	if (err)
		return err;
	return syscall(SYS_newfstatat, AT_FDCWD, sa.sun_path, st, 0) ? errno : 0;
}

/* Does `text` begin with `name`, and continue with nothing but a number? */
static bool is_named(const char *text, const char *name, unsigned int *number)
{
	size_t n = strlen(name);
	char *end = NULL;

	if (strncmp(text, name, n) != 0 || (text[n] && (text[n] < '0' || text[n] > '9')))
		return false;
	*number = (unsigned int)strtoul(text + n, &end, 10);
	return !*end;
}

bool emu_channel_is_file(int fd, const char *name, unsigned int *number)
{
	const char *dir = getenv(EMU_ENV_DIR), *last;
	struct sockaddr_un sa = {0};
	socklen_t len = sizeof(sa) - 1;
	int saved = errno;
	unsigned int found = 0;
	bool ours = false;
	size_t n;

	if (fd < 0 || !dir || getpeername(fd, (struct sockaddr *)&sa, &len) ||
	    sa.sun_family != AF_UNIX)
		goto out;
	n = strlen(dir);
	last = strrchr(sa.sun_path, '/');
	ours = last && !strncmp(sa.sun_path, dir, n) && sa.sun_path[n] == '/' &&
	       is_named(last + 1, name, &found);
	if (ours && number)
		*number = found;
out:
	errno = saved;
	return ours;
}

/* --- the table; the caller holds the lock ----------------------------------------------------- */

static struct channel **bucket_of(ino_t ino)
{
	return &table[ino % BUCKETS];
}

static bool is_ours(const struct channel *c)
{
	return inode_of(c->fd) == c->fd_ino;
}

static bool belongs_to(const struct channel *c, dev_t dev, ino_t ino)
{
	return c->ino == ino && c->dev == dev;
}

static void set_maybe_closed(struct channel *c, bool maybe_closed)
{
	nmaybe_closed += (unsigned int)maybe_closed - (unsigned int)c->maybe_closed;
	c->maybe_closed = maybe_closed;
}

static void remove_channel(struct channel *c)
{
	struct channel **link = bucket_of(c->ino);

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	set_maybe_closed(c, false);
	atomic_fetch_sub(&nchannels, 1);
	if (sweep_at > 2 * atomic_load(&nchannels) + SWEEP_STEP)
		sweep_at = 2 * atomic_load(&nchannels) + SWEEP_STEP;
	if (is_ours(c))
		raw_close(c->fd);
	if (c->server_end >= 0)
		raw_close(c->server_end);
	free(c);
}

static bool hung_up(const struct channel *c)
{
	ssize_t n;
	char byte;

	if (!is_ours(c))
		return true;
	n = recv(c->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Forget the channels of closed files: the server has hung up on them. */
static void sweep_bucket(struct channel **bucket, bool all)
{
	struct channel *c = *bucket, *next;

	for (; c; c = next) {
		next = c->next;
		if ((all || c->maybe_closed) && !c->busy && hung_up(c))
			remove_channel(c);
	}
}

/* Files may also end by dup2() or close_range(); look for them as often as the table doubles. */
static void sweep_sometimes(void)
{
	bool all = atomic_load(&nchannels) >= sweep_at;

	for (unsigned int i = 0; (all || nmaybe_closed) && i < BUCKETS; i++)
		sweep_bucket(&table[i], all);
	if (all)
		sweep_at = 2 * atomic_load(&nchannels) + SWEEP_STEP;
}

static struct channel *find_idle(dev_t dev, ino_t ino, unsigned int *busy)
{
	struct channel *c = *bucket_of(ino), *next;

	*busy = 0;
	for (; c; c = next) {
		next = c->next;
		if (!belongs_to(c, dev, ino))
			continue;
		if (c->busy)
			++*busy;
		else if (is_ours(c))
			return c;
		else
			remove_channel(c);
	}
	return NULL;
}

static int add_channel(const struct stat *st, const char *name, struct channel **out)
{
	struct channel *c, **bucket = bucket_of(st->st_ino);
	int pair[2], err;

	sweep_sometimes();
	c = calloc(1, sizeof(*c));
	if (!c)
		return ENOMEM;
	err = raw_socketpair(pair);
	if (err) {
		free(c);
		return err;
	}
	c->dev = st->st_dev;
	c->ino = st->st_ino;
	c->name = name;
	c->fd = emu_channel_raise(pair[0]);
	c->fd_ino = inode_of(c->fd);
	c->server_end = pair[1];
	c->serial = ++last_serial;
	c->busy = true;
	c->next = *bucket;
	*bucket = c;
	atomic_fetch_add(&nchannels, 1);
	*out = c;
	return 0;
}

static void wait_for_idle(void)
{
	nwaiting++;
	pthread_cond_wait(&idle, &lock);
	nwaiting--;
}

/* --- fork ------------------------------------------------------------------------------------- */

/*
 * A forked child must not use the parent's channels: the server takes their process for the
 * sender, and detects the parent's end by them.
 */
static void child_after_fork(void)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		while (table[i])
			remove_channel(table[i]);
	nwaiting = 0;
	owner = getpid();
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&idle, NULL);
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
	owner = getpid();
	pthread_atfork(lock_before_fork, unlock_after_fork, child_after_fork);
	/*
	 * If Yama restricts ptrace, let the server and other engines access our memory, as a
	 * device would.
	 */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

void emu_channel_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_once);
}

/* --- attaching -------------------------------------------------------------------------------- */

static int receive(const struct channel *c, const sigset_t *open, struct emu_reply *rep, int *fds)
{
	unsigned int nfds = 0;
	ssize_t n;
	int err;

	emu_answer_await(c->fd, c->server, open);
	n = emu_sock_recv(c->fd, rep, sizeof(*rep), fds, fds ? EMU_MAX_FDS : 0, &nfds, NULL);
	err = n < 0 ? (int)-n : 0;
	if (emu_sock_is_of_other_build(rep, n))
		err = EPROTONOSUPPORT;
	if (!err && (n != sizeof(*rep) || rep->magic != EMU_MAGIC || nfds > rep->nfds))
		err = EIO;
	/* The kernel drops those for which the process has no number left. */
	if (!err && nfds < rep->nfds)
		err = EMFILE;
	while (fds && err && n > 0 && nfds)
		raw_close(fds[--nfds]);
	return err;
}

/*
 * Attach this process to the open file. The server reads the cookie to prove that it can access our
 * memory, and compares our number with the one that it sees.
 */
static int attach(int fd, const sigset_t *open, struct channel *c)
{
	uint64_t cookie = 0x656d756c00000000ull | (uint32_t)getpid();
	struct emu_request req = {
		.magic = EMU_MAGIC,
		.op = EMU_OP_ATTACH,
		.arg = {(uintptr_t)&cookie, cookie, c->ino},
	};
	struct emu_reply rep;
	int err;

	err = emu_sock_send(fd, &req, sizeof(req), &c->server_end, 1);
	pthread_mutex_lock(&lock);
	raw_close(c->server_end);
	c->server_end = -1;
	pthread_mutex_unlock(&lock);
	if (err)
		return err;
	c->server = emu_server_exit_pid(fd);
	err = receive(c, open, &rep, NULL);
	if (err == EPROTONOSUPPORT)
		emu_refusal_print_build(c->server);
	if (err)
		return EIO;
	if (rep.error)
		emu_refusal_print(rep.error, c->server);
	return rep.error;
}

/* Whether its file also has another idle channel. */
static bool is_spare(const struct channel *c)
{
	const struct channel *other = *bucket_of(c->ino);

	while (other && (other == c || other->busy || !belongs_to(other, c->dev, c->ino)))
		other = other->next;
	return other;
}

/* A program that rests has one channel for a file, however many its threads once needed. */
static void release(struct channel *c, bool keep)
{
	pthread_mutex_lock(&lock);
	c->busy = false;
	if (!keep || is_spare(c))
		remove_channel(c);
	if (nwaiting)
		pthread_cond_broadcast(&idle);
	pthread_mutex_unlock(&lock);
}

/* Take an idle channel of the file, or one to be attached, which has a server's end. */
static int take_locked(int fd, const struct stat *st, const char *name, struct channel **out)
{
	unsigned int busy;
	int err = 0;

	while (!(*out = find_idle(st->st_dev, st->st_ino, &busy))) {
		if (!busy && !emu_channel_is_file(fd, name, NULL))
			return EMU_NOT_OURS;
		err = busy < PARALLEL ? add_channel(st, name, out) : EAGAIN;
		if (!err || !busy)
			return err;
		wait_for_idle(); /* one is enough where there is no descriptor for another one */
	}
	if (strcmp((*out)->name, name) != 0)
		return EMU_NOT_OURS;
	(*out)->busy = true;
	set_maybe_closed(*out, false);
	return 0;
}

static int take(int fd, const char *name, const sigset_t *open, struct channel **out)
{
	struct stat st;
	int err;

	if (raw_fstat(fd, &st) || !S_ISSOCK(st.st_mode))
		return EMU_NOT_OURS;
	pthread_mutex_lock(&lock);
	err = take_locked(fd, &st, name, out);
	pthread_mutex_unlock(&lock);
	if (err || (*out)->server_end < 0)
		return err;
	err = attach(fd, open, *out);
	if (err)
		release(*out, false);
	return err;
}

/* --- calls of the server ------------------------------------------------------------------------ */

void emu_server_call_init(struct emu_server_call *q, enum emu_op op)
{
	q->packet.req = (struct emu_request){.magic = EMU_MAGIC, .op = op};
	q->head_len = 0;
	q->take = NULL;
	q->arg = NULL;
	q->signals = NULL;
}

/* Wait outside of the lock, then receive and use the descriptors within it. */
static int receive_and_take(const struct channel *c, const sigset_t *open,
			    const struct emu_server_call *q, struct emu_reply *rep)
{
	int fds[EMU_MAX_FDS], err;
	unsigned int n;

	emu_answer_await(c->fd, c->server, open);
	pthread_mutex_lock(&lock);
	err = receive(c, open, rep, fds);
	n = err ? 0 : rep->nfds;
	if (!err && !rep->error)
		err = q->take(q->arg, rep, fds);
	for (unsigned int i = 0; i < n; i++)
		if (fds[i] >= 0)
			raw_close(fds[i]);
	pthread_mutex_unlock(&lock);
	return err;
}

static int exchange(const struct channel *c, const sigset_t *open, const struct emu_server_call *q,
		    struct emu_reply *rep, int *fds)
{
	int err = emu_sock_send(c->fd, &q->packet, sizeof(q->packet.req) + q->head_len, NULL, 0);

	if (err)
		return err;
	return q->take ? receive_and_take(c, open, q, rep) : receive(c, open, rep, fds);
}

static bool is_broken(int err)
{
	return err == EPIPE || err == ECONNRESET || err == EIO || err == EMSGSIZE;
}

static int ask_once(int fd, const char *name, const sigset_t *open, const struct emu_server_call *q,
		    struct emu_reply *rep, int *fds)
{
	struct channel *c;
	int err;

	err = take(fd, name, open, &c);
	if (err)
		return err;
	err = exchange(c, open, q, rep, fds);
	release(c, !is_broken(err));
	return err;
}

static void forget_closed(int fd)
{
	struct stat st;

	if (raw_fstat(fd, &st))
		return;
	pthread_mutex_lock(&lock);
	sweep_bucket(bucket_of(st.st_ino), true);
	pthread_mutex_unlock(&lock);
}

/*
 * The state of the thread before signals and cancellation were masked: a signal handler that used the file, or a
 * cancelled thread, would leave an exchange half done.
 */
struct masked {
	sigset_t signals;
	int cancel, error;
};

static void begin_masked(struct masked *q)
{
	sigset_t all;

	q->error = errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &q->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &q->cancel);
}

static void end_masked(const struct masked *q)
{
	pthread_setcancelstate(q->cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &q->signals, NULL);
	errno = q->error;
}

int emu_channel_ask(int fd, const char *name, const struct emu_server_call *q,
		    struct emu_reply *rep, int *fds)
{
	struct masked masked;
	const sigset_t *open;
	int err;

	emu_channel_init();
	begin_masked(&masked);
	open = q->signals ? q->signals : &masked.signals;
	err = ask_once(fd, name, open, q, rep, fds);
	if (err == EPIPE || err == ECONNRESET) {
		/* A closed file had this inode number before. */
		forget_closed(fd);
		err = ask_once(fd, name, open, q, rep, fds);
	}
	end_masked(&masked);
	return err;
}

/* --- close ------------------------------------------------------------------------------------ */

static bool has_channel(const struct stat *st)
{
	const struct channel *c = *bucket_of(st->st_ino);

	while (c && !belongs_to(c, st->st_dev, st->st_ino))
		c = c->next;
	return c;
}

struct emu_closing emu_channel_before_close(int fd)
{
	struct emu_closing file = {0};
	struct masked masked;
	struct stat st;

	if (!atomic_load(&nchannels))
		return file;
	begin_masked(&masked);
	if (!raw_fstat(fd, &st) && S_ISSOCK(st.st_mode) && owner == getpid()) {
		pthread_mutex_lock(&lock);
		if (has_channel(&st))
			file = (struct emu_closing){st.st_dev, st.st_ino, last_serial};
		pthread_mutex_unlock(&lock);
	}
	end_masked(&masked);
	return file;
}

static struct channel *find_older(const struct emu_closing *file)
{
	struct channel *c = *bucket_of(file->ino);

	while (c && (c->busy || c->serial > file->newest || !belongs_to(c, file->dev, file->ino)))
		c = c->next;
	return c;
}

/* The server handles the end of a file before the calls of its channels. */
static bool is_open(const struct channel *c, const sigset_t *open)
{
	struct emu_server_call q;
	struct emu_reply rep;

	emu_server_call_init(&q, EMU_OP_PING);
	return !is_broken(exchange(c, open, &q, &rep, NULL));
}

/* The last user of a file with other descriptors may be another process. */
static void end_close(const struct emu_closing *file, struct channel *asked, bool open)
{
	struct channel *c;

	pthread_mutex_lock(&lock);
	asked->busy = false;
	set_maybe_closed(asked, open);
	while (!open && (c = find_older(file)))
		remove_channel(c);
	sweep_sometimes();
	if (nwaiting)
		pthread_cond_broadcast(&idle);
	pthread_mutex_unlock(&lock);
}

void emu_channel_after_close(const struct emu_closing *file)
{
	struct masked masked;
	struct channel *c;
	bool open;

	if (!file->ino)
		return;
	begin_masked(&masked);
	pthread_mutex_lock(&lock);
	c = find_older(file);
	if (c)
		c->busy = true;
	pthread_mutex_unlock(&lock);
	if (c) {
		open = is_ours(c) && is_open(c, &masked.signals);
		end_close(file, c, open);
	}
	end_masked(&masked);
}
