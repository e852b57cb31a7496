/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The server's reactor: connections, processes, and the order in which things end. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmd.h"
#include "control.h"
#include "emu/access.h"
#include "emu/sock.h"
#include "fault.h"
#include "netlink.h"
#include "trace.h"

#define BATCH 1024

struct emu_server emu = {.epoll = -1};

struct listener {
	struct emu_watch watch;
	struct emu_func *func; /* NULL: the control socket */
	const char *role;      /* of the netlink socket of that machine; or NULL */
};

static void **graves;
static size_t ngraves, graves_room;

void emu_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("dpumap-emu: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

void emu_bury(void *p)
{
	void **bigger;

	if (ngraves == graves_room) {
		bigger = realloc(graves, (graves_room + 64) * sizeof(*graves));
		if (!bigger)
			return; /* lost, which is better than touched */
		graves = bigger;
		graves_room += 64;
	}
	graves[ngraves++] = p;
}

int emu_watch_add(struct emu_watch *w)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = w};

	return epoll_ctl(emu.epoll, EPOLL_CTL_ADD, w->fd, &e) ? -errno : 0;
}

/* Explicitly: a client that kept a duplicate of our end keeps what it is watched by as well. */
void emu_watch_del(struct emu_watch *w)
{
	if (w->fd >= 0) {
		epoll_ctl(emu.epoll, EPOLL_CTL_DEL, w->fd, NULL);
		close(w->fd);
	}
	w->fd = -1;
}

/* --- processes -----------------------------------------------------------------------------------
 */

struct emu_proc *emu_proc_of(pid_t pid)
{
	struct emu_proc *p = emu.procs;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

struct emu_proc *emu_proc_by_slot(uint32_t slot)
{
	struct emu_proc *p = emu.procs;

	while (p && p->slot != slot)
		p = p->next;
	return p;
}

void emu_drain_notes(struct emu_proc *p)
{
	union {
		struct emu_note note;
		struct emu_note_wr wr;
	} n;
	ssize_t len;

	while (p && p->notes.fd >= 0) {
		len = recv(p->notes.fd, &n, sizeof(n), MSG_DONTWAIT);
		if (len == sizeof(n.wr) && n.note.type == EMU_NOTE_WR)
			emu_trace_wr(&n.wr);
		else if (len == sizeof(n.note))
			emu_note(&n.note);
		else
			break;
	}
}

static uint32_t free_slot(void)
{
	uint32_t i;

	for (i = 0; i < EMU_MAX_ENGINES; i++)
		if (!atomic_load(&emu.queues->engine[i].serial))
			return i;
	return EMU_NO_ENGINE;
}

static int proc_create(pid_t pid, struct emu_proc **out)
{
	uint32_t slot = free_slot();
	struct emu_engine *e;
	struct emu_proc *p;
	int pair[2], err;

	if (slot == EMU_NO_ENGINE)
		return -EMFILE;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
		goto free_proc;
	}
	p->notes = (struct emu_watch){.type = EMU_WATCH_NOTES, .fd = pair[0]};
	err = emu_watch_add(&p->notes);
	if (err)
		goto close_pair;
	p->pid = pid;
	p->slot = slot;
	p->peer = pair[1];
	p->next = emu.procs;
	emu.procs = p;
	e = &emu.queues->engine[slot];
	e->pid = pid;
	atomic_store(&e->epoch, 0);
	atomic_store(&e->tid, 0);
	atomic_store(&e->serial, emu_new_serial());
	*out = p;
	return 0;

close_pair:
	close(pair[0]);
	close(pair[1]);
free_proc:
	free(p);
	return err;
}

/* Its queues may live on in a file that others share, but nobody executes them any more. */
static void proc_destroy(struct emu_proc *p)
{
	struct emu_proc **link = &emu.procs;
	struct emu_queues *q = emu.queues;
	uint32_t i;

	emu_drain_notes(p);
	/* In this order: a hangup of a slot that is still its own means the end of the server. */
	atomic_store(&q->engine[p->slot].serial, 0);
	emu_watch_del(&p->notes);
	emu_status_retire(&q->engine[p->slot]);
	for (i = 0; i < atomic_load(&q->qp_high); i++)
		emu_orphan_qp(i, p->slot);
	for (i = 0; i < atomic_load(&q->cq_high); i++)
		if (atomic_load(&q->cq[i].serial) && q->cq[i].engine == p->slot)
			q->cq[i].engine = EMU_NO_ENGINE;
	for (i = 0; i < atomic_load(&q->srq_high); i++)
		if (atomic_load(&q->srq[i].serial) && q->srq[i].engine == p->slot)
			q->srq[i].engine = EMU_NO_ENGINE;
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	emu_bury(p);
}

