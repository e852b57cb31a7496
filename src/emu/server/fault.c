/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fault.h"

#include <errno.h>
#include <string.h>

#include "devx.h"
#include "names.h"
#include "prm.h"

#define ERRNO_MAX      4095
#define EVENT_FATAL    8 /* IBV_EVENT_DEVICE_FATAL */
#define OUT_HDR_BYTES  16
#define STATUS_INT_ERR 0x01

static struct emu_fault_request rule; /* kind 0: none; for commands */
static uint64_t rule_seen, rule_failed;
static bool counted; /* the last command */

static bool is_meant(const char *role, const struct emu_func *f)
{
	return !*role || !strcmp(role, f->role);
}

static const struct emu_func *find_role(const char *role)
{
	unsigned int i;

	for (i = 0; i < emu.nfuncs; i++)
		if (!strcmp(emu.func[i].role, role))
			return &emu.func[i];
	return NULL;
}

/* --- commands ------------------------------------------------------------------------------------
 */

static int set_command(const struct emu_fault_request *r)
{
	if (!r->errnum == !r->status || r->errnum > ERRNO_MAX || r->status > UINT8_MAX)
		return -EINVAL;
	rule = *r;
	rule_seen = 0;
	rule_failed = 0;
	return 0;
}

/* Where a method hands out the firmware's answer; 0: nowhere. */
static uint16_t out_mailbox(const struct emu_method *m)
{
	static const struct {
		uint16_t object, method, attr;
	} mailboxes[] = {
		{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT},
		{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE,
		 MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT},
		{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
		 MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT},
		{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY,
		 MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT},
	};
	size_t i;

	for (i = 0; i < sizeof(mailboxes) / sizeof(mailboxes[0]); i++)
		if (mailboxes[i].object == m->object && mailboxes[i].method == m->method)
			return mailboxes[i].attr;
	return 0;
}

/* What the kernel makes of a status where nobody sees the mailbox (mlx5 core, cmd.c). */
static int errno_of_status(uint32_t status)
{
	static const struct {
		uint8_t status;
		uint8_t errnum;
	} known[] = {
		{STATUS_INT_ERR, EIO},
		{EMU_STATUS_BAD_OP, EINVAL},
		{EMU_STATUS_BAD_PARAM, EINVAL},
		{0x04, EIO}, /* BAD_SYS_STATE */
		{EMU_STATUS_BAD_RES, EINVAL},
		{0x06, EBUSY}, /* RES_BUSY */
		{EMU_STATUS_LIM, ENOMEM},
		{0x09, EINVAL}, /* BAD_RES_STATE */
		{0x0a, EINVAL}, /* IX_ERR */
		{0x0f, EAGAIN}, /* NO_RES */
		{0x10, EINVAL}, /* BAD_QP_STATE */
		{0x30, EINVAL}, /* BAD_PKT */
		{0x40, EINVAL}, /* BAD_SIZE_OUTS_CQES */
		{EMU_STATUS_BAD_INP_LEN, EIO},
		{EMU_STATUS_BAD_OUTP_LEN, EIO},
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].status == status)
			return -known[i].errnum;
	return -EIO;
}

static bool due(const struct emu_func *f, const char *name)
{
	counted = false;
	if (!rule.kind || !name || !is_meant(rule.role, f) ||
	    !emu_command_matches(rule.method, name))
		return false;
	counted = true;
	if (++rule_seen < rule.nth || rule_seen - rule.nth >= rule.count)
		return false;
	rule_failed++;
	return true;
}

/* A device that died stays so for the contexts that it had, whatever becomes of it. */
static bool is_dead(const struct emu_file *f)
{
	return f->dead || f->func->dead;
}

static int answer(struct emu_cmd *c)
{
	uint8_t out[OUT_HDR_BYTES] = {0};
	uint16_t attr = out_mailbox(c->method);
	int err;

	if (!rule.status)
		return -(int)rule.errnum;
	if (!attr)
		return errno_of_status(rule.status);
	out[0] = (uint8_t)rule.status;
	emu_prm_set(out, EMU_PRM_BYTE(4), 32, rule.syndrome);
	err = emu_attr_out(c, attr, out, sizeof(out));
	return err ? err : -EREMOTEIO;
}

int emu_fault_command(struct emu_cmd *c)
{
	if (is_dead(c->file))
		return -EIO;
	return rule.kind && due(c->file->func, emu_command_name(c)) ? answer(c) : 0;
}

int emu_fault_mmap(const struct emu_file *f)
{
	if (is_dead(f))
		return -EIO;
	if (!due(f->func, EMU_NAME_MMAP))
		return 0;
	return rule.status ? errno_of_status(rule.status) : -(int)rule.errnum;
}

void emu_fault_uncount(void)
{
	if (counted)
		rule_seen--;
	counted = false;
}

/* --- completions ---------------------------------------------------------------------------------
 */

