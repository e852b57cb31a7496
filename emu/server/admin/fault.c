/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/fault.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/array.h"
#include "emu/prm/prm_cmd.h"
#include "emu/server/admin/network_faults.h"
#include "emu/server/admin/port.h"
#include "emu/server/admin/trace.h"
#include "emu/server/base/log.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/sysfs.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/ucma/connect.h"
#include "emu/server/ucma/id.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/qp.h"

#define ERRNO_MAX 4095
/* enum ibv_event_type */
#define EVENT_FATAL 8

static struct emu_fault_request rule; /* for commands; kind 0: no rule */
static uint64_t rule_seen, rule_failed;
/* Of the rules that engines have. */
static char completion_words[EMU_FAULT_WORDS], data_words[EMU_FAULT_WORDS];
static bool counted; /* the last command was counted */

static bool is_meant(const char *role, const struct emu_func *f)
{
	return !*role || !strcmp(role, f->role);
}

static const struct emu_func *find_role(const char *role)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (!strcmp(emu_topology.func[i].role, role))
			return &emu_topology.func[i];
	return NULL;
}

/* --- commands --------------------------------------------------------------------------------- */

static int set_command(const struct emu_fault_request *r)
{
	if (r->off) {
		rule.kind = EMU_RULE_NONE;
		return 0;
	}
	if (!r->errnum == !r->status || r->errnum > ERRNO_MAX || r->status > UINT8_MAX)
		return -EINVAL;
	rule = *r;
	rule_seen = 0;
	rule_failed = 0;
	return 0;
}

#define ERRNO_OF_STATUS(name, number, errnum, meaning) [EMU_STATUS_##name] = (errnum),

/* What the kernel returns for a status where no client sees the mailbox (mlx5 core, cmd.c). */
static int errno_of_status(uint32_t status)
{
	static const int errnos[] = {EMU_STATUSES(ERRNO_OF_STATUS)};

	return status < ARRAY_SIZE(errnos) && errnos[status] ? -errnos[status] : -EIO;
}

bool emu_fault_matches(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, FNM_EXTMATCH);
}

static bool due(const struct emu_func *f, const char *name)
{
	counted = false;
	if (!rule.kind || !name || !is_meant(rule.role, f) || !emu_fault_matches(rule.method, name))
		return false;
	counted = true;
	if (++rule_seen < rule.nth || rule_seen - rule.nth >= rule.count)
		return false;
	rule_failed++;
	return true;
}

/* A dead device stays dead for its existing contexts, even after `fault clear'. */
static bool is_dead(const struct emu_file *f)
{
	return f->dead || f->func->dead;
}

static int answer(struct emu_cmd *c)
{
	uint8_t out[EMU_CMD_OUT_BYTES] = {0};
	uint16_t attr = c->method->out_mailbox;
	int err;

	if (!rule.status)
		return -(int)rule.errnum;
	if (!attr)
		return errno_of_status(rule.status);
	emu_prm_set(out, EMU_CMD_OUT_STATUS, rule.status);
	emu_prm_set(out, EMU_CMD_OUT_SYNDROME, rule.syndrome);
	err = emu_attr_out(c, attr, out, sizeof(out));
	return err ? err : -EREMOTEIO;
}

/*
 * As after Linux has removed a device: the command fails, and the object no longer exists. Programs
 * free its memory.
 */
static int refuse(struct emu_cmd *c)
{
	const char *name = emu_cmd_command(c)->name;

	if (name && emu_fault_matches("*.destroy", name))
		c->method->handler(c);
	return -EIO;
}

