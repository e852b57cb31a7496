/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/devx/events.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/event_file.h"
#include "emu/prm/prm_eqe.h"
#include "emu/server/base/log.h"
#include "emu/server/firmware/dct.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/rmp.h"
#include "emu/server/uverbs/subscription.h"

#define MAX_EVENTS 16u

struct eqe {
	uint64_t cookie;
	uint8_t bytes[EMU_EQE_QUEUE_BYTES];
};

/* --- files ------------------------------------------------------------------------------------ */

#define A(n) MLX5_IB_ATTR_DEVX_##n

int emu_devx_event_file(struct emu_cmd *c)
{
	uint64_t flags = emu_attr_u64(c, A(ASYNC_EVENT_FD_ALLOC_FLAGS), 0);
	bool omit = flags & MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA;
	struct emu_events *e;
	int err;

	if (flags & ~(uint64_t)MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA)
		return -EINVAL;
	err = emu_give_events(c, EMU_EVENTS_DEVX, omit ? sizeof(uint64_t) : sizeof(struct eqe),
			      A(ASYNC_EVENT_FD_ALLOC_HANDLE), &e);
	if (!err)
		e->omit_data = omit;
	return err;
}

int emu_devx_command_file(struct emu_cmd *c)
{
	return emu_give_events(c, EMU_EVENTS_COMMANDS, EMU_EVENT_VARIES,
			       A(ASYNC_CMD_FD_ALLOC_HANDLE), NULL);
}

/* The kernel keeps 1 MiB of answers for each file; here a pipe limits them. Both return EAGAIN. */
int emu_devx_answer(struct emu_events *to, uint64_t wr_id, const struct emu_mbox *m)
{
	uint8_t record[PIPE_BUF];
	size_t len = sizeof(wr_id) + m->out_len;

	if (len > sizeof(record))
		return -EAGAIN;
	memcpy(record, &wr_id, sizeof(wr_id));
	memcpy(record + sizeof(wr_id), m->out, m->out_len);
	return emu_events_send(to, record, len) ? 0 : -EAGAIN;
}

/* --- subscriptions ---------------------------------------------------------------------------- */

static bool can_subscribe(const struct emu_uobj *o, uint16_t event)
{
	static const uint16_t of_objects[] = {
		EMU_EVENT_TYPE_COMPLETION,	EMU_EVENT_TYPE_PATH_MIG,
		EMU_EVENT_TYPE_COMM_EST,	EMU_EVENT_TYPE_SQ_DRAINED,
		EMU_EVENT_TYPE_CQ_ERROR,	EMU_EVENT_TYPE_WQ_CATASTROPHE,
		EMU_EVENT_TYPE_PATH_MIG_FAILED, EMU_EVENT_TYPE_LAST_WQE,
		EMU_EVENT_TYPE_SRQ_LIMIT,	EMU_EVENT_TYPE_WQ_INVALID_REQUEST,
		EMU_EVENT_TYPE_WQ_ACCESS,	EMU_EVENT_TYPE_SRQ_CATASTROPHE,
		EMU_EVENT_TYPE_XRQ_ERROR,	EMU_EVENT_TYPE_DCT_DRAINED,
		EMU_EVENT_TYPE_DCT_KEY,
	};

	if (!o)
		return event == EMU_EVENT_TYPE_PORT_CHANGE;
	for (size_t i = 0; i < ARRAY_SIZE(of_objects); i++)
		if (of_objects[i] == event)
			return true;
	return false;
}

static bool is_devx(const struct emu_uobj *o)
{
	return o->type == EMU_T_DEVX_CQ || o->type == EMU_T_DEVX_QP || o->type == EMU_T_DEVX_DCT ||
	       o->type == EMU_T_DEVX_MKEY || o->type == EMU_T_DEVX_ALIAS;
}

