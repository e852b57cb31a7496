/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/ipc/proto.h"
#include "emu/ipc/rdma_cm.h"
#include "emu/ipc/sock.h"
#include "emu/server/ucma/command.h"
#include "emu/server/ucma/event.h"

/* A process's connection. */
struct conn {
	struct emu_watch watch;
	struct emu_cma_machine *machine;
	pid_t pid;
};

struct emu_cma_file *emu_cma_files;

struct emu_cma_file *emu_cma_file_find(uint64_t dev, uint64_t ino)
{
	struct emu_cma_file *f = emu_cma_files;

	while (f && (f->dev != dev || f->ino != ino))
		f = f->next;
	return f;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Take bytes out of the FIFO. The server opens its reading end only for this, to notice its last close. */
static void take_bytes(struct emu_cma_file *f)
{
	char path[32], bytes[256];
	size_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->watch.fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	while (f->nbytes > f->nevents) {
		n = f->nbytes - f->nevents;
		if (read(fd, bytes, n < sizeof(bytes) ? n : sizeof(bytes)) <= 0)
			f->nbytes = f->nevents; /* the program has read them */
		else
			f->nbytes -= (unsigned int)(n < sizeof(bytes) ? n : sizeof(bytes));
	}
	close(fd);
}

/* A full FIFO is readable, too. */
static void match_bytes(struct emu_cma_file *f)
{
	if (f->watch.fd < 0)
		return;
	while (f->nbytes < f->nevents && write(f->watch.fd, "", 1) == 1)
		f->nbytes++;
	if (f->nbytes > f->nevents)
		take_bytes(f);
}

void emu_cma_queue(struct emu_cma_file *f, struct emu_cma_event *e)
{
	struct emu_cma_event **link = &f->events;

	while (*link)
		link = &(*link)->next;
	e->next = NULL;
	*link = e;
	f->nevents++;
	if (emu_cma_observer)
		emu_cma_observer->event(e);
	match_bytes(f);
}

struct emu_cma_event *emu_cma_unqueue(struct emu_cma_file *f, struct emu_cma_event **link)
{
	struct emu_cma_event *e = *link;

	*link = e->next;
	e->next = NULL;
	f->nevents--;
	match_bytes(f);
	return e;
}

/* --- files ------------------------------------------------------------------------------------ */

/* The last descriptor of the reading end was closed. */
static void file_destroy(struct emu_watch *w)
{
	struct emu_cma_file *f = (struct emu_cma_file *)w;
	struct emu_cma_file **link = &emu_cma_files;

	emu_watch_del(w);
	emu_cma_events_forget_all(f); /* first: ids that no program has seen belong to events */
	while (f->ids)
		emu_cma_id_destroy(f->ids);
	while (*link != f)
		link = &(*link)->next;
	*link = f->next;
	emu_free_later(f);
}

/* Make a FIFO beside the connection's socket, and remove its name. */
static int make_fifo(int beside, int fd[2])
{
	static unsigned int number;
	struct sockaddr_un sa = {0};
	socklen_t len = sizeof(sa);
	char path[sizeof(sa.sun_path) + 32], *slash;
	int err = 0;

	if (getsockname(beside, (struct sockaddr *)&sa, &len))
		return -errno;
	snprintf(path, sizeof(path), "%.*s", (int)sizeof(sa.sun_path), sa.sun_path);
	slash = strrchr(path, '/');
	if (!slash)
		return -EINVAL;
	snprintf(slash + 1, 32, EMU_RDMA_CM_FIFO "%u", number++);
	if (mkfifo(path, S_IRUSR | S_IWUSR))
		return -errno;
	fd[0] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	fd[1] = fd[0] < 0 ? -1 : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd[1] < 0 || fcntl(fd[0], F_SETFL, 0))
		err = -errno;
	unlink(path);
	if (err && fd[0] >= 0)
		close(fd[0]);
	if (err && fd[1] >= 0)
		close(fd[1]);
	return err;
}

/* On success `*peer` is the client's end. */
static int file_new(const struct conn *c, int *peer)
{
	struct emu_cma_file *f;
	struct stat st;
	int fd[2] = {-1, -1}, err;

	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	err = make_fifo(c->watch.fd, fd);
	if (err)
		goto free_file;
	f->watch = (struct emu_watch){.fd = fd[1], .hang_up = file_destroy};
	err = fstat(fd[1], &st) ? -errno : emu_watch_add(&f->watch);
	if (err)
		goto close_fifo;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->machine = c->machine;
	f->next = emu_cma_files;
	emu_cma_files = f;
	*peer = fd[0];
	return 0;

close_fifo:
	close(fd[0]);
	close(fd[1]);
free_file:
	free(f);
	return err;
}

/* --- connections ------------------------------------------------------------------------------ */

static void conn_destroy(struct emu_watch *w)
{
	emu_watch_del(w);
	emu_free_later(w);
}

static void serve(struct emu_watch *w)
{
	const struct conn *c = (const struct conn *)w;
	struct emu_reply r = {.magic = EMU_MAGIC};
	struct emu_rdma_cm_request q;
	struct emu_cma_file *f;
	int peer = -1;
	ssize_t n;

	/* recv() without a control buffer: the kernel closes descriptors that come along */
	n = recv(w->fd, &q, sizeof(q), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != sizeof(q) || q.magic != EMU_MAGIC) {
		conn_destroy(w);
		return;
	}
	if (q.op == EMU_RDMA_CM_OPEN) {
		r.error = -file_new(c, &peer);
	} else {
		f = emu_cma_file_find(q.dev, q.ino);
		r.error = f ? -emu_cma_execute(f, c->pid, &q, &r) : EBADF;
	}
	r.nfds = peer >= 0;
	emu_sock_send_now(w->fd, &r, sizeof(r), &peer, r.nfds);
	if (peer >= 0)
		close(peer);
}

/* The process that connected: others do not use the connection (shim/rdma_cm.c). */
static pid_t peer_of(int fd)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? 0 : peer.pid;
}

void emu_cma_accept(const char *role, int fd)
{
	struct emu_cma_machine *m = emu_cma_machine_of(role);
	struct conn *c = m ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		close(fd);
		return;
	}
	c->watch = (struct emu_watch){fd, serve, conn_destroy};
	c->machine = m;
	c->pid = peer_of(fd);
	if (emu_watch_add(&c->watch)) {
		close(fd);
		free(c);
	}
}