int emu_fault_command(struct emu_cmd *c)
{
	if (is_dead(c->file) && !c->method->outlives_device)
		return refuse(c);
	return rule.kind && due(c->file->func, emu_cmd_command(c)->name) ? answer(c) : 0;
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

/* --- completions and bytes, which engines count ------------------------------------------------- */

static void clear_rule(struct emu_rule *q)
{
	atomic_store(&q->action, 0);
	emu_grace();
}

static void set_rule(struct emu_rule *q, uint32_t action, const struct emu_fault_request *r,
		     char words[static EMU_FAULT_WORDS])
{
	clear_rule(q);
	q->func = *r->role ? find_role(r->role)->index : EMU_ANY_FUNC;
	q->nth = r->nth;
	q->count = r->count;
	q->syndrome = r->syndrome;
	q->delay_us = (uint32_t)r->amount;
	memcpy(words, r->words, EMU_FAULT_WORDS);
	atomic_store(&q->seen, 0);
	atomic_store(&q->hit, 0);
	atomic_store(&q->action, action);
	emu_grace(); /* engines read it once per pass */
}

static int set_completion(const struct emu_fault_request *r)
{
	if (r->off) {
		clear_rule(&emu_queues->rule);
		return 0;
	}
	if (r->action < EMU_CQE_LOSE || r->action > EMU_CQE_TWICE || r->syndrome > UINT8_MAX ||
	    (r->action == EMU_CQE_ERROR && !r->syndrome) || r->amount > UINT32_MAX)
		return -EINVAL;
	set_rule(&emu_queues->rule, r->action, r, completion_words);
	return 0;
}

static int set_data(const struct emu_fault_request *r)
{
	if (r->off)
		clear_rule(&emu_queues->data_rule);
	else
		set_rule(&emu_queues->data_rule, 1, r, data_words);
	return 0;
}

/* --- device memory ---------------------------------------------------------------------------- */

/* Withhold all but the given amount. */
static int set_memory(const struct emu_fault_request *r)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++) {
		struct emu_card *card = emu_topology.func[i].card;
		uint64_t left = card->profile->max_dm_size - card->dm_used;

		if (is_meant(r->role, &emu_topology.func[i]))
			card->dm_withheld = !r->off && left > r->amount ? left - r->amount : 0;
	}
	return 0;
}

/* --- the device ------------------------------------------------------------------------------- */

/* The number of a QP of verbs or of DEVX; 0: it is not a QP. */
static uint32_t number_of_qp(const struct emu_uobj *o)
{
	if (o && o->type == EMU_T_QP)
		return ((const struct emu_qp_obj *)o)->qpn;
	return o && o->type == EMU_T_DEVX_QP ? ((const struct emu_devx_qp *)o)->qpn : 0;
}

static void fail_queues(const struct emu_file *f)
{
	for (unsigned int i = 0; i < f->nobjs; i++) {
		uint32_t qpn = number_of_qp(f->objs[i]);
		struct emu_qp *q = &emu_queues->qp[qpn];

		if (!qpn)
			continue;
		if (atomic_load(&q->state) >= EMU_QPS_INIT)
			atomic_store(&q->state, EMU_QPS_ERR);
		emu_engine_wake(q->engine);
	}
}

/* Send the event to every async event file of the context. */
static void send_event(const struct emu_file *f, uint32_t type, uint64_t element)
{
	const struct ib_uverbs_async_event_desc d = {.element = element, .event_type = type};

	for (struct emu_events *e = f->events; e; e = e->next)
		if (e->kind == EMU_EVENTS_ASYNC)
			emu_events_send(e, &d, sizeof(d));
}

static void kill_driver(struct emu_file *f)
{
	fail_queues(f);
	emu_driver_fail(f->driver);
}

static void repair_drivers(const struct emu_func *func)
{
	for (const struct emu_file *f = emu_files; f; f = f->next)
		if (f->func == func && f->driver)
			emu_driver_repair(f->driver);
}

static void kill_file(struct emu_file *f)
{
	f->dead = true;
	fail_queues(f);
	send_event(f, EVENT_FATAL, 0);
}

/*
 * A device that fails is no longer listed. It returns as a new one: Linux registers it again, with the same
 * name and a new index, by which libibverbs and librdmacm know that their old contexts are not for it.
 */
static void set_dead(struct emu_func *f, bool dead)
{
	static uint32_t next_index = EMU_MAX_FUNCS;
	int err;

	if (f->dead == dead)
		return;
	f->dead = dead;
	if (!dead) {
		f->ibdev = next_index++;
		repair_drivers(f);
	}
	err = emu_sysfs_list(f, !dead);
	if (err)
		emu_log("%s: mlx5_%u: cannot change the list of devices: %s; restart the emulator",
			f->role, f->dev, strerror(-err));
}

static int set_device(const struct emu_fault_request *r)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (is_meant(r->role, &emu_topology.func[i]))
			set_dead(&emu_topology.func[i], !r->off);
	if (r->off)
		return 0;
	for (struct emu_file *f = emu_files; f; f = f->next) {
		if (is_meant(r->role, f->func) && f->has_context)
			kill_file(f);
		if (is_meant(r->role, f->func) && f->driver)
			kill_driver(f);
	}
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (is_meant(r->role, &emu_topology.func[i]))
			emu_cma_device_gone(&emu_topology.func[i]);
	return 0;
}