/* An eventfd has no name in /proc to open, so the descriptor itself is duplicated. */
static int take_eventfd(pid_t pid, int32_t number, int *mine)
{
	static const char name[] = "anon_inode:[eventfd]";
	char path[32], target[sizeof(name)] = "";
	int process, fd;

	process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process < 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_getfd, process, number, 0);
	close(process);
	if (fd < 0)
		return -EBADF;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, target, sizeof(target)) != sizeof(name) - 1 ||
	    memcmp(target, name, sizeof(name) - 1) != 0) {
		close(fd);
		return -EINVAL;
	}
	*mine = fd;
	return 0;
}

static int add_one(struct emu_cmd *c, struct emu_events *e, struct emu_subscription *s)
{
	int err = 0;

	s->eventfd = -1;
	if (emu_attr(c, A(SUBSCRIBE_EVENT_FD_NUM)))
		err = take_eventfd(c->chan->pid,
				   (int32_t)emu_attr_u64(c, A(SUBSCRIBE_EVENT_FD_NUM), 0),
				   &s->eventfd);
	if (err)
		return err;
	err = emu_subscribe(e, s);
	if (err && s->eventfd >= 0)
		close(s->eventfd);
	return err;
}

/* All of them or none. */
static int add(struct emu_cmd *c, struct emu_events *e, const uint16_t *events, size_t n)
{
	struct emu_subscription s = {
		.obj = emu_attr_obj(c, A(SUBSCRIBE_EVENT_OBJ_HANDLE)),
		.cookie = emu_attr_u64(c, A(SUBSCRIBE_EVENT_COOKIE), 0),
	};
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++)
		if (!can_subscribe(s.obj, events[i]))
			return -EINVAL;
	for (i = 0; i < n && !err; i++) {
		s.event = events[i];
		err = add_one(c, e, &s);
	}
	for (; err && i > 1; i--)
		emu_unsubscribe_last(e);
	return err;
}

int emu_devx_subscribe(struct emu_cmd *c)
{
	const struct emu_uobj *o = emu_attr_obj(c, A(SUBSCRIBE_EVENT_OBJ_HANDLE));
	size_t bytes = emu_attr_len(c, A(SUBSCRIBE_EVENT_TYPE_NUM_LIST));
	uint16_t events[MAX_EVENTS] = {0};
	struct emu_events *e;
	int err;

	e = emu_events_find(c, emu_attr(c, A(SUBSCRIBE_EVENT_FD_HANDLE))->data_s64,
			    EMU_EVENTS_DEVX);
	if (!e)
		return -EBADF;
	if (!c->file->devx_uid || (o && !is_devx(o)) || bytes % sizeof(events[0]) ||
	    bytes > sizeof(events) ||
	    (emu_attr(c, A(SUBSCRIBE_EVENT_COOKIE)) && emu_attr(c, A(SUBSCRIBE_EVENT_FD_NUM))))
		return -EINVAL;
	err = emu_attr_in(c, A(SUBSCRIBE_EVENT_TYPE_NUM_LIST), events, sizeof(events));
	return err ? err : add(c, e, events, bytes / sizeof(events[0]));
}

/* --- delivery --------------------------------------------------------------------------------- */

/* Without data a subscription has at most one unread record. */
static void write_event(struct emu_events *e, const struct emu_subscription *s, struct eqe *eqe)
{
	static const uint64_t one = 1;

	if (s->eventfd >= 0) {
		if (write(s->eventfd, &one, sizeof(one)) < 0)
			emu_log("an eventfd takes no more: %s", strerror(errno));
		return;
	}
	eqe->cookie = s->cookie;
	if (e->omit_data)
		emu_events_retract(e, s->cookie);
	emu_events_send(e, eqe, e->omit_data ? sizeof(eqe->cookie) : sizeof(*eqe));
}

static void report(const struct emu_uobj *o, uint16_t event, struct eqe *eqe)
{
	emu_prm_set(eqe->bytes, EMU_EQE_QUEUE_TYPE, event);
	for (struct emu_events *e = o->file->events; e; e = e->next)
		for (struct emu_subscription *s = e->subscriptions; s; s = s->next)
			if (s->obj == o && s->event == event)
				write_event(e, s, eqe);
}

