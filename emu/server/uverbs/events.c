/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/ipc/event_file.h"
#include "emu/server/card/segments.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/srq.h"
#include "emu/server/uverbs/subscription.h"
#include "emu/server/uverbs/xrc.h"

#define PACKETS_BYTES (1 << 20)

/* Records that differ in length are packets. */
static int packet_flag(size_t record)
{
	return record == EMU_EVENT_VARIES ? O_DIRECT : 0;
}

/* Each packet takes a page. A user with many pipes gets no larger ones. */
static void make_room(int fd, size_t record)
{
	if (record == EMU_EVENT_VARIES)
		(void)fcntl(fd, F_SETPIPE_SZ, PACKETS_BYTES);
}

static void unlink_events(struct emu_events *e)
{
	struct emu_events **p = &e->file->events;

	while (*p != e)
		p = &(*p)->next;
	*p = e->next;
	emu_topology.count.channels--;
	emu_free_later(e);
}

static void hang_up(struct emu_watch *w)
{
	struct emu_events *e = (struct emu_events *)w;

	emu_watch_del(&e->watch);
	emu_unsubscribe_all(e);
	if (!e->users)
		unlink_events(e);
}

static int create(struct emu_file *f, enum emu_events_kind kind, size_t record,
		  struct emu_events **out, int *peer)
{
	struct emu_events *e;
	struct stat st;
	int pair[2], err;

	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	if (pipe2(pair, O_CLOEXEC | packet_flag(record))) {
		err = -errno;
		goto free_events;
	}
	e->watch = (struct emu_watch){.hang_up = hang_up, .fd = pair[1]};
	e->file = f;
	e->kind = kind;
	err = fstat(pair[0], &st) || fchmod(pair[0], emu_event_file_mode(record)) ||
			      fcntl(pair[1], F_SETFL, O_NONBLOCK | packet_flag(record))
		      ? -errno
		      : emu_watch_add(&e->watch);
	if (err)
		goto close_pair;
	make_room(pair[1], record);
	e->ino = st.st_ino;
	e->next = f->events;
	f->events = e;
	emu_topology.count.channels++;
	*out = e;
	*peer = pair[0];
	return 0;

close_pair:
	close(pair[0]);
	close(pair[1]);
free_events:
	free(e);
	return err;
}

void emu_events_get(struct emu_events *e)
{
	if (e)
		e->users++;
}

void emu_events_put(struct emu_events *e)
{
	if (e && !--e->users && e->watch.fd < 0)
		unlink_events(e);
}

void emu_events_destroy_all(struct emu_file *f)
{
	while (f->events) {
		emu_watch_del(&f->events->watch);
		emu_unsubscribe_all(f->events);
		unlink_events(f->events);
	}
}

struct emu_events *emu_events_find(const struct emu_cmd *c, int64_t fd, enum emu_events_kind kind)
{
	char path[48], target[48];
	unsigned long ino;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)c->chan->pid, (int)fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return NULL;
	target[n] = '\0';
	if (sscanf(target, "pipe:[%lu]", &ino) != 1)
		return NULL;
	for (struct emu_events *e = c->file->events; e; e = e->next)
		if (e->ino == ino && e->kind == kind)
			return e;
	return NULL;
}

struct emu_events *emu_async_of(const struct emu_cmd *c, uint16_t attr)
{
	struct emu_events *e;

	if (emu_attr(c, attr))
		return emu_events_find(c, (int64_t)emu_attr(c, attr)->data_s64, EMU_EVENTS_ASYNC);
	for (e = c->file->events; e && e->kind != EMU_EVENTS_ASYNC; e = e->next)
		;
	return e;
}

int emu_give_events(struct emu_cmd *c, enum emu_events_kind kind, size_t record, uint16_t attr,
		    struct emu_events **e)
{
	struct emu_events *made = NULL;
	int peer = -1, err;

	err = create(c->file, kind, record, &made, &peer);
	if (err)
		return err;
	if (e)
		*e = made;
	return emu_cmd_give_fd(c, attr, peer);
}

static int async_alloc(struct emu_cmd *c)
{
	return emu_give_events(c, EMU_EVENTS_ASYNC, sizeof(struct ib_uverbs_async_event_desc),
			       UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, NULL);
}

int emu_write_comp_channel(struct emu_cmd *c)
{
	if (emu_attr_len(c, UVERBS_ATTR_CORE_OUT) < sizeof(uint32_t))
		return -ENOSPC;
	return emu_give_events(c, EMU_EVENTS_COMPLETION, sizeof(struct ib_uverbs_comp_event_desc),
			       UVERBS_ATTR_CORE_OUT, NULL);
}