/* --- files and channels --------------------------------------------------------------------------
 */

static void chan_destroy(struct emu_chan *c)
{
	struct emu_chan **link = &c->file->chans;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	emu_watch_del(&c->watch);
	emu_orphan(c->file, c->pid);
	emu_pin_forget(c->pid);
	emu_bury(c);
}

static void file_destroy(struct emu_file *f)
{
	struct emu_file **link = &emu.files;

	emu_uobj_destroy_all(f);
	emu_events_destroy_all(f);
	while (f->chans)
		chan_destroy(f->chans);
	while (*link != f)
		link = &(*link)->next;
	*link = f->next;
	if (f->has_context)
		emu.count.contexts--;
	emu_watch_del(&f->watch);
	emu_bury(f);
}

static void file_create(struct emu_func *func, int fd)
{
	struct emu_file *f = calloc(1, sizeof(*f));

	if (!f) {
		close(fd);
		return;
	}
	f->watch = (struct emu_watch){.type = EMU_WATCH_FILE, .fd = fd};
	f->func = func;
	if (emu_watch_add(&f->watch)) {
		close(fd);
		free(f);
		return;
	}
	f->next = emu.files;
	emu.files = f;
}

static int reply(int fd, const struct emu_reply *r, const int *fds)
{
	return emu_sock_send_now(fd, r, sizeof(*r), fds, r->nfds);
}

static int check_memory_access(pid_t pid, const struct emu_request *req)
{
	uint64_t seen = 0;
	int err;

	err = emu_copy_from(pid, &seen, req->arg[0], sizeof(seen));
	if (!err)
		err = emu_copy_to(pid, req->arg[0], &seen, sizeof(seen));
	return err ? err : (seen == req->arg[1] ? 0 : -EPERM);
}

/* Whatever a client sent: answers go to a socket of packets, and to nothing else. */
static bool is_packet_socket(int fd)
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_UNIX &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_SEQPACKET;
}

/* A process introduces itself on a file that it holds. */
static void attach(struct emu_file *f)
{
	struct emu_reply r = {.magic = EMU_MAGIC};
	struct emu_request req;
	struct emu_chan *c;
	int fds[EMU_MAX_FDS];
	unsigned int nfds;
	pid_t pid;
	ssize_t n;

	n = emu_sock_recv_now(f->watch.fd, &req, sizeof(req), fds, EMU_MAX_FDS, &nfds, &pid);
	if (n != sizeof(req) || req.magic != EMU_MAGIC || req.op != EMU_OP_ATTACH || nfds != 1 ||
	    !is_packet_socket(fds[0])) {
		while (nfds) /* of a packet without a byte as well */
			close(fds[--nfds]);
		return;
	}
	c = calloc(1, sizeof(*c));
	r.error = c ? -check_memory_access(pid, &req) : ENOMEM;
	if (r.error) {
		reply(fds[0], &r, NULL);
		close(fds[0]);
		free(c);
		return;
	}
	c->watch = (struct emu_watch){.type = EMU_WATCH_CHAN, .fd = fds[0]};
	c->file = f;
	c->pid = pid;
	f->ino = req.arg[2];
	c->next = f->chans;
	f->chans = c;
	if (reply(c->watch.fd, &r, NULL) || emu_watch_add(&c->watch))
		chan_destroy(c);
}

static void serve_ioctl(struct emu_chan *chan, const struct emu_packet *p, size_t head_len)
{
	struct emu_cmd c = {.chan = chan, .file = chan->file, .fd = -1};
	struct emu_reply r = {.magic = EMU_MAGIC};

	c.head = p->head;
	c.head_len = head_len;
	r.error = -emu_ioctl(&c, p->req.arg[0]);
	if (c.need_engine)
		r.flags = EMU_REPLY_ENGINE;
	if (c.fd >= 0 && !r.error) {
		r.flags = EMU_REPLY_STORE_FD;
		r.val[0] = c.fd_addr;
		r.val[1] = c.fd_width;
		r.nfds = 1;
	}
	reply(chan->watch.fd, &r, &c.fd);
	if (c.fd >= 0)
		close(c.fd);
}

static void serve_mmap(struct emu_chan *chan, const struct emu_request *req)
{
	struct emu_reply r = {.magic = EMU_MAGIC};
	int fd = chan->file->has_context ? emu_fault_mmap(chan->file) : -EINVAL;

	if (!fd)
		fd = emu_mmap(chan->file, req->arg[0], req->arg[1], &r.val[0]);
	emu_trace_mmap(chan->file, req->arg[1], fd < 0 ? fd : 0);
	if (fd < 0)
		r.error = -fd;
	else
		r.nfds = 1;
	reply(chan->watch.fd, &r, &fd);
}