static uint32_t number_of(const struct emu_uobj *o)
{
	switch (o->type) {
	case EMU_T_DEVX_CQ:
		return ((const struct emu_devx_cq *)o)->cqn;
	case EMU_T_DEVX_DCT:
		return ((const struct emu_devx_dct *)o)->dctn;
	case EMU_T_DEVX_RMP:
	case EMU_T_XRC_SRQ:
		return ((const struct emu_devx_rmp *)o)->srqn;
	default:
		return ((const struct emu_devx_qp *)o)->qpn;
	}
}

static const struct emu_uobj *find(enum emu_type type, uint32_t number)
{
	const struct emu_uobj *o;

	for (const struct emu_file *f = emu_files; f; f = f->next) {
		o = NULL;
		while ((o = emu_uobj_next(f, type, o)))
			if (number_of(o) == number)
				return o;
	}
	return NULL;
}

#define SRQ_LIMIT_REACHED 15 /* enum ibv_event_type */

/* The event of a note, or -1; a QP's events have the numbers of enum ibv_event_type. */
int emu_devx_event_of(const struct emu_note *n)
{
	static const uint8_t of_qp[] = {
		[1] = EMU_EVENT_TYPE_WQ_CATASTROPHE, [2] = EMU_EVENT_TYPE_WQ_INVALID_REQUEST,
		[3] = EMU_EVENT_TYPE_WQ_ACCESS,	     [4] = EMU_EVENT_TYPE_COMM_EST,
		[5] = EMU_EVENT_TYPE_SQ_DRAINED,     [16] = EMU_EVENT_TYPE_LAST_WQE,
	};

	switch (n->type) {
	case EMU_NOTE_COMP:
		return EMU_EVENT_TYPE_COMPLETION;
	case EMU_NOTE_CQ_ERR:
		return EMU_EVENT_TYPE_CQ_ERROR;
	case EMU_NOTE_QP:
		return n->event < sizeof(of_qp) && of_qp[n->event] ? of_qp[n->event] : -1;
	case EMU_NOTE_SRQ:
		return n->event == SRQ_LIMIT_REACHED ? EMU_EVENT_TYPE_SRQ_LIMIT : -1;
	case EMU_NOTE_DC_KEY:
		return EMU_EVENT_TYPE_DCT_KEY;
	default:
		return -1;
	}
}

const struct emu_uobj *emu_devx_object_of(const struct emu_note *n)
{
	const struct emu_uobj *rmp;

	if (n->type == EMU_NOTE_SRQ) {
		rmp = find(EMU_T_DEVX_RMP, n->number);
		return rmp ? rmp : find(EMU_T_XRC_SRQ, n->number);
	}
	if (n->type == EMU_NOTE_DC_KEY)
		return find(EMU_T_DEVX_DCT, n->number);
	return find(n->type == EMU_NOTE_QP ? EMU_T_DEVX_QP : EMU_T_DEVX_CQ, n->number);
}

void emu_devx_note(const struct emu_note *n)
{
	int event = emu_has_subscriptions() ? emu_devx_event_of(n) : -1;
	struct eqe eqe = {0};
	const struct emu_uobj *o;

	if (event < 0)
		return;
	o = emu_devx_object_of(n);
	if (!o)
		return;
	if (event == EMU_EVENT_TYPE_CQ_ERROR) {
		emu_prm_set(eqe.bytes, EMU_EQE_CQ_ERROR_CQN, n->number);
		emu_prm_set(eqe.bytes, EMU_EQE_CQ_ERROR_SYNDROME, EMU_EQE_CQ_OVERRUN);
	} else {
		emu_prm_set(eqe.bytes, EMU_EQE_QUEUE_NUMBER, n->number);
	}
	report(o, (uint16_t)event, &eqe);
}
