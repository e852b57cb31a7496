/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct emu_cma_event *emu_cma_event_new(struct emu_cma_id *id, enum emu_cma_event_type type,
					int status)
{
	struct emu_cma_event *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->id = id;
	e->resp.uid = id->uid;
	e->resp.id = id->number;
	e->resp.event = type;
	e->resp.status = (uint32_t)status;
	return e;
}

void emu_cma_event_send(struct emu_cma_event *e)
{
	if (!e)
		return;
	if (e->id->uid)
		emu_cma_queue(e->id->file, e);
	else
		free(e);
}

void emu_cma_report(struct emu_cma_id *id, enum emu_cma_event_type type, int status)
{
	emu_cma_event_send(emu_cma_event_new(id, type, status));
}

void emu_cma_fill_ah(struct ib_uverbs_ah_attr *ah, const struct emu_cm_path *path,
		     const uint8_t dgid[16])
{
	memset(ah, 0, sizeof(*ah));
	memcpy(ah->grh.dgid, dgid, sizeof(ah->grh.dgid));
	ah->grh.flow_label = path->flow_label;
	ah->grh.sgid_index = (uint8_t)emu_cma_sgid_index(path);
	ah->grh.hop_limit = path->hop_limit;
	ah->grh.traffic_class = path->traffic_class;
	ah->sl = path->sl;
	ah->static_rate = path->rate;
	ah->is_global = 1;
	ah->port_num = 1;
}

static void discard(struct emu_cma_event *e)
{
	if (e->fresh)
		emu_cma_id_destroy(e->fresh);
	free(e);
}

/* To destroy a connection request changes nothing before it in the queue. */
void emu_cma_events_forget(const struct emu_cma_id *id)
{
	struct emu_cma_event **link = &id->file->events;

	while (*link) {
		if ((*link)->id == id)
			discard(emu_cma_unqueue(id->file, link));
		else
			link = &(*link)->next;
	}
}

void emu_cma_events_forget_all(struct emu_cma_file *f)
{
	while (f->events)
		discard(emu_cma_unqueue(f, &f->events));
}

void emu_cma_events_forget_group(const struct emu_cma_group *g)
{
	struct emu_cma_file *f = g->id->file;
	struct emu_cma_event **link = &f->events;

	while (*link) {
		if ((*link)->group == g)
			discard(emu_cma_unqueue(f, link));
		else
			link = &(*link)->next;
	}
}

/* Programs built before ECE have a shorter answer. */
int emu_cma_get_event(const struct emu_cma_cmd *c)
{
	struct emu_cma_event *e = c->file->events;
	struct rdma_ucm_get_event cmd;
	size_t len = sizeof(e->resp);
	int err;

	if (c->out < offsetof(struct rdma_ucm_event_resp, reserved))
		return -ENOSPC;
	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (!e)
		return -EAGAIN;
	if (len > c->out)
		len = c->out;
	err = emu_cma_out(c, cmd.response, &e->resp, len);
	if (err)
		return err;
	if (e->resp.event == EMU_CMA_EV_DISCONNECTED)
		c->reply->flags = EMU_REPLY_LET_PASS;
	emu_cma_unqueue(c->file, &c->file->events);
	e->id->events_reported++;
	if (e->group)
		e->group->events_reported++;
	if (e->fresh) {
		e->fresh->reported = true;
		e->id->backlog++;
	}
	free(e);
	return 0;
}

/* Linux 6.17: the first members of struct rdma_ucm_write_cm_event. The other parameters are ignored. */
struct write_event {
	uint32_t id, reserved, event, status;
	uint64_t arg;
};

/* An event that the program sends to itself. */
int emu_cma_write_event(const struct emu_cma_cmd *c)
{
	struct emu_cma_event *e;
	struct write_event cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (cmd.event != EMU_CMA_EV_USER && cmd.event != EMU_CMA_EV_INTERNAL)
		return -EINVAL;
	err = emu_cma_id_get(c->file, cmd.id, &id);
	if (err)
		return err;
	e = emu_cma_event_new(id, (enum emu_cma_event_type)cmd.event, (int)cmd.status);
	if (!e)
		return -ENOMEM;
	memcpy(&e->resp.param, &cmd.arg, sizeof(cmd.arg));
	emu_cma_queue(id->file, e);
	return 0;
}
