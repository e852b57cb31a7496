/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The server's reactor: connections, processes, and the order in which things end. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmd.h"
#include "emu/sock.h"
#include "fail.h"

#define BATCH 1024

struct emu_server emu = {.epoll = -1};

/* A connection to the control socket. */
struct admin {
	struct emu_watch watch;
	struct admin *next;
	bool holds;
};

static struct admin *admins;

struct listener {
	struct emu_watch watch;
	struct emu_func *func; /* NULL: the control socket */
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

void emu_watch_del(struct emu_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
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
	struct emu_note n;

	while (p && p->notes.fd >= 0 && recv(p->notes.fd, &n, sizeof(n), MSG_DONTWAIT) == sizeof(n))
		emu_note(&n);
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

/* A requester that died in the middle leaves its message with the responder: take it away. */
static void free_inbox(struct emu_msg *m, uint32_t slot)
{
	uint32_t state = atomic_load(&m->state);

	if (m->src_engine == slot && state != EMU_MSG_FREE && state != EMU_MSG_BUSY)
		atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_FREE);
}

/* Its queues may live on in a file that others share, but nobody executes them any more. */
static void proc_destroy(struct emu_proc *p)
{
	struct emu_proc **link = &emu.procs;
	struct emu_queues *q = emu.queues;
	uint32_t i;

	emu_drain_notes(p);
	emu_watch_del(&p->notes);
	atomic_store(&q->engine[p->slot].serial, 0);
	for (i = 0; i < atomic_load(&q->qp_high); i++) {
		free_inbox(&q->qp[i].inbox, p->slot);
		if (!atomic_load(&q->qp[i].serial) || q->qp[i].engine != p->slot)
			continue;
		q->qp[i].engine = EMU_NO_ENGINE;
		atomic_store(&q->qp[i].state, EMU_QPS_ERR);
	}
	for (i = 0; i < atomic_load(&q->cq_high); i++)
		if (atomic_load(&q->cq[i].serial) && q->cq[i].engine == p->slot)
			q->cq[i].engine = EMU_NO_ENGINE;
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
	return emu_sock_send(fd, r, sizeof(*r), fds, r->nfds);
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

	n = emu_sock_recv(f->watch.fd, &req, sizeof(req), fds, EMU_MAX_FDS, &nfds, &pid);
	if (n != sizeof(req) || req.magic != EMU_MAGIC || req.op != EMU_OP_ATTACH || nfds != 1) {
		while (n > 0 && nfds)
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
	c->next = f->chans;
	f->chans = c;
	if (reply(c->watch.fd, &r, NULL) || emu_watch_add(&c->watch))
		chan_destroy(c);
}

static void serve_ioctl(struct emu_chan *chan, uint64_t hdr)
{
	struct emu_cmd c = {.chan = chan, .file = chan->file, .fd = -1};
	struct emu_reply r = {.magic = EMU_MAGIC};

	r.error = -emu_ioctl(&c, hdr);
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
	int fd = chan->file->has_context ? emu_fail_mmap(chan->file) : -EINVAL;

	if (!fd)
		fd = emu_mmap(chan->file, req->arg[0], req->arg[1], &r.val[0]);
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
	struct emu_request req;
	int fds[EMU_MAX_FDS];
	unsigned int nfds;
	ssize_t n;

	n = emu_sock_recv(chan->watch.fd, &req, sizeof(req), fds, EMU_MAX_FDS, &nfds, NULL);
	while (n > 0 && nfds)
		close(fds[--nfds]);
	if (n != sizeof(req) || req.magic != EMU_MAGIC) {
		chan_destroy(chan);
		return;
	}
	if (req.op == EMU_OP_IOCTL)
		serve_ioctl(chan, req.arg[0]);
	else if (req.op == EMU_OP_MMAP)
		serve_mmap(chan, &req);
	else if (req.op == EMU_OP_ENGINE)
		serve_engine(chan);
	else
		chan_destroy(chan);
}

/* --- control -------------------------------------------------------------------------------------
 */

static void send_status(int fd)
{
	const struct emu_counts *n = &emu.count;
	char text[EMU_STATUS_MAX];
	int len;

	len = snprintf(
		text, sizeof(text),
		"profile %s\ncards %u\ncontexts %u\npds %u\nmrs %u\nmkeys %u\naliases %u\ndms %u\n"
		"dm_bytes %llu\numems %u\ncqs %u\nqps %u\nuars %u\nchannels %u\n",
		emu.card[0].profile->name, emu.ncards, n->contexts, n->pds, n->mrs, n->mkeys,
		n->aliases, n->dms, (unsigned long long)n->dm_bytes, n->umems, n->cqs, n->qps,
		n->uars, n->channels);
	emu_sock_send(fd, text, (size_t)len, NULL, 0);
}

static void admin_destroy(struct admin *a)
{
	struct admin **link = &admins;

	while (*link != a)
		link = &(*link)->next;
	*link = a->next;
	if (a->holds && !--emu.holders && emu.was_held)
		emu.stop = true;
	emu_watch_del(&a->watch);
	emu_bury(a);
}

static void serve_admin(struct admin *a)
{
	struct emu_reply r = {.magic = EMU_MAGIC};
	struct emu_fail_request packet;
	const struct emu_request *req = &packet.req;
	unsigned int nfds;
	ssize_t n;

	n = emu_sock_recv(a->watch.fd, &packet, sizeof(packet), NULL, 0, &nfds, NULL);
	if (n < (ssize_t)sizeof(*req) || req->magic != EMU_MAGIC ||
	    n != (ssize_t)(req->op == EMU_OP_FAIL ? sizeof(packet) : sizeof(*req))) {
		admin_destroy(a);
		return;
	}
	if (req->op == EMU_OP_FAIL)
		r.error = -emu_fail_set(&packet, &r.val[0], &r.val[1]);
	reply(a->watch.fd, &r, NULL);
	if (req->op == EMU_OP_HOLD && !a->holds) {
		a->holds = true;
		emu.holders++;
	} else if (req->op == EMU_OP_STATUS) {
		send_status(a->watch.fd);
	} else if (req->op == EMU_OP_STOP) {
		emu.stop = true;
	}
}

static int admin_create(int fd, bool holds)
{
	struct admin *a = calloc(1, sizeof(*a));
	int err = -ENOMEM;

	if (!a)
		goto close_fd;
	a->watch = (struct emu_watch){.type = EMU_WATCH_ADMIN, .fd = fd};
	a->holds = holds;
	err = emu_watch_add(&a->watch);
	if (err)
		goto free_admin;
	emu.holders += holds;
	a->next = admins;
	admins = a;
	return 0;

free_admin:
	free(a);
close_fd:
	close(fd);
	return err;
}

static void accept_one(const struct listener *l)
{
	int fd = accept4(l->watch.fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (l->func)
		file_create(l->func, fd);
	else
		admin_create(fd, false);
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
		admin_destroy((struct admin *)w);
		break;
	default:
		break;
	}
}

static void handle(struct emu_watch *w)
{
	switch (w->type) {
	case EMU_WATCH_SIGNAL:
		emu.stop = true;
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
		serve_admin((struct admin *)w);
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

static int listen_at(const char *name, struct emu_func *func)
{
	static struct listener listeners[EMU_MAX_FUNCS + 1];
	static unsigned int nlisteners;
	struct listener *l = &listeners[nlisteners++];
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int one = 1;

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/%s", emu.dir, name) > EMU_PATH_MAX)
		return -ENAMETOOLONG;
	l->func = func;
	l->watch.type = EMU_WATCH_LISTENER;
	l->watch.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->watch.fd < 0)
		return -errno;
	unlink(sa.sun_path);
	if (setsockopt(l->watch.fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ||
	    bind(l->watch.fd, (struct sockaddr *)&sa, sizeof(sa)) || listen(l->watch.fd, SOMAXCONN))
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
		err = listen_at(name, &emu.func[i]);
	}
	return err ? err : listen_at("control", NULL);
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
	char path[512];
	int fd;

	if (mkdir(emu.dir, 0755) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/lock", emu.dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
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
		err = emu_topology_create(opt->profile, opt->cards);
	if (!err)
		err = watch_signals();
	if (!err && opt->hold_fd >= 0)
		err = admin_create(opt->hold_fd, true);
	return err ? err : listen_all();
}

int emu_serve(const struct emu_server_options *opt)
{
	int err, said;

	emu.dir = opt->dir;
	emu.was_held = opt->hold_fd >= 0;
	err = lock_dir();
	if (!err)
		err = start(opt);
	if (err && err != -EBUSY)
		clean_up();
	said = -err;
	if (write(opt->ready_fd, &said, sizeof(said)) != sizeof(said) || err)
		return 1;
	close(opt->ready_fd);
	/* From here on nobody reads what we say; the starter's stderr must not stay open. */
	dup2(STDOUT_FILENO, STDERR_FILENO);
	while (!emu.stop)
		serve_batch();
	clean_up();
	return 0;
}
