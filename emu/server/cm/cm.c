/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/cm.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/cm/cm_priv.h"

struct emu_cm *emu_cm_new(const struct emu_cm_ops *ops, void *ctx)
{
	struct emu_cm *cm = calloc(1, sizeof(*cm));

	if (!cm)
		return NULL;
	cm->ops = ops;
	cm->ctx = ctx;
	cm->announced = UINT64_MAX;
	TAILQ_INIT(&cm->timed);
	return cm;
}

void emu_cm_number_from(struct emu_cm *cm, uint32_t id)
{
	cm->last_id = id;
}

const struct emu_cm_counters *emu_cm_counters(const struct emu_cm *cm)
{
	return &cm->counters;
}

unsigned int emu_cm_ms(uint8_t n)
{
	return n < 8 ? 1 : 1u << ((n > 31 ? 31 : n) - 8);
}

/* delay + 2 life times; the larger term decides, and a similar other one adds 1, which doubles. */
uint8_t emu_cm_ack_timeout(uint8_t delay, uint8_t life_time)
{
	unsigned int twice = life_time + 1u;
	unsigned int larger = twice > delay ? twice : delay;
	unsigned int smaller = twice > delay ? delay : twice;
	unsigned int sum = larger + (smaller + 1 >= larger);

	return sum > 31 ? 31 : (uint8_t)sum;
}

