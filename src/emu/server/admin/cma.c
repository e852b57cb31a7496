/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/cma.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "emu/server/ucma/address.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"
#include "emu/server/ucma/machine.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void emu_cma_count(unsigned int *ids, unsigned int *connections)
{
	const struct emu_cma_file *f;
	const struct emu_cma_id *id;

	*ids = *connections = 0;
	for (f = emu_cma_files; f; f = f->next)
		for (id = f->ids; id; id = id->next) {
			(*ids)++;
			*connections += id->conn != NULL;
		}
}

static const char *port_space(uint16_t ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return "TCP";
	case RDMA_PS_UDP:
		return "UDP";
	case RDMA_PS_IPOIB:
		return "IPOIB";
	default:
		return "IB";
	}
}

static const char *state(enum emu_cma_state s)
{
	static const char *const names[] = {
		[EMU_CMA_IDLE] = "IDLE",
		[EMU_CMA_ADDR_BOUND] = "ADDR_BOUND",
		[EMU_CMA_ADDR_RESOLVED] = "ADDR_RESOLVED",
		[EMU_CMA_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[EMU_CMA_CONNECT] = "CONNECT",
		[EMU_CMA_DISCONNECT] = "DISCONNECT",
		[EMU_CMA_LISTEN] = "LISTEN",
		[EMU_CMA_REMOVED] = "REMOVED",
	};

	return (size_t)s < COUNT(names) && names[s] ? names[s] : "?";
}

/* "127.100.0.1:4791", "[fe80::1]:4791"; an id without an address: "". */
static void write_address(FILE *out, const struct sockaddr_storage *a)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t gid[16];

	if (a->ss_family == AF_INET &&
	    inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, text, sizeof(text))) {
		fprintf(out, "\"%s:%u\"", text, emu_addr_port(a));
		return;
	}
	emu_addr_gid(a, gid);
	if (a->ss_family && inet_ntop(AF_INET6, gid, text, sizeof(text)))
		fprintf(out, "\"[%s]:%u\"", text, emu_addr_port(a));
	else
		fputs("\"\"", out);
}

static void write_groups(FILE *out, const struct emu_cma_id *id)
{
	const struct emu_cma_group *g;

	fputs(", \"groups\": [", out);
	for (g = id->groups; g; g = g->next) {
		write_address(out, &g->addr);
		fputs(g->next ? ", " : "", out);
	}
	fputs("]}", out);
}

static void write_id(FILE *out, const struct emu_cma_id *id)
{
	fprintf(out, "{\"id\": %u, \"port_space\": \"%s\", \"state\": \"%s\", ", id->number,
		port_space(id->ps), state(id->state));
	if (id->func)
		fprintf(out, "\"device\": \"mlx5_%u\", ", id->func->dev);
	fputs("\"src\": ", out);
	write_address(out, &id->src);
	fputs(", \"dst\": ", out);
	write_address(out, &id->dst);
	if (id->conn)
		fprintf(out, ", \"connection\": \"%s\", \"qpn\": %u",
			emu_cm_state_name(emu_cm_state(id->conn)), id->qpn);
	write_groups(out, id);
}

static void write_ids(FILE *out, const struct emu_cma_machine *m)
{
	const struct emu_cma_file *f;
	const struct emu_cma_id *id;
	const char *sep = "";

	fputs("\"ids\": [", out);
	for (f = emu_cma_files; f; f = f->next)
		for (id = f->machine == m ? f->ids : NULL; id; id = id->next) {
			fputs(sep, out);
			write_id(out, id);
			sep = ", ";
		}
	fputs("], ", out);
}

static void write_messages(FILE *out, const char *name, const uint64_t n[EMU_CM_ATTRS])
{
	const char *sep = "";
	unsigned int i;

	fprintf(out, "\"%s\": {", name);
	for (i = 0; i < EMU_CM_ATTRS; i++) {
		const char *attr = n[i] ? emu_cm_attr_name(EMU_CM_REQ + i) : NULL;

		if (!attr)
			continue;
		fprintf(out, "%s\"%s\": %llu", sep, attr, (unsigned long long)n[i]);
		sep = ", ";
	}
	fputc('}', out);
}

void emu_cma_write_json(FILE *out)
{
	const struct emu_cma_machine *m = NULL;
	const char *sep = "\n";

	fputc('[', out);
	while ((m = emu_cma_machine_next(m))) {
		const struct emu_cm_counters *n = emu_cm_counters(m->cm);

		fprintf(out, "%s    {\"machine\": \"%s\", ", sep, m->role);
		write_ids(out, m);
		write_messages(out, "sent", n->sent);
		fputs(", ", out);
		write_messages(out, "retried", n->retried);
		fputs(", ", out);
		write_messages(out, "received", n->received);
		fputs(", ", out);
		write_messages(out, "duplicate", n->duplicate);
		fputc('}', out);
		sep = ",\n";
	}
	fputs("\n  ]", out);
}