static void clear_completions(void)
{
	atomic_store(&emu.queues->rule.action, EMU_CQE_NORMAL);
	emu_grace();
}

static int set_completion(const struct emu_fault_request *r)
{
	struct emu_cqe_rule *q = &emu.queues->rule;

	if (r->action < EMU_CQE_LOSE || r->action > EMU_CQE_ERROR || r->syndrome > UINT8_MAX ||
	    (r->action == EMU_CQE_ERROR && !r->syndrome) || r->amount > UINT32_MAX)
		return -EINVAL;
	clear_completions();
	q->func = *r->role ? find_role(r->role)->index : EMU_ANY_FUNC;
	q->nth = r->nth;
	q->count = r->count;
	q->syndrome = r->syndrome;
	q->delay_us = (uint32_t)r->amount;
	atomic_store(&q->seen, 0);
	atomic_store(&q->hit, 0);
	atomic_store(&q->action, r->action);
	emu_grace(); /* engines look once in a pass */
	return 0;
}

/* --- device memory -------------------------------------------------------------------------------
 */

/* As if somebody else had taken all but so much. */
static int set_memory(const struct emu_fault_request *r)
{
	unsigned int i;

	for (i = 0; i < emu.nfuncs; i++) {
		struct emu_card *card = emu.func[i].card;
		uint64_t left = card->profile->max_dm_size - card->dm_used;

		if (is_meant(r->role, &emu.func[i]))
			card->dm_taken = left > r->amount ? left - r->amount : 0;
	}
	return 0;
}

/* --- the device ----------------------------------------------------------------------------------
 */

/* Whoever made it; 0: it is none. */
static uint32_t number_of_qp(const struct emu_uobj *o)
{
	if (o && o->type == EMU_T_QP)
		return ((const struct emu_qp_obj *)o)->qpn;
	return o && o->type == EMU_T_DEVX_QP ? ((const struct emu_devx_qp *)o)->qpn : 0;
}

static void fail_queues(const struct emu_file *f)
{
	unsigned int i;

	for (i = 0; i < f->nobjs; i++) {
		uint32_t qpn = number_of_qp(f->objs[i]);
		struct emu_qp *q = &emu.queues->qp[qpn];

		if (!qpn)
			continue;
		if (atomic_load(&q->state) >= EMU_QPS_INIT)
			atomic_store(&q->state, EMU_QPS_ERR);
		emu_engine_kick(q->engine);
	}
}

/* The context hears of it on every async event file that it has. */
static void kill_file(struct emu_file *f)
{
	const struct ib_uverbs_async_event_desc d = {.event_type = EVENT_FATAL};
	struct emu_events *e;

	f->dead = true;
	fail_queues(f);
	for (e = f->events; e; e = e->next)
		if (e->kind == EMU_EVENTS_ASYNC)
			emu_events_send(e, &d, sizeof(d));
}

static int set_device(const struct emu_fault_request *r)
{
	struct emu_file *f;
	unsigned int i;

	for (i = 0; i < emu.nfuncs; i++)
		if (is_meant(r->role, &emu.func[i]))
			emu.func[i].dead = true;
	for (f = emu.files; f; f = f->next)
		if (is_meant(r->role, f->func) && f->has_context)
			kill_file(f);
	return 0;
}

/* --- all of it -----------------------------------------------------------------------------------
 */

static int clear(const struct emu_fault_request *r)
{
	unsigned int i;

	(void)r;
	memset(&rule, 0, sizeof(rule));
	rule_seen = 0;
	rule_failed = 0;
	clear_completions();
	atomic_store(&emu.queues->rule.seen, 0);
	atomic_store(&emu.queues->rule.hit, 0);
	for (i = 0; i < emu.nfuncs; i++)
		emu.func[i].dead = false;
	for (i = 0; i < emu.ncards; i++)
		emu.card[i].dm_taken = 0;
	return 0;
}

int emu_fault_set(const struct emu_fault_request *r, uint64_t val[static 4])
{
	static int (*const kinds[])(const struct emu_fault_request *r) = {
		[EMU_RULE_NONE] = clear,
		[EMU_RULE_COMMAND] = set_command,
		[EMU_RULE_COMPLETION] = set_completion,
		[EMU_RULE_MEMORY] = set_memory,
		[EMU_RULE_DEVICE] = set_device,
	};
	struct emu_fault_request next = *r;

	next.method[sizeof(next.method) - 1] = '\0';
	next.role[sizeof(next.role) - 1] = '\0';
	if (next.kind >= sizeof(kinds) / sizeof(kinds[0]) || !next.nth || !next.count)
		return -EINVAL;
	if (*next.role && !find_role(next.role))
		return -ENODEV;
	val[0] = rule_seen;
	val[1] = rule_failed;
	val[2] = atomic_load(&emu.queues->rule.seen);
	val[3] = atomic_load(&emu.queues->rule.hit);
	return kinds[next.kind](&next);
}