uint64_t emu_cm_own_tid(const struct emu_cm_conn *c)
{
	return (uint64_t)1 << 32 | c->local_id;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_local_id(const void *a, const void *b)
{
	const struct emu_cm_conn *x = a, *y = b;

	return compare(x->local_id, y->local_id);
}

static int by_remote_id(const void *a, const void *b)
{
	const struct emu_cm_conn *x = a, *y = b;
	int order = compare(x->remote_id, y->remote_id);

	return order ? order : compare(x->remote_guid, y->remote_guid);
}

static int by_remote_qpn(const void *a, const void *b)
{
	const struct emu_cm_conn *x = a, *y = b;
	int order = compare(x->remote_qpn, y->remote_qpn);

	return order ? order : compare(x->remote_guid, y->remote_guid);
}

static int by_sidr(const void *a, const void *b)
{
	const struct emu_cm_conn *x = a, *y = b;
	int order = compare(x->remote_id, y->remote_id);

	return order ? order : memcmp(x->path.dgid, y->path.dgid, sizeof(x->path.dgid));
}

static struct emu_cm_conn *find(const struct emu_cm_conn *key, void *const *tree,
				int (*order)(const void *, const void *))
{
	struct emu_cm_conn *const *found = tfind(key, tree, order);

	return found ? *found : NULL;
}

static struct emu_cm_conn *find_local_id(struct emu_cm *cm, uint32_t local_id)
{
	const struct emu_cm_conn key = {.local_id = local_id};

	return find(&key, &cm->local_ids, by_local_id);
}

struct emu_cm_conn *emu_cm_find(struct emu_cm *cm, uint32_t local_id, uint32_t remote_id)
{
	struct emu_cm_conn *c = find_local_id(cm, local_id);

	return c && c->remote_id == remote_id ? c : NULL;
}

struct emu_cm_conn *emu_cm_find_remote_id(struct emu_cm *cm, uint64_t guid, uint32_t remote_id)
{
	const struct emu_cm_conn key = {.remote_guid = guid, .remote_id = remote_id};

	return find(&key, &cm->remote_ids, by_remote_id);
}

struct emu_cm_conn *emu_cm_find_remote_qpn(struct emu_cm *cm, uint64_t guid, uint32_t qpn)
{
	const struct emu_cm_conn key = {.remote_guid = guid, .remote_qpn = qpn};

	return find(&key, &cm->remote_qpns, by_remote_qpn);
}

struct emu_cm_conn *emu_cm_find_sidr(struct emu_cm *cm, uint32_t remote_id, const uint8_t dgid[16])
{
	struct emu_cm_conn key = {.remote_id = remote_id};

	memcpy(key.path.dgid, dgid, sizeof(key.path.dgid));
	return find(&key, &cm->sidrs, by_sidr);
}

/* The caller knows that there is no equal one. */
static int insert(struct emu_cm_conn *c, void **tree, int (*order)(const void *, const void *),
		  bool *inserted)
{
	*inserted = tsearch(c, tree, order);
	return *inserted ? 0 : -ENOMEM;
}

int emu_cm_insert_remote(struct emu_cm_conn *c)
{
	int err = insert(c, &c->cm->remote_ids, by_remote_id, &c->in_remote_ids);

	if (!err)
		err = insert(c, &c->cm->remote_qpns, by_remote_qpn, &c->in_remote_qpns);
	if (err)
		emu_cm_remove(c);
	return err;
}

int emu_cm_insert_sidr(struct emu_cm_conn *c)
{
	return insert(c, &c->cm->sidrs, by_sidr, &c->in_sidrs);
}

void emu_cm_remove(struct emu_cm_conn *c)
{
	if (c->in_remote_ids)
		tdelete(c, &c->cm->remote_ids, by_remote_id);
	if (c->in_remote_qpns)
		tdelete(c, &c->cm->remote_qpns, by_remote_qpn);
	if (c->in_sidrs)
		tdelete(c, &c->cm->sidrs, by_sidr);
	c->in_remote_ids = c->in_remote_qpns = c->in_sidrs = false;
}

static uint32_t next_id(struct emu_cm *cm)
{
	do
		cm->last_id++;
	while (!cm->last_id || find_local_id(cm, cm->last_id));
	return cm->last_id;
}

struct emu_cm_conn *emu_cm_conn_new(struct emu_cm *cm, void *user)
{
	struct emu_cm_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->cm = cm;
	c->user = user;
	c->local_id = next_id(cm);
	if (!tsearch(c, &cm->local_ids, by_local_id)) {
		free(c);
		return NULL;
	}
	LIST_INSERT_HEAD(&cm->conns, c, link);
	return c;
}

void emu_cm_discard(struct emu_cm_conn *c)
{
	emu_cm_clear_deadline(c);
	emu_cm_remove(c);
	tdelete(c, &c->cm->local_ids, by_local_id);
	LIST_REMOVE(c, link);
	free(c);
}

static void reject_on_destroy(struct emu_cm_conn *c, int err)
{
	uint64_t guid = c->cm->ops->guid(c->cm->ctx, c->path.port);
	uint8_t info[8];

	for (int i = 0; i < 8; i++)
		info[i] = (uint8_t)(guid >> (56 - 8 * i));
	if (c->state == EMU_CM_REQ_SENT || c->state == EMU_CM_MRA_REQ_RCVD)
		emu_cm_send_rej(c, EMU_CM_REJ_TIMEOUT, info, sizeof(info), NULL, 0);
	else if (c->state != EMU_CM_REQ_RCVD || err != -ENOMEM)
		emu_cm_send_rej(c, EMU_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
}

static void destroy(struct emu_cm_conn *c, int err)
{
	const struct emu_cm_sidr_rep_param refused = {.status = EMU_CM_SIDR_REJECT};

	switch (c->state) {
	case EMU_CM_SIDR_REQ_RCVD:
		emu_cm_send_sidr_rep(c, &refused, NULL, 0);
		break;
	case EMU_CM_REQ_SENT:
	case EMU_CM_MRA_REQ_RCVD:
	case EMU_CM_REQ_RCVD:
	case EMU_CM_MRA_REQ_SENT:
	case EMU_CM_REP_SENT:
	case EMU_CM_MRA_REP_RCVD:
	case EMU_CM_REP_RCVD:
	case EMU_CM_MRA_REP_SENT:
		reject_on_destroy(c, err);
		break;
	case EMU_CM_ESTABLISHED:
		if (c->qp_type != IB_UVERBS_QPT_XRC_TGT)
			emu_cm_send_dreq(c, NULL, 0);
		break;
	case EMU_CM_DREQ_RCVD:
		emu_cm_send_drep(c, NULL, 0);
		break;
	default:
		break;
	}
	emu_cm_discard(c);
}

void emu_cm_conn_destroy(struct emu_cm_conn *c)
{
	destroy(c, 0);
}

void emu_cm_report(struct emu_cm_conn *c, enum emu_cm_event_type type, const struct emu_cm_msg *m)
{
	const struct emu_cm_path path = c->path;
	const struct emu_cm_event e = {.type = type, .msg = m, .path = &path};
	int err = c->cm->ops->event(c->cm->ctx, c, &e);

	if (err)
		destroy(c, err);
}

void *emu_cm_user(const struct emu_cm_conn *c)
{
	return c->user;
}

void emu_cm_set_user(struct emu_cm_conn *c, void *user)
{
	c->user = user;
}

enum emu_cm_state emu_cm_state(const struct emu_cm_conn *c)
{
	return c->state;
}

const char *emu_cm_state_name(enum emu_cm_state s)
{
	static const char *const names[] = {
		[EMU_CM_IDLE] = "IDLE",
		[EMU_CM_REQ_SENT] = "REQ_SENT",
		[EMU_CM_REQ_RCVD] = "REQ_RCVD",
		[EMU_CM_MRA_REQ_SENT] = "MRA_REQ_SENT",
		[EMU_CM_MRA_REQ_RCVD] = "MRA_REQ_RCVD",
		[EMU_CM_REP_SENT] = "REP_SENT",
		[EMU_CM_REP_RCVD] = "REP_RCVD",
		[EMU_CM_MRA_REP_SENT] = "MRA_REP_SENT",
		[EMU_CM_MRA_REP_RCVD] = "MRA_REP_RCVD",
		[EMU_CM_ESTABLISHED] = "ESTABLISHED",
		[EMU_CM_DREQ_SENT] = "DREQ_SENT",
		[EMU_CM_DREQ_RCVD] = "DREQ_RCVD",
		[EMU_CM_TIMEWAIT] = "TIMEWAIT",
		[EMU_CM_SIDR_REQ_SENT] = "SIDR_REQ_SENT",
		[EMU_CM_SIDR_REQ_RCVD] = "SIDR_REQ_RCVD",
	};

	return (unsigned int)s < ARRAY_SIZE(names) ? names[s] : "?";
}

const struct emu_cm_path *emu_cm_path(const struct emu_cm_conn *c)
{
	return &c->path;
}
