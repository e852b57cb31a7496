/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion channels and async event files: pipes whose reading end is the client's. The kernel
 * counts an event when it is read, and takes back what is unread when its object goes; so do we,
 * by opening the reading end for a moment (/proc/self/fd).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

/* Of these a read() must never return half a record or two: their records have many lengths. */
static int pipe_flags(enum emu_events_kind kind)
{
	return kind == EMU_EVENTS_DEVX || kind == EMU_EVENTS_COMMANDS ? O_CLOEXEC | O_DIRECT
								      : O_CLOEXEC;
}

int emu_events_create(struct emu_file *f, enum emu_events_kind kind, struct emu_events **out,
		      int *peer)
{
	struct emu_events *e;
	struct stat st;
	int pair[2], err;

	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	if (pipe2(pair, pipe_flags(kind))) {
		err = -errno;
		goto free_events;
	}
	e->watch = (struct emu_watch){.type = EMU_WATCH_EVENTS, .fd = pair[1]};
	e->file = f;
	e->kind = kind;
	err = fstat(pair[0], &st) || fcntl(pair[1], F_SETFL, O_NONBLOCK) ? -errno
									 : emu_watch_add(&e->watch);
	if (err)
		goto close_pair;
	e->ino = st.st_ino;
	e->next = f->events;
	f->events = e;
	emu.count.channels++;
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

static void unlink_events(struct emu_events *e)
{
	struct emu_events **p = &e->file->events;

	while (*p != e)
		p = &(*p)->next;
	*p = e->next;
	emu.count.channels--;
	emu_bury(e);
}

void emu_events_hangup(struct emu_events *e)
{
	emu_watch_del(&e->watch);
	emu_devx_unsubscribe_all(e);
	if (!e->users)
		unlink_events(e);
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
		emu_devx_unsubscribe_all(f->events);
		unlink_events(f->events);
	}
}

struct emu_events *emu_events_find(const struct emu_cmd *c, int64_t fd, enum emu_events_kind kind)
{
	struct emu_events *e;
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
	for (e = c->file->events; e; e = e->next)
		if (e->ino == ino && e->kind == kind)
			return e;
	return NULL;
}

bool emu_events_send(struct emu_events *e, const void *record, size_t len)
{
	return e && e->watch.fd >= 0 && write(e->watch.fd, record, len) == (ssize_t)len;
}

/*
 * Records are two words in an async file, one in a completion channel and in a DEVX file that omits
 * the data; the first names the object.
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

static struct emu_uobj *find_queue(enum emu_type type, uint32_t number)
{
	struct emu_file *f;
	unsigned int i;

	for (f = emu.files; f; f = f->next) {
		for (i = 0; i < f->nobjs; i++) {
			struct emu_uobj *o = f->objs[i];

			if (!o || o->type != type)
				continue;
			if (type == EMU_T_CQ && ((struct emu_cq_obj *)o)->cqn == number)
				return o;
			if (type == EMU_T_SRQ && ((struct emu_srq_obj *)o)->srqn == number)
				return o;
		}
	}
	return NULL;
}

static void completion(uint32_t cqn)
{
	struct emu_cq_obj *cq = (struct emu_cq_obj *)find_queue(EMU_T_CQ, cqn);

	if (cq && emu_events_send(cq->channel, &cq->user_handle, sizeof(cq->user_handle)))
		cq->comp_events++;
}

static void cq_error(uint32_t cqn)
{
	struct emu_cq_obj *cq = (struct emu_cq_obj *)find_queue(EMU_T_CQ, cqn);
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

	while (qp) {
		d.element = qp->user_handle;
		if (emu_events_send(qp->async, &d, sizeof(d)))
			qp->async_events++;
		qp = qp->type == EMU_QPT_XRC_TGT ? emu_qp_next(qpn, qp) : NULL;
	}
}

static void srq_event(uint32_t srqn, uint32_t event)
{
	struct emu_srq_obj *srq = (struct emu_srq_obj *)find_queue(EMU_T_SRQ, srqn);
	struct ib_uverbs_async_event_desc d = {0};

	if (!srq)
		return;
	d.element = srq->user_handle;
	d.event_type = event;
	if (emu_events_send(srq->async, &d, sizeof(d)))
		srq->async_events++;
}

/* A late note is about something that is gone, or that has another life now. */
static bool is_current(const struct emu_note *n)
{
	const struct emu_queues *q = emu.queues;

	switch (n->type) {
	case EMU_NOTE_COMP:
	case EMU_NOTE_CQ_ERR:
		return n->number < EMU_MAX_CQS &&
		       n->serial == atomic_load(&q->cq[n->number].serial);
	case EMU_NOTE_SRQ:
		return n->number < EMU_MAX_SRQS &&
		       n->serial == atomic_load(&q->srq[n->number].serial);
	default:
		return n->number < EMU_MAX_QPS &&
		       n->serial == atomic_load(&q->qp[n->number].serial);
	}
}

void emu_note(const struct emu_note *n)
{
	if (!is_current(n))
		return;
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
	case EMU_NOTE_UMR:
		emu_umr_serve(n->number);
		break;
	case EMU_NOTE_SRQ:
		srq_event(n->number, n->event);
		break;
	default:
		break;
	}
	emu_devx_note(n);
}
