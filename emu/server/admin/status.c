/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/status.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/admin/cma.h"
#include "emu/server/admin/fault_list.h"
#include "emu/server/admin/wire.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/file.h"

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
	KIND(pds),   KIND(mrs),	  KIND(mws),  KIND(mkeys),	   KIND(aliases),
	KIND(dms),   KIND(umems), KIND(cqs),  KIND(qps),	   KIND(srqs),
	KIND(xrcds), KIND(ahs),	  KIND(uars), KIND(flow_counters), KIND(attachments),
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

void emu_status_retire(struct emu_engine *e)
{
	past_copies += atomic_exchange(&e->copies, 0);
	past_bytes += atomic_exchange(&e->bytes, 0);
	past_errors += atomic_exchange(&e->errors, 0);
}

static void sum_up(struct work *w)
{
	const struct emu_proc *p;

	*w = (struct work){past_copies, past_bytes, past_errors};
	for (p = emu_procs; p; p = p->next) {
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
	const struct emu_chan *c;
	const struct emu_file *f;
	unsigned int n = 0;

	for (f = emu_files; f; f = f->next)
		for (c = f->chans; c && (!func || f->func == func); c = c->next)
			n += is_last_of_process(c);
	return n;
}

static unsigned int count_contexts(const struct emu_func *func)
{
	const struct emu_file *f;
	unsigned int n = 0;

	for (f = emu_files; f; f = f->next)
		n += f->func == func && f->has_context;
	return n;
}

static unsigned int count_nodes(void)
{
	return emu_topology.card[emu_topology.ncards - 1].node + 1;
}

/* Each GID in a line: function, device, index, GID, type, network interface, VLAN. */
static void write_gid_lines(FILE *out)
{
	const struct emu_func *f;
	const struct emu_gid *g;
	char netdev[16], text[INET6_ADDRSTRLEN];
	unsigned int i;

	for (f = emu_topology.func; f < emu_topology.func + emu_topology.nfuncs; f++)
		for (i = 0; (g = emu_gid_next(f, &i)); i++) {
			inet_ntop(AF_INET6, g->raw, text, sizeof(text));
			emu_gid_netdev(g, netdev);
			fprintf(out, "gid %s mlx5_%u %u %s v%u %s", f->role, f->dev, i, text,
				g->type, netdev);
			fprintf(out, g->vlan == EMU_NO_VLAN ? "\n" : " vlan %u\n", g->vlan);
		}
}

/* Each counter of a port that is not 0 in a line: function, device, name, value. */
static void write_counter_lines(FILE *out)
{
	const struct emu_func *f;
	unsigned int i;

	for (f = emu_topology.func; f < emu_topology.func + emu_topology.nfuncs; f++)
		for (i = 0; i < EMU_COUNTERS; i++)
			if (emu_counter_value(f, i))
				fprintf(out, "counter %s mlx5_%u %s %llu\n", f->role, f->dev,
					emu_counter_name(i),
					(unsigned long long)emu_counter_value(f, i));
}

static void write_counters(FILE *out, const struct emu_func *f)
{
	unsigned int i;

	fputs("\"counters\": {", out);
	for (i = 0; i < EMU_COUNTERS; i++)
		fprintf(out, "%s\"%s\": %llu", i ? ", " : "", emu_counter_name(i),
			(unsigned long long)emu_counter_value(f, i));
	fputs("}, ", out);
}

/* How the process's doorbells wake its engine. The word is the process's own: it may be anything. */
static void write_doorbells(FILE *out, const struct emu_proc *p)
{
	uint32_t word = atomic_load(&emu_queues->engine[p->slot].doorbells);

	switch (EMU_DOORBELLS_WAY(word)) {
	case EMU_DOORBELLS_UFFD:
		fputs("userfaultfd", out);
		return;
	case EMU_DOORBELLS_NO_UFFD:
		fprintf(out, "naps, userfaultfd: %s", strerror((int)EMU_DOORBELLS_ERROR(word)));
		return;
	case EMU_DOORBELLS_NO_PROC:
		fprintf(out, "naps, /proc/self/pagemap: %s",
			strerror((int)EMU_DOORBELLS_ERROR(word)));
		return;
	case EMU_DOORBELLS_NO_TABLE:
		fputs("naps, no descriptor table for the engine", out);
		return;
	case EMU_DOORBELLS_VALGRIND:
		fputs("naps, valgrind", out);
		return;
	case EMU_DOORBELLS_SHARED:
		fputs("naps, queues in shared memory", out);
		return;
	default:
		fputs("naps", out);
	}
}

static void write_process_lines(FILE *out)
{
	const struct emu_proc *p;
	struct work w;

	for (p = emu_procs; p; p = p->next) {
		fprintf(out, "process %d doorbells ", (int)p->pid);
		write_doorbells(out, p);
		w = work_of(p);
		fprintf(out, "\nprocess %d work copies %llu bytes %llu errors %llu\n", (int)p->pid,
			(unsigned long long)w.copies, (unsigned long long)w.bytes,
			(unsigned long long)w.errors);
	}
}

static void write_processes(FILE *out)
{
	const struct emu_proc *p;
	const char *sep = "";
	struct work w;

	fputs("\"processes\": [", out);
	for (p = emu_procs; p; p = p->next) {
		fprintf(out, "%s{\"pid\": %d, \"doorbells\": \"", sep, (int)p->pid);
		write_doorbells(out, p);
		w = work_of(p);
		fprintf(out, "\", \"copies\": %llu, \"bytes\": %llu, \"errors\": %llu}",
			(unsigned long long)w.copies, (unsigned long long)w.bytes,
			(unsigned long long)w.errors);
		sep = ", ";
	}
	fputs("]", out);
}

static void write_lines(FILE *out, const struct work *w)
{
	const struct emu_counts *n = &emu_topology.count;
	unsigned int ids, connections;
	size_t i;

	fprintf(out,
		"profile %s\nguid %016llx\nnodes %u\ncards %u\nfunctions %u\nclients %u\n"
		"contexts %u\n",
		emu_topology.card[0].profile->name, (unsigned long long)emu_topology.card[0].guid,
		count_nodes(), emu_topology.ncards, emu_topology.nfuncs, count_clients(NULL),
		n->contexts);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		fprintf(out, "%s %u\n", objects[i].name, count_of(n, i));
	emu_cma_count(&ids, &connections);
	fprintf(out, "cm_ids %u\ncm_connections %u\n", ids, connections);
	fprintf(out, "dm_bytes %llu\nchannels %u\n", (unsigned long long)n->dm_bytes, n->channels);
	fprintf(out, "commands %llu\ncommand_errors %llu\ncopies %llu\nbytes %llu\nerrors %llu\n",
		(unsigned long long)emu_cmd_counts.done, (unsigned long long)emu_cmd_counts.failed,
		(unsigned long long)w->copies, (unsigned long long)w->bytes,
		(unsigned long long)w->errors);
	write_gid_lines(out);
	emu_wire_write_lines(out);
	write_counter_lines(out);
	write_process_lines(out);
	emu_fault_write_lines(out, "fault ");
}

static void write_objects(FILE *out, const struct emu_counts *n)
{
	size_t i;

	fputs("\"objects\": {", out);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		fprintf(out, "%s\"%s\": %u", i ? ", " : "", objects[i].name, count_of(n, i));
	fputc('}', out);
}

static void write_gids(FILE *out, const struct emu_func *f)
{
	const struct emu_gid *g;
	char netdev[16], text[INET6_ADDRSTRLEN];
	const char *sep = "";
	unsigned int i;

	fputs("\"gids\": [", out);
	for (i = 0; (g = emu_gid_next(f, &i)); i++) {
		inet_ntop(AF_INET6, g->raw, text, sizeof(text));
		emu_gid_netdev(g, netdev);
		fprintf(out, "%s{\"index\": %u, \"gid\": \"%s\", \"type\": \"RoCE v%u\"", sep, i,
			text, g->type);
		if (g->vlan != EMU_NO_VLAN)
			fprintf(out, ", \"vlan\": %u", g->vlan);
		fprintf(out, ", \"netdev\": \"%s\"}", netdev);
		sep = ", ";
	}
	fputs("], ", out);
}

static void write_function(FILE *out, const struct emu_func *f)
{
	fprintf(out,
		"    {\"name\": \"%s\", \"node\": %u, \"card\": %u, \"device\": \"mlx5_%u\", "
		"\"profile\": \"%s\", \"guid\": \"%016llx\", \"vhca_id\": %u, \"dead\": %s, "
		"\"clients\": %u, "
		"\"contexts\": %u, ",
		f->role, f->card->node, f->card->number, f->dev, f->card->profile->name,
		(unsigned long long)f->card->guid, f->vhca_id, f->dead ? "true" : "false",
		count_clients(f), count_contexts(f));
	fprintf(out, "\"port\": \"%s\", ", f->port_down ? "DOWN" : "ACTIVE");
	write_gids(out, f);
	write_counters(out, f);
	write_objects(out, &f->count);
	fputc('}', out);
}

static void write_json(FILE *out, const struct work *w)
{
	const struct emu_counts *n = &emu_topology.count;
	unsigned int i;

	fprintf(out,
		"{\n  \"schema\": \"dpumap-emu-status-1\",\n  \"nodes\": %u,\n  \"cards\": %u,\n  "
		"\"functions\": [\n",
		count_nodes(), emu_topology.ncards);
	for (i = 0; i < emu_topology.nfuncs; i++) {
		write_function(out, &emu_topology.func[i]);
		fputs(i + 1 < emu_topology.nfuncs ? ",\n" : "\n", out);
	}
	fprintf(out, "  ],\n  \"clients\": %u,\n  \"contexts\": %u,\n  ", count_clients(NULL),
		n->contexts);
	write_objects(out, n);
	fputs(",\n  \"connection_managers\": ", out);
	emu_cma_write_json(out);
	fprintf(out, ",\n  \"wire_forced\": %s,\n  \"endpoints\": ",
		emu_tables->wire_forced ? "true" : "false");
	emu_wire_write_json(out);
	fputs(",\n  ", out);
	write_processes(out);
	fputs(",\n  \"faults\": ", out);
	emu_fault_write_json(out);
	fprintf(out,
		",\n  \"dm_bytes\": %llu,\n  \"channels\": %u,\n  \"commands\": %llu,\n"
		"  \"command_errors\": %llu,\n  \"copies\": %llu,\n  \"bytes\": %llu,\n"
		"  \"errors\": %llu\n}\n",
		(unsigned long long)n->dm_bytes, n->channels,
		(unsigned long long)emu_cmd_counts.done, (unsigned long long)emu_cmd_counts.failed,
		(unsigned long long)w->copies, (unsigned long long)w->bytes,
		(unsigned long long)w->errors);
}

char *emu_status_text(enum emu_status_form form)
{
	char *text = NULL;
	struct work w;
	size_t len;
	FILE *out;

	out = open_memstream(&text, &len);
	if (!out)
		return NULL;
	sum_up(&w);
	if (form == EMU_STATUS_JSON)
		write_json(out, &w);
	else if (form == EMU_STATUS_FAULTS)
		emu_fault_write_lines(out, "");
	else
		write_lines(out, &w);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}
