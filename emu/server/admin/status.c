/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/status.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/admin/fault.h"
#include "emu/server/admin/member.h"
#include "emu/server/admin/wire.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/file.h"

#define DOORBELLS_TEXT 128

/* The work of engines that have ended. */
static uint64_t past_copies, past_bytes, past_errors;

static const struct {
	const char *name;
	size_t offset; /* of an unsigned int in struct emu_counts */
} objects[] = {
#define KIND(name)                                       \
	{                                                \
#name, offsetof(struct emu_counts, name) \
	}
	KIND(pds),   KIND(mrs),	 KIND(mws),	      KIND(mkeys), KIND(aliases),     KIND(dms),
	KIND(umems), KIND(cqs),	 KIND(qps),	      KIND(srqs),  KIND(xrcds),	      KIND(ahs),
	KIND(dmahs), KIND(uars), KIND(flow_counters), KIND(deks),  KIND(attachments),
#undef KIND
};

struct work {
	uint64_t copies, bytes, errors;
};

static struct work work_of(const struct emu_proc *p)
{
	const struct emu_engine *e = &emu_queues->engine[p->slot];

	return (struct work){atomic_load(&e->copies), atomic_load(&e->bytes),
			     atomic_load(&e->errors)};
}

static unsigned int count_of(const struct emu_counts *n, size_t i)
{
	return *(const unsigned int *)((const char *)n + objects[i].offset);
}

void emu_status_keep_ended(struct emu_engine *e)
{
	past_copies += atomic_exchange(&e->copies, 0);
	past_bytes += atomic_exchange(&e->bytes, 0);
	past_errors += atomic_exchange(&e->errors, 0);
}

static void sum_up(struct work *w)
{
	*w = (struct work){past_copies, past_bytes, past_errors};
	for (const struct emu_proc *p = emu_procs; p; p = p->next) {
		struct work one = work_of(p);

		w->copies += one.copies;
		w->bytes += one.bytes;
		w->errors += one.errors;
	}
}

/* Is it the last one of its process in the list? */
static bool is_last_of_process(const struct emu_chan *c)
{
	const struct emu_chan *other = c->next;

	while (other && other->pid != c->pid)
		other = other->next;
	return !other;
}

/* Count the processes that use each file of a function, or of all if it is NULL. */
static unsigned int count_clients(const struct emu_func *func)
{
	unsigned int n = 0;

	for (const struct emu_file *f = emu_files; f; f = f->next)
		for (const struct emu_chan *c = f->chans; c && (!func || f->func == func);
		     c = c->next)
			n += is_last_of_process(c);
	return n;
}

static unsigned int count_contexts(const struct emu_func *func)
{
	unsigned int n = 0;

	for (const struct emu_file *f = emu_files; f; f = f->next)
		n += f->func == func && f->has_context;
	return n;
}

static unsigned int count_nodes(void)
{
	return emu_topology.card[emu_topology.ncards - 1].node + 1;
}

/* How the process's doorbells wake its engine. The word is the process's own: it may be anything. */
static void describe_doorbells(const struct emu_proc *p, char text[static DOORBELLS_TEXT])
{
	uint32_t word = atomic_load(&emu_queues->engine[p->slot].doorbells);
	const char *way = "naps";
	const char *why = "";

	switch (EMU_DOORBELLS_WAY(word)) {
	case EMU_DOORBELLS_UFFD:
		way = "userfaultfd";
		break;
	case EMU_DOORBELLS_NO_UFFD:
		way = "naps, userfaultfd: ";
		why = strerror((int)EMU_DOORBELLS_ERROR(word));
		break;
	case EMU_DOORBELLS_NO_PROC:
		way = "naps, /proc/self/pagemap: ";
		why = strerror((int)EMU_DOORBELLS_ERROR(word));
		break;
	case EMU_DOORBELLS_NO_TABLE:
		way = "naps, no descriptor table for the engine";
		break;
	case EMU_DOORBELLS_VALGRIND:
		way = "naps, valgrind";
		break;
	case EMU_DOORBELLS_SHARED:
		way = "naps, queues in shared memory";
		break;
	default:
		break;
	}
	snprintf(text, DOORBELLS_TEXT, "%s%s", way, why);
}

static void put_work(struct json_object *to, const struct work *w)
{
	emu_put_number(to, "copies", w->copies);
	emu_put_number(to, "bytes", w->bytes);
	emu_put_number(to, "errors", w->errors);
}

static struct json_object *describe_processes(void)
{
	struct json_object *processes = json_object_new_array();
	char doorbells[DOORBELLS_TEXT];

