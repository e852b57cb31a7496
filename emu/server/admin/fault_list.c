/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/fault.h"

#include <inttypes.h>
#include <stdio.h>

#include "emu/ipc/proto.h"
#include "emu/server/admin/member.h"
#include "emu/server/admin/port.h"
#include "emu/server/card/path.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"

struct list {
	struct json_object *faults;
	char words[EMU_FAULT_WORDS];
};

static struct json_object *put(struct list *l, const char *words)
{
	struct json_object *fault = json_object_new_object();

	emu_put_text(fault, "fault", words);
	json_object_array_add(l->faults, fault);
	return fault;
}

static void put_counted(struct list *l, const struct emu_fault_counted *c)
{
	struct json_object *fault;

	if (!c->words)
		return;
	fault = put(l, c->words);
	emu_put_number(fault, "matched", c->seen);
	emu_put_number(fault, "failed", c->failed);
}

static void put_function(struct list *l, const char *kind, const struct emu_func *f)
{
	snprintf(l->words, sizeof(l->words), "%s --as %s", kind, f->role);
	put(l, l->words);
}

static void put_functions(struct list *l)
{
	for (const struct emu_func *f = emu_topology.func;
	     f < emu_topology.func + emu_topology.nfuncs; f++) {
		if (f->dead)
			put_function(l, "device", f);
		if (f->port_down)
			put_function(l, "port", f);
		if (emu_port_ip_is_removed(f))
			put_function(l, "gid", f);
		if (f->is_unanswered)
			put_function(l, "neighbour", f);
	}
}

/* The functions of a card share its memory. */
static void put_memory(struct list *l)
{
	const struct emu_card *card, *last = NULL;

	for (const struct emu_func *f = emu_topology.func;
	     f < emu_topology.func + emu_topology.nfuncs; f++) {
		card = f->card;
		if (card == last || !card->dm_withheld)
			continue;
		last = card;
		snprintf(l->words, sizeof(l->words), "memory --as %s --left %" PRIu64, f->role,
			 card->profile->max_dm_size - card->dm_used - card->dm_withheld);
		put(l, l->words);
	}
}

static void put_partitions(struct list *l)
{
	const struct emu_func *a, *b, *end = emu_topology.func + emu_topology.nfuncs;

	for (a = emu_topology.func; a < end; a++)
		for (b = a + 1; b < end; b++) {
			if (!emu_path_is_cut(a, b))
				continue;
			snprintf(l->words, sizeof(l->words), "partition --as %s --peer %s", a->role,
				 b->role);
			put(l, l->words);
		}
}

static void put_queue(struct list *l, uint32_t qpn)
{
	const struct emu_qp *q = &emu_queues->qp[qpn];
	uint32_t fault = atomic_load(&q->fault);
	int n;

	if (fault == EMU_QP_NO_FAULT || !atomic_load(&q->serial) || q->func >= emu_topology.nfuncs)
		return;
	n = snprintf(l->words, sizeof(l->words), "queue --as %s --qpn %#x ",
		     emu_topology.func[q->func].role, qpn);
	if (fault == EMU_QP_SLOW)
		snprintf(l->words + n, sizeof(l->words) - (size_t)n, "--delay %u",
			 q->slow_us / 1000);
	else
		snprintf(l->words + n, sizeof(l->words) - (size_t)n,
			 fault == EMU_QP_SILENT ? "--silent" : "--rnr");
	put(l, l->words);
}

static void put_all(struct list *l)
{
	const struct emu_fault_counted commands = emu_fault_commands();
	const struct emu_fault_counted completions = emu_fault_completions();
	const struct emu_fault_counted data = emu_fault_data();
	uint32_t high = atomic_load(&emu_queues->qp_high), i;

	put_counted(l, &commands);
	put_counted(l, &completions);
	put_counted(l, &data);
	put_memory(l);
	put_functions(l);
	put_partitions(l);
	for (i = EMU_FIRST_QPN; i < high && i < EMU_MAX_QPS; i++)
		put_queue(l, i);
}

struct json_object *emu_fault_describe(void)
{
	struct list l = {.faults = json_object_new_array()};

	put_all(&l);
	return l.faults;
}