static void serve_engine(struct emu_chan *chan)
{
	struct emu_reply r = {.magic = EMU_MAGIC};
	struct emu_proc *p = emu_proc_of(chan->pid);
	int err = 0;

	if (p)
		err = -EALREADY;
	else
		err = proc_create(chan->pid, &p);
	if (err) {
		r.error = -err;
		reply(chan->watch.fd, &r, NULL);
		return;
	}
	r.val[0] = p->slot;
	r.nfds = EMU_MAX_FDS;
	if (reply(chan->watch.fd, &r, (int[]){emu.tables_ro_fd, emu.queues_fd, emu.dm_fd, p->peer}))
		emu_log("process %d: its engine could not be set up", (int)chan->pid);
	close(p->peer);
	p->peer = -1;
}

static void serve_chan(struct emu_chan *chan)
{
	struct emu_packet p;
	const struct emu_request *req = &p.req;
	size_t head_len;
	ssize_t n;

	/* descriptors that come along are closed by the kernel, as nobody asks for them */
	n = recv(chan->watch.fd, &p, sizeof(p), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < (ssize_t)sizeof(*req) || n > (ssize_t)sizeof(p) || req->magic != EMU_MAGIC) {
		chan_destroy(chan);
		return;
	}
	head_len = (size_t)n - sizeof(*req);
	if (req->op == EMU_OP_IOCTL)
		serve_ioctl(chan, &p, head_len);
	else if (req->op == EMU_OP_MMAP && !head_len)
		serve_mmap(chan, req);
	else if (req->op == EMU_OP_ENGINE && !head_len)
		serve_engine(chan);
	else
		chan_destroy(chan);
}

static void accept_one(const struct listener *l)
{
	int fd = accept4(l->watch.fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (!emu_access_check_peer(fd))
		close(fd);
	else if (l->role)
		emu_netlink_accept(l->role, fd);
	else if (l->func)
		file_create(l->func, fd);
	else
		emu_admin_create(fd, false);
}

/* --- the reactor ---------------------------------------------------------------------------------
 */

static void hang_up(struct emu_watch *w)
{
	switch (w->type) {
	case EMU_WATCH_FILE:
		file_destroy((struct emu_file *)w);
		break;
	case EMU_WATCH_CHAN:
		chan_destroy((struct emu_chan *)w);
		break;
	case EMU_WATCH_NOTES:
		proc_destroy((struct emu_proc *)w);
		break;
	case EMU_WATCH_EVENTS:
		emu_events_hangup((struct emu_events *)w);
		break;
	case EMU_WATCH_ADMIN:
		emu_admin_destroy(w);
		break;
	case EMU_WATCH_NETLINK:
		emu_netlink_hangup(w);
		break;
	default:
		break;
	}
}

/* Whoever removes the directory of a test run has no other way to end what runs there. */
static void look_for_dir(struct emu_watch *w)
{
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	struct stat st;

	if (read(w->fd, event, sizeof(event)) > 0 && !fstat(emu.lock, &st))
		emu.unreachable = !st.st_nlink;
}

static void handle(struct emu_watch *w)
{
	switch (w->type) {
	case EMU_WATCH_SIGNAL:
		emu.stop = true;
		break;
	case EMU_WATCH_LOCK:
		look_for_dir(w);
		break;
	case EMU_WATCH_LISTENER:
		accept_one((struct listener *)w);
		break;
	case EMU_WATCH_FILE:
		attach((struct emu_file *)w);
		break;
	case EMU_WATCH_CHAN:
		serve_chan((struct emu_chan *)w);
		break;
	case EMU_WATCH_NOTES:
		emu_drain_notes((struct emu_proc *)w);
		break;
	case EMU_WATCH_ADMIN:
		emu_admin_serve(w);
		break;
	case EMU_WATCH_NETLINK:
		emu_netlink_serve(w);
		break;
	case EMU_WATCH_EVENTS:
		break;
	}
}

static bool is_end(const struct epoll_event *e)
{
	return e->events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR);
}

/*
 * Ends first: a process that closed a device and then asks for something must find the old device's
 * objects gone, as after a real close(), though the two arrive on different sockets.
 */
