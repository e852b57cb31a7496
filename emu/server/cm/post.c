/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/post.h"

#include <string.h>

#include "emu/server/cm/cm.h"
#include "emu/server/cm/cm_priv.h"

void emu_cm_begin(const struct emu_cm_conn *c, struct emu_cm_msg *m, enum emu_cm_attr attr)
{
	memset(m, 0, sizeof(*m));
	m->attr = attr;
	m->tid = c->tid;
	m->local_id = c->local_id;
	m->remote_id = c->remote_id;
}

void emu_cm_post(struct emu_cm *cm, const struct emu_cm_path *path, const struct emu_cm_msg *m)
{
	uint8_t mad[EMU_MAD_BYTES];

	if (emu_cm_encode(m, mad))
		return;
	cm->counters.sent[m->attr - EMU_CM_REQ]++;
	cm->ops->send(cm->ctx, path, mad);
}

void emu_cm_post_reply(struct emu_cm_conn *c, const struct emu_cm_msg *m)
{
	emu_cm_encode(m, c->reply);
	emu_cm_post(c->cm, &c->path, m);
}

void emu_cm_resend(struct emu_cm_conn *c, const uint8_t mad[EMU_MAD_BYTES])
{
	unsigned int attr = mad[17] - (unsigned int)EMU_CM_REQ;

	if (attr >= EMU_CM_ATTRS)
		return; /* nothing was sent yet */
	c->cm->counters.sent[attr]++;
	c->cm->counters.retried[attr]++;
	c->cm->ops->send(c->cm->ctx, &c->path, mad);
}

void emu_cm_post_request(struct emu_cm_conn *c, const struct emu_cm_msg *m)
{
	emu_cm_encode(m, c->request);
	c->retries = c->max_retries;
	c->wait = c->timeout;
	emu_cm_set_deadline(c, c->wait);
	emu_cm_post(c->cm, &c->path, m);
}

/* DREP for a DREQ that arrives after the connection entered timewait, whatever had ended it. */
void emu_cm_repeat_drep(struct emu_cm_conn *c, uint64_t tid)
{
	struct emu_cm_msg m;

	if (emu_cm_decode(c->reply, &m) || m.attr != EMU_CM_DREP)
		emu_cm_begin(c, &m, EMU_CM_DREP);
	m.tid = tid;
	emu_cm_post(c->cm, &c->path, &m);
}
