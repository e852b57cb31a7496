/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/cma.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/admin/trace.h"
#include "emu/server/ucma/address.h"
#include "emu/server/ucma/command.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"
#include "emu/server/ucma/machine.h"

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

	return (size_t)s < ARRAY_SIZE(names) && names[s] ? names[s] : "?";
}

/* "127.100.0.1:4791", "[fe80::1]:4791"; nothing if there is no address. */
static void write_plain_address(FILE *out, const struct sockaddr_storage *a)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t gid[16];

	if (a->ss_family == AF_INET &&
	    inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, text, sizeof(text))) {
		fprintf(out, "%s:%u", text, emu_addr_port(a));
		return;
	}
	emu_addr_gid(a, gid);
	if (a->ss_family && inet_ntop(AF_INET6, gid, text, sizeof(text)))
		fprintf(out, "[%s]:%u", text, emu_addr_port(a));
}

static void write_address(FILE *out, const struct sockaddr_storage *a)
{
	fputc('"', out);
	write_plain_address(out, a);
	fputc('"', out);
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

/* --- the trace -------------------------------------------------------------------------------- */

#define NO_ID		  UINT32_MAX
#define FIRST_CHOSEN_PORT 32768u /* of ip_local_port_range */

/* The name of a command, and where its id is; GET_EVENT is shown by its event. */
static const struct {
	const char *name;
	size_t id;
} commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = {"create_id", 0},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {"destroy_id", offsetof(struct rdma_ucm_destroy_id, id)},
	[RDMA_USER_CM_CMD_BIND_IP] = {"bind", offsetof(struct rdma_ucm_bind_ip, id)},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {"resolve_addr", offsetof(struct rdma_ucm_resolve_ip, id)},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {"resolve_route",
					    offsetof(struct rdma_ucm_resolve_route, id)},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {"query_route", offsetof(struct rdma_ucm_query, id)},
	[RDMA_USER_CM_CMD_CONNECT] = {"connect", offsetof(struct rdma_ucm_connect, id)},
	[RDMA_USER_CM_CMD_LISTEN] = {"listen", offsetof(struct rdma_ucm_listen, id)},
	[RDMA_USER_CM_CMD_ACCEPT] = {"accept", offsetof(struct rdma_ucm_accept, id)},
	[RDMA_USER_CM_CMD_REJECT] = {"reject", offsetof(struct rdma_ucm_reject, id)},
	[RDMA_USER_CM_CMD_DISCONNECT] = {"disconnect", offsetof(struct rdma_ucm_disconnect, id)},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {"init_qp_attr",
					   offsetof(struct rdma_ucm_init_qp_attr, id)},
	[RDMA_USER_CM_CMD_SET_OPTION] = {"set_option", offsetof(struct rdma_ucm_set_option, id)},
	[RDMA_USER_CM_CMD_NOTIFY] = {"notify", offsetof(struct rdma_ucm_notify, id)},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {"join_mcast",
					    offsetof(struct rdma_ucm_join_ip_mcast, id)},
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {"leave_mcast", offsetof(struct rdma_ucm_destroy_id, id)},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {"migrate_id", offsetof(struct rdma_ucm_migrate_id, id)},
	[RDMA_USER_CM_CMD_QUERY] = {"query", offsetof(struct rdma_ucm_query, id)},
	[RDMA_USER_CM_CMD_BIND] = {"bind", offsetof(struct rdma_ucm_bind, id)},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {"resolve_addr",
					   offsetof(struct rdma_ucm_resolve_addr, id)},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {"join_mcast", offsetof(struct rdma_ucm_join_mcast, id)},
};