bool emu_events_send(struct emu_events *e, const void *record, size_t len)
{
	return e && e->watch.fd >= 0 && write(e->watch.fd, record, len) == (ssize_t)len;
}

/*
 * A record is two words in an async file, and one in a completion channel or a DEVX file that
 * omits the data; the first word names the object.
 */
uint32_t emu_events_retract(struct emu_events *e, uint64_t element)
{
	uint64_t record[2];
	size_t len = e && e->kind == EMU_EVENTS_ASYNC ? sizeof(record) : sizeof(record[0]);
	char path[32];
	uint32_t n = 0;
	int fd, unread = 0;

	if (!e || e->watch.fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", e->watch.fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (ioctl(fd, FIONREAD, &unread))
		unread = 0;
	for (; unread >= (int)len && read(fd, record, len) == (ssize_t)len; unread -= (int)len) {
		if (record[0] == element)
			n++;
		else
			emu_events_send(e, record, len);
	}
	close(fd);
	return n;
}

void emu_events_broadcast(const struct emu_func *func, uint32_t type, uint64_t element)
{
	const struct ib_uverbs_async_event_desc d = {.element = element, .event_type = type};

	for (const struct emu_file *f = emu_files; f; f = f->next)
		for (struct emu_events *e = f->events; e && f->func == func && f->has_context;
		     e = e->next)
			if (e->kind == EMU_EVENTS_ASYNC)
				emu_events_send(e, &d, sizeof(d));
}

static struct emu_cq_obj *find_cq(uint32_t cqn)
{
	struct emu_cq_obj *cq = NULL;

	for (struct emu_file *f = emu_files; f; f = f->next)
		while ((cq = emu_uobj_next(f, EMU_T_CQ, cq)))
			if (cq->cqn == cqn)
				return cq;
	return NULL;
}

static struct emu_srq_obj *find_srq(uint32_t srqn)
{
	struct emu_srq_obj *srq = NULL;

	for (struct emu_file *f = emu_files; f; f = f->next)
		while ((srq = emu_uobj_next(f, EMU_T_SRQ, srq)))
			if (srq->srqn == srqn)
				return srq;
	return NULL;
}

static void completion(uint32_t cqn)
{
	struct emu_cq_obj *cq = find_cq(cqn);

	if (cq && emu_events_send(cq->channel, &cq->user_handle, sizeof(cq->user_handle)))
		cq->comp_events++;
}

static void cq_error(uint32_t cqn)
{
	struct emu_cq_obj *cq = find_cq(cqn);
	struct ib_uverbs_async_event_desc d = {0};

	if (!cq)
		return;
	d.element = cq->user_handle;
	d.event_type = 0; /* IBV_EVENT_CQ_ERR */
	if (emu_events_send(cq->async, &d, sizeof(d)))
		cq->async_events++;
}

static void qp_event(uint32_t qpn, uint32_t event)
{
	struct ib_uverbs_async_event_desc d = {.event_type = event};
	struct emu_qp_obj *qp = emu_qp_next(qpn, NULL);

	if (qp && qp->type == EMU_QPT_DCT)
		return; /* mlx5 reports none: dct_allowed_event_types() */
	while (qp) {
		d.element = qp->user_handle;
		if (emu_events_send(qp->async, &d, sizeof(d)))
			qp->async_events++;
		qp = qp->type == EMU_QPT_XRC_TGT ? emu_qp_next(qpn, qp) : NULL;
	}
}

static void srq_event(uint32_t srqn, uint32_t event)
{
	struct emu_srq_obj *srq = find_srq(srqn);
	struct ib_uverbs_async_event_desc d = {0};

	if (!srq)
		return;
	d.element = srq->user_handle;
	d.event_type = event;
	if (emu_events_send(srq->async, &d, sizeof(d)))
		srq->async_events++;
}

void emu_events_note(const struct emu_note *n)
{
	switch (n->type) {
	case EMU_NOTE_COMP:
		completion(n->number);
		break;
	case EMU_NOTE_CQ_ERR:
		cq_error(n->number);
		break;
	case EMU_NOTE_QP:
		qp_event(n->number, n->event);
		break;
	case EMU_NOTE_SRQ:
		srq_event(n->number, n->event);
		break;
	default:
		break;
	}
}

const struct emu_method emu_methods_events[] = {
	{
		.command.name = "events.create",
		.object = UVERBS_OBJECT_ASYNC_EVENT,
		.method = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
		.handler = async_alloc,
		.attr = {{UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, EMU_A_NEWFD, true, 0}},
	},
	{.handler = NULL},
};
