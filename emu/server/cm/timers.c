/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/cm_priv.h"

#include "emu/server/cm/cm.h"
#include "emu/server/cm/post.h"

static void announce(struct emu_cm *cm)
{
	const struct emu_cm_conn *first = TAILQ_FIRST(&cm->timed);
	uint64_t when = first ? first->deadline : UINT64_MAX;

	if (when == cm->announced)
		return;
	cm->announced = when;
	cm->ops->wake(cm->ctx, when);
}

static void forget(struct emu_cm_conn *c)
{
	if (c->timed)
		TAILQ_REMOVE(&c->cm->timed, c, timed_link);
	c->timed = false;
}

void emu_cm_clear_deadline(struct emu_cm_conn *c)
{
	forget(c);
	announce(c->cm);
}

/* Deadlines grow with time, so the place is near the end. */
void emu_cm_set_deadline(struct emu_cm_conn *c, unsigned int ms)
{
	struct emu_cm_conn *before;

	forget(c);
	c->deadline = c->cm->ops->now(c->cm->ctx) + ms;
	before = TAILQ_LAST(&c->cm->timed, emu_cm_timed);
	while (before && before->deadline > c->deadline)
		before = TAILQ_PREV(before, emu_cm_timed, timed_link);
	if (before)
		TAILQ_INSERT_AFTER(&c->cm->timed, before, c, timed_link);
	else
		TAILQ_INSERT_HEAD(&c->cm->timed, c, timed_link);
	c->timed = true;
	announce(c->cm);
}

void emu_cm_enter_timewait(struct emu_cm_conn *c)
{
	emu_cm_remove(c);
	c->state = EMU_CM_TIMEWAIT;
	c->user_established = false;
	emu_cm_set_deadline(c, emu_cm_ms(c->ack_timeout));
}

void emu_cm_answered(struct emu_cm_conn *c)
{
	emu_cm_clear_deadline(c);
}

void emu_cm_reset_to_idle(struct emu_cm_conn *c)
{
	emu_cm_remove(c);
	c->state = EMU_CM_IDLE;
	emu_cm_clear_deadline(c);
}

static void send_again(struct emu_cm_conn *c)
{
	c->retries--;
	emu_cm_set_deadline(c, c->wait);
	emu_cm_resend(c, c->request);
}

static void give_up(struct emu_cm_conn *c)
{
	switch (c->state) {
	case EMU_CM_REQ_SENT:
	case EMU_CM_MRA_REQ_RCVD:
		emu_cm_reset_to_idle(c);
		emu_cm_report(c, EMU_CM_REQ_ERROR, NULL);
		break;
	case EMU_CM_REP_SENT:
	case EMU_CM_MRA_REP_RCVD:
		emu_cm_reset_to_idle(c);
		emu_cm_report(c, EMU_CM_REP_ERROR, NULL);
		break;
	case EMU_CM_DREQ_SENT:
		emu_cm_enter_timewait(c);
		emu_cm_report(c, EMU_CM_DREQ_ERROR, NULL);
		break;
	case EMU_CM_SIDR_REQ_SENT:
		emu_cm_reset_to_idle(c);
		emu_cm_report(c, EMU_CM_SIDR_REQ_ERROR, NULL);
		break;
	default:
		break;
	}
}

static void expire(struct emu_cm_conn *c)
{
	emu_cm_clear_deadline(c);
	if (c->state == EMU_CM_TIMEWAIT) {
		c->state = EMU_CM_IDLE;
		emu_cm_report(c, EMU_CM_TIMEWAIT_EXIT, NULL);
	} else if (c->user_established) {
		c->user_established = false;
		emu_cm_report(c, EMU_CM_USER_ESTABLISHED, NULL);
	} else if (c->retries) {
		send_again(c);
	} else {
		give_up(c);
	}
}

/* A handler may destroy any connection, so the list is read anew each time. */
void emu_cm_expire(struct emu_cm *cm)
{
	uint64_t now = cm->ops->now(cm->ctx);
	struct emu_cm_conn *c;

	while ((c = TAILQ_FIRST(&cm->timed)) && c->deadline <= now)
		expire(c);
}