static const char *const events[] = {
	[EMU_CMA_EV_ADDR_RESOLVED] = "ADDR_RESOLVED",
	[EMU_CMA_EV_ADDR_ERROR] = "ADDR_ERROR",
	[EMU_CMA_EV_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
	[EMU_CMA_EV_ROUTE_ERROR] = "ROUTE_ERROR",
	[EMU_CMA_EV_CONNECT_REQUEST] = "CONNECT_REQUEST",
	[EMU_CMA_EV_CONNECT_RESPONSE] = "CONNECT_RESPONSE",
	[EMU_CMA_EV_CONNECT_ERROR] = "CONNECT_ERROR",
	[EMU_CMA_EV_UNREACHABLE] = "UNREACHABLE",
	[EMU_CMA_EV_REJECTED] = "REJECTED",
	[EMU_CMA_EV_ESTABLISHED] = "ESTABLISHED",
	[EMU_CMA_EV_DISCONNECTED] = "DISCONNECTED",
	[EMU_CMA_EV_DEVICE_REMOVAL] = "DEVICE_REMOVAL",
	[EMU_CMA_EV_MULTICAST_JOIN] = "MULTICAST_JOIN",
	[EMU_CMA_EV_MULTICAST_ERROR] = "MULTICAST_ERROR",
	[EMU_CMA_EV_ADDR_CHANGE] = "ADDR_CHANGE",
	[EMU_CMA_EV_TIMEWAIT_EXIT] = "TIMEWAIT_EXIT",
};

/* The new id of CREATE_ID is at the start of its answer, whose address is a field. */
static uint32_t id_of(const struct emu_cma_cmd *c, uint32_t number, int err)
{
	struct emu_cma_cmd at = *c;
	uint32_t id;

	if (number == RDMA_USER_CM_CMD_CREATE_ID) {
		at.addr += offsetof(struct rdma_ucm_create_id, response);
		if (err || emu_cma_in(&at, &at.addr, sizeof(at.addr)))
			return NO_ID;
	}
	at.addr += commands[number].id;
	return emu_cma_in(&at, &id, sizeof(id)) ? NO_ID : id;
}

/*
 * The address after a command that sets it. A port number that the emulator has chosen is different in
 * each run, and is not shown: traces can be compared.
 */
static void write_addresses(FILE *out, struct emu_cma_file *f, uint32_t number, uint32_t n)
{
	bool binds = number == RDMA_USER_CM_CMD_BIND_IP || number == RDMA_USER_CM_CMD_BIND;
	bool resolves =
		number == RDMA_USER_CM_CMD_RESOLVE_IP || number == RDMA_USER_CM_CMD_RESOLVE_ADDR;
	struct sockaddr_storage a;
	struct emu_cma_id *id;

	if ((!binds && !resolves) || emu_cma_id_get(f, n, &id))
		return;
	a = binds ? id->src : id->dst;
	if (emu_addr_port(&a) >= FIRST_CHOSEN_PORT)
		emu_addr_set_port(&a, 0);
	fputs(binds ? " src=" : " dst=", out);
	write_plain_address(out, &a);
}

static void finish(FILE *out, char **text, const char *role, int err)
{
	if (!fclose(out))
		emu_trace_line(role, *text, err);
	free(*text);
}

static void trace_command(const struct emu_cma_cmd *c, uint32_t number, int err)
{
	const char *name = number < ARRAY_SIZE(commands) ? commands[number].name : NULL;
	char *text = NULL;
	size_t len;
	uint32_t id;
	FILE *out = name ? open_memstream(&text, &len) : NULL;

	if (!out)
		return;
	id = id_of(c, number, err);
	fprintf(out, "cm.%s", name);
	if (id != NO_ID)
		fprintf(out, " id=%u", id);
	if (!err && id != NO_ID)
		write_addresses(out, c->file, number, id);
	finish(out, &text, c->file->machine->role, err);
}

static void trace_event(const struct emu_cma_event *e)
{
	const char *name = e->resp.event < ARRAY_SIZE(events) ? events[e->resp.event] : NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	fprintf(out, "cm event %s id=%u", name ? name : "?", e->resp.id);
	if (e->resp.status)
		fprintf(out, " status=%d", (int)e->resp.status);
	finish(out, &text, e->id->machine->role, 1);
}

void emu_cma_trace(bool on)
{
	static const struct emu_cma_observer observer = {trace_command, trace_event};

	emu_cma_observer = on ? &observer : NULL;
}