	for (const struct emu_proc *p = emu_procs; p; p = p->next) {
		struct json_object *about = json_object_new_object();
		struct work w = work_of(p);

		emu_put_number(about, "pid", (uint64_t)p->pid);
		describe_doorbells(p, doorbells);
		emu_put_text(about, "doorbells", doorbells);
		put_work(about, &w);
		json_object_array_add(processes, about);
	}
	return processes;
}

static struct json_object *describe_objects(const struct emu_counts *n)
{
	struct json_object *about = json_object_new_object();

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		emu_put_number(about, objects[i].name, count_of(n, i));
	return about;
}

static struct json_object *describe_counters(const struct emu_func *f)
{
	struct json_object *counters = json_object_new_object();

	for (unsigned int i = 0; i < EMU_COUNTERS; i++)
		emu_put_number(counters, emu_counter_name(i), emu_counter_value(f, i));
	return counters;
}

static struct json_object *describe_gid(const struct emu_gid *g, unsigned int index)
{
	struct json_object *about = json_object_new_object();
	char netdev[16], text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, g->raw, text, sizeof(text));
	emu_gid_netdev(g, netdev);
	emu_put_number(about, "index", index);
	emu_put_text(about, "gid", text);
	emu_put_text(about, "type", g->type == EMU_GID_ROCE_V2 ? "RoCE v2" : "RoCE v1");
	if (g->vlan != EMU_NO_VLAN)
		emu_put_number(about, "vlan", g->vlan);
	emu_put_text(about, "netdev", netdev);
	return about;
}

static struct json_object *describe_gids(const struct emu_func *f)
{
	struct json_object *gids = json_object_new_array();
	const struct emu_gid *g;

	for (unsigned int i = 0; (g = emu_gid_next(f, &i)); i++)
		json_object_array_add(gids, describe_gid(g, i));
	return gids;
}

static struct json_object *describe_function(const struct emu_func *f)
{
	struct json_object *about = json_object_new_object();
	char guid[17];

	snprintf(guid, sizeof(guid), "%016llx", (unsigned long long)f->card->guid);
	emu_put_text(about, "name", f->role);
	emu_put_number(about, "node", f->card->node);
	emu_put_number(about, "card", f->card->number);
	emu_put_device(about, f->dev);
	emu_put_text(about, "profile", f->card->profile->name);
	emu_put_text(about, "guid", guid);
	emu_put_number(about, "vhca_id", f->vhca_id);
	emu_put_flag(about, "dead", f->dead);
	emu_put_number(about, "clients", count_clients(f));
	emu_put_number(about, "contexts", count_contexts(f));
	emu_put_text(about, "port", f->port_down ? "DOWN" : "ACTIVE");
	json_object_object_add(about, "gids", describe_gids(f));
	json_object_object_add(about, "counters", describe_counters(f));
	json_object_object_add(about, "objects", describe_objects(&f->count));
	return about;
}

static struct json_object *describe_functions(void)
{
	struct json_object *functions = json_object_new_array();

	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		json_object_array_add(functions, describe_function(&emu_topology.func[i]));
	return functions;
}

static struct json_object *describe(void)
{
	struct json_object *about = json_object_new_object();
	const struct emu_counts *n = &emu_topology.count;
	struct work w;

	sum_up(&w);
	emu_put_text(about, "schema", "dpumap-emu-status-1");
	emu_put_number(about, "nodes", count_nodes());
	emu_put_number(about, "cards", emu_topology.ncards);
	json_object_object_add(about, "functions", describe_functions());
	emu_put_number(about, "clients", count_clients(NULL));
	emu_put_number(about, "contexts", n->contexts);
	json_object_object_add(about, "objects", describe_objects(n));
	json_object_object_add(about, "connection_managers", emu_cma_describe());
	emu_put_flag(about, "wire_forced", emu_tables->wire_forced);
	json_object_object_add(about, "endpoints", emu_wire_describe());
	json_object_object_add(about, "processes", describe_processes());
	json_object_object_add(about, "faults", emu_fault_describe());
	emu_put_number(about, "dm_bytes", n->dm_bytes);
	emu_put_number(about, "channels", n->channels);
	emu_put_number(about, "commands", emu_cmd_counts.done);
	emu_put_number(about, "command_errors", emu_cmd_counts.failed);
	put_work(about, &w);
	return about;
}

char *emu_status_text(void)
{
	struct json_object *about = describe();
	const char *text = json_object_to_json_string_ext(about, JSON_C_TO_STRING_PLAIN);
	char *copy = text ? strdup(text) : NULL;

	json_object_put(about);
	return copy;
}