static int set_port(const struct emu_fault_request *r)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (is_meant(r->role, &emu_topology.func[i]))
			emu_port_move(&emu_topology.func[i], !r->off);
	return 0;
}

static int set_gid(const struct emu_fault_request *r)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++) {
		if (!is_meant(r->role, &emu_topology.func[i]))
			continue;
		if (r->off)
			emu_port_restore_ip(&emu_topology.func[i]);
		else
			emu_port_forget_ip(&emu_topology.func[i]);
	}
	return 0;
}

static int set_neighbour(const struct emu_fault_request *r)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (is_meant(r->role, &emu_topology.func[i]))
			emu_cma_set_neighbours(&emu_topology.func[i], r->off);
	return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Will a rule fail anything that comes? */
static bool is_left(uint64_t seen, uint64_t nth, uint64_t count)
{
	return seen < nth || seen - nth + 1 < count;
}

struct emu_fault_counted emu_fault_commands(void)
{
	if (!rule.kind || !is_left(rule_seen, rule.nth, rule.count))
		return (struct emu_fault_counted){NULL, 0, 0};
	return (struct emu_fault_counted){rule.words, rule_seen, rule_failed};
}

static struct emu_fault_counted counts_of(const struct emu_rule *q, const char *words)
{
	uint64_t seen = atomic_load(&q->seen);

	if (!atomic_load(&q->action) || !is_left(seen, q->nth, q->count))
		return (struct emu_fault_counted){NULL, 0, 0};
	return (struct emu_fault_counted){words, seen, atomic_load(&q->hit)};
}

struct emu_fault_counted emu_fault_completions(void)
{
	return counts_of(&emu_queues->rule, completion_words);
}

struct emu_fault_counted emu_fault_data(void)
{
	return counts_of(&emu_queues->data_rule, data_words);
}

static int clear(const struct emu_fault_request *r)
{
	(void)r;
	memset(&rule, 0, sizeof(rule));
	rule_seen = 0;
	rule_failed = 0;
	clear_rule(&emu_queues->rule);
	clear_rule(&emu_queues->data_rule);
	atomic_store(&emu_queues->rule.seen, 0);
	atomic_store(&emu_queues->rule.hit, 0);
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++) {
		set_dead(&emu_topology.func[i], false);
		emu_port_move(&emu_topology.func[i], false);
		emu_port_restore_ip(&emu_topology.func[i]);
		emu_cma_set_neighbours(&emu_topology.func[i], true);
	}
	for (unsigned int i = 0; i < emu_topology.ncards; i++)
		emu_topology.card[i].dm_withheld = 0;
	emu_network_faults_clear();
	return 0;
}

static bool knows_role(const struct emu_fault_request *r)
{
	return !*r->role || find_role(r->role) ||
	       (r->kind == EMU_RULE_PARTITION && emu_network_has(r->role));
}

static void terminate(struct emu_fault_request *r)
{
	r->method[sizeof(r->method) - 1] = '\0';
	r->role[sizeof(r->role) - 1] = '\0';
	r->peer[sizeof(r->peer) - 1] = '\0';
	r->words[sizeof(r->words) - 1] = '\0';
}

int emu_fault_set(const struct emu_fault_request *r, uint64_t val[static 4])
{
	static int (*const kinds[])(const struct emu_fault_request *r) = {
		[EMU_RULE_NONE] = clear,
		[EMU_RULE_COMMAND] = set_command,
		[EMU_RULE_COMPLETION] = set_completion,
		[EMU_RULE_MEMORY] = set_memory,
		[EMU_RULE_DEVICE] = set_device,
		[EMU_RULE_PORT] = set_port,
		[EMU_RULE_PARTITION] = emu_network_fault_partition,
		[EMU_RULE_QUEUE] = emu_network_fault_queue,
		[EMU_RULE_GID] = set_gid,
		[EMU_RULE_NEIGHBOUR] = set_neighbour,
		[EMU_RULE_DATA] = set_data,
	};
	struct emu_fault_request next = *r;
	int err;

	terminate(&next);
	if (next.kind >= ARRAY_SIZE(kinds) || !next.nth || !next.count)
		return -EINVAL;
	if (!knows_role(&next))
		return -ENODEV;
	val[0] = rule_seen;
	val[1] = rule_failed;
	val[2] = atomic_load(&emu_queues->rule.seen);
	val[3] = atomic_load(&emu_queues->rule.hit);
	err = kinds[next.kind](&next);
	emu_trace_fault(next.words, err);
	return err;
}