static void serve_batch(void)
{
	static struct epoll_event batch[BATCH];
	struct emu_watch *w;
	int n, i;

	n = epoll_wait(emu.epoll, batch, BATCH, -1);
	for (i = 0; i < n; i++) {
		w = batch[i].data.ptr;
		if (w->fd >= 0 && is_end(&batch[i]))
			hang_up(w);
	}
	for (i = 0; i < n; i++) {
		w = batch[i].data.ptr;
		if (w->fd >= 0 && !is_end(&batch[i]))
			handle(w);
	}
	while (ngraves)
		free(graves[--ngraves]);
}

static int listen_at(const char *name, struct emu_func *func, const char *role)
{
	static struct listener listeners[2 * EMU_MAX_FUNCS + 1];
	static unsigned int nlisteners;
	struct listener *l = &listeners[nlisteners++];
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int one = 1;

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", emu.dir, name) > EMU_PATH_MAX)
		return -ENAMETOOLONG;
	l->func = func;
	l->role = role;
	l->watch.type = EMU_WATCH_LISTENER;
	l->watch.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->watch.fd < 0)
		return -errno;
	unlink(sa.sun_path);
	if (setsockopt(l->watch.fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ||
	    bind(l->watch.fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    chmod(sa.sun_path, S_IRUSR | S_IWUSR) || listen(l->watch.fd, SOMAXCONN))
		return -errno;
	return emu_watch_add(&l->watch);
}

static int listen_all(void)
{
	char name[64];
	unsigned int i;
	int err = 0;

	for (i = 0; i < emu.nfuncs && !err; i++) {
		snprintf(name, sizeof(name), "%s/uverbs%u", emu.func[i].role, emu.func[i].dev);
		err = listen_at(name, &emu.func[i], NULL);
		snprintf(name, sizeof(name), "%s/netlink", emu.func[i].role);
		if (!err && !emu.func[i].dev)
			err = listen_at(name, NULL, emu.func[i].role);
	}
	return err ? err : listen_at("control", NULL, NULL);
}

static int watch_signals(void)
{
	static struct emu_watch w = {.type = EMU_WATCH_SIGNAL};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	w.fd = signalfd(-1, &set, SFD_CLOEXEC);
	return w.fd < 0 ? -errno : emu_watch_add(&w);
}

static void watch_lock(void)
{
	static struct emu_watch w = {.type = EMU_WATCH_LOCK};
	char path[512];

	snprintf(path, sizeof(path), "%s/lock", emu.dir);
	w.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w.fd < 0 || inotify_add_watch(w.fd, path, IN_ATTRIB) < 0 || emu_watch_add(&w))
		emu_log("it will not notice if %s is removed: %s", emu.dir, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) && errno != ENOENT ? -1 : 0;
}

static void remove_tree(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", emu.dir, name);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void clean_up(void)
{
	unsigned int i;

	for (i = 0; i < emu.nfuncs; i++)
		remove_tree(emu.func[i].role);
	remove_tree("control");
	remove_tree("lock");
	rmdir(emu.dir);
}

/* One server a directory: the lock ends with the process, however it ends. */
static int lock_dir(void)
{
	const char *why;
	char path[512];
	int err;

	if (mkdir(emu.dir, S_IRWXU) && errno != EEXIST)
		return -errno;
	err = emu_access_check_dir(emu.dir, true, &why);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/lock", emu.dir);
	emu.lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (emu.lock < 0)
		return -errno;
	if (flock(emu.lock, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return 0;
}

/* A context needs a handful of descriptors here, and the usual 1024 are for interactive programs.
 */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		emu_log("the limit of open files stays as it is");
}

static int start(const struct emu_server_options *opt)
{
	int err;

	raise_descriptor_limit();
	emu.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (emu.epoll < 0)
		return -errno;
	err = emu_segments_create();
	if (!err)
		err = emu_topology_create(opt->topology);
	if (!err)
		err = watch_signals();
	watch_lock();
	if (!err && opt->hold_fd >= 0)
		err = emu_admin_create(opt->hold_fd, true);
	return err ? err : listen_all();
}

int emu_serve(const struct emu_server_options *opt)
{
	int err, said;

	emu.dir = opt->dir;
	emu.was_held = opt->hold_fd >= 0;
	umask(S_IRWXG | S_IRWXO);
	err = lock_dir();
	if (!err) {
		err = start(opt);
		if (err)
			clean_up();
	}
	said = -err;
	if (write(opt->ready_fd, &said, sizeof(said)) != sizeof(said) || err)
		return 1;
	close(opt->ready_fd);
	/* From here on nobody reads what we say; the starter's stderr must not stay open. */
	dup2(STDOUT_FILENO, STDERR_FILENO);
	while (!emu.stop && !(emu.unreachable && !emu.files && !emu.holders))
		serve_batch();
	if (!emu.unreachable) /* else it may be another's by now */
		clean_up();
	return 0;
}
