/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/ipc/proto.h"
#include "emu/ipc/sock.h"
#include "emu/server/admin/fault.h"
#include "emu/server/admin/trace.h"
#include "emu/server/base/log.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/devx/methods.h"
#include "emu/server/mm/attach.h"
#include "emu/server/process_exit.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/mmap.h"

static void chan_destroy(struct emu_chan *c)
{
	struct emu_chan **link = &c->file->chans;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	emu_watch_del(&c->watch);
	emu_process_left(c->file, c->pid);
	if (!emu_is_client(c->pid))
		emu_pin_forget(c->pid);
	emu_free_later(c);
}

static void hang_up_chan(struct emu_watch *w)
{
	chan_destroy((struct emu_chan *)w);
}

static int reply(int fd, const struct emu_reply *r, const int *fds)
{
	return emu_sock_send_now(fd, r, sizeof(*r), fds, r->nfds);
}

static void serve_ioctl(struct emu_chan *chan, const struct emu_packet *p, size_t head_len)
{
	struct emu_cmd c = {.chan = chan,
			    .file = chan->file,
			    .fd = -1,
			    .again = p->req.arg[1] != 0,
			    .mapped = p->req.arg[2]};
	struct emu_reply r = {.magic = EMU_MAGIC};

	c.head = p->head;
	c.head_len = head_len;
	r.error = -emu_ioctl(&c, p->req.arg[0]);
	r.flags = c.first;
	r.val[0] = c.first_qpn;
	if (c.first == EMU_REPLY_MAP)
		memcpy(r.val, &c.first_map, sizeof(c.first_map));
	if (c.unmap && !r.error) {
		r.flags = EMU_REPLY_UNMAP;
		r.val[0] = c.unmap;
		r.val[1] = c.unmap_len;
	}
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
	int fd = chan->file->has_context || chan->file->driver ? emu_fault_mmap(chan->file)
							       : -EINVAL;

	if (!fd)
		fd = emu_mmap(chan->file, req->arg[0], req->arg[1], &r.val[0]);
	emu_trace_mmap(chan->file, req->arg[1], fd < 0 ? fd : 0);
	if (fd < 0)
		r.error = -fd;
	else
		r.nfds = 1;
	if (fd == emu_segments.uar_fd)
		r.flags = EMU_REPLY_DOORBELL;
	reply(chan->watch.fd, &r, &fd);
}

static void serve_engine(struct emu_chan *chan)
{
	static const struct emu_watch handlers = {.ready = emu_notes_ready,
						  .hang_up = emu_notes_hang_up};
	struct emu_reply r = {.magic = EMU_MAGIC};
	struct emu_proc *p = emu_proc_of(chan->pid);
	int err = 0;

	if (p)
		err = -EALREADY;
	else
		err = emu_proc_create(chan->pid, &handlers, &p);
	if (err) {
		r.error = -err;
		reply(chan->watch.fd, &r, NULL);
		return;
	}
	r.val[0] = p->slot;
	r.val[1] = emu_segments.uar_ino;
	r.nfds = EMU_MAX_FDS;
	if (reply(chan->watch.fd, &r,
		  (int[]){emu_segments.tables_ro_fd, emu_segments.queues_fd, emu_segments.dm_fd,
			  p->client_end}))
		emu_log("process %d: cannot send it the resources of its engine", (int)chan->pid);
	close(p->client_end);
	p->client_end = -1;
}

/* The answer means that the file is open: its hang-up is handled first. */
static void serve_ping(struct emu_chan *chan)
{
	const struct emu_reply r = {.magic = EMU_MAGIC};

	reply(chan->watch.fd, &r, NULL);
}

static void serve_chan(struct emu_watch *w)
{
	struct emu_chan *chan = (struct emu_chan *)w;
	struct emu_packet p;
	const struct emu_request *req = &p.req;
	size_t head_len;
	ssize_t n;

	/* recv() without a control buffer: the kernel closes descriptors that come along */
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
	else if (req->op == EMU_OP_PING && !head_len)
		serve_ping(chan);
	else
		chan_destroy(chan);
}

/* --- files ------------------------------------------------------------------------------------ */

static void file_destroy(struct emu_watch *w)
{
	struct emu_file *f = (struct emu_file *)w;
	struct emu_file **link = &emu_files;

	emu_uobj_destroy_all(f);
	emu_events_destroy_all(f);
	emu_driver_free(f);
	while (f->chans)
		chan_destroy(f->chans);
	while (*link != f)
		link = &(*link)->next;
	*link = f->next;
	if (f->has_context)
		emu_topology.count.contexts--;
	emu_watch_del(&f->watch);
	emu_free_later(f);
}

/* A process that has the file requests a channel. */
static void attach(struct emu_watch *w)
{
	struct emu_file *f = (struct emu_file *)w;
	struct emu_attach from;
	struct emu_chan *c;

	if (emu_attach_receive(f->watch.fd, &from))
		return;
	c = calloc(1, sizeof(*c));
	if (!c) {
		emu_attach_answer(&from, -ENOMEM);
		return;
	}
	c->watch = (struct emu_watch){from.fd, serve_chan, hang_up_chan};
	c->file = f;
	c->pid = from.pid;
	f->ino = from.ino;
	c->next = f->chans;
	f->chans = c;
	if (emu_attach_answer(&from, 0) || emu_watch_add(&c->watch))
		chan_destroy(c);
}

void emu_client_accept(struct emu_func *func, int fd)
{
	struct emu_file *f = calloc(1, sizeof(*f));

	if (!f) {
		close(fd);
		return;
	}
	f->watch = (struct emu_watch){fd, attach, file_destroy};
	f->func = func;
	if (emu_watch_add(&f->watch)) {
		close(fd);
		free(f);
		return;
	}
	f->next = emu_files;
	emu_files = f;
}
