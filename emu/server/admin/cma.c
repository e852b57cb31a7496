/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/status.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/admin/member.h"
#include "emu/server/admin/trace.h"
#include "emu/server/ucma/address.h"
#include "emu/server/ucma/command.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"
#include "emu/server/ucma/machine.h"

#define ADDRESS_TEXT (INET6_ADDRSTRLEN + sizeof("[]:65535"))

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
		[EMU_CMA_ADDR_QUERY] = "ADDR_QUERY",
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
static const char *text_of(const struct sockaddr_storage *a, char text[static ADDRESS_TEXT])
{
	char ip[INET6_ADDRSTRLEN];
	uint8_t gid[16];

	text[0] = '\0';
	if (a->ss_family == AF_INET &&
	    inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, ip, sizeof(ip))) {
		snprintf(text, ADDRESS_TEXT, "%s:%u", ip, emu_addr_port(a));
		return text;
	}
	emu_addr_gid(a, gid);
	if (a->ss_family && inet_ntop(AF_INET6, gid, ip, sizeof(ip)))
		snprintf(text, ADDRESS_TEXT, "[%s]:%u", ip, emu_addr_port(a));
	return text;
}

static struct json_object *describe_groups(const struct emu_cma_id *id)
{
	struct json_object *groups = json_object_new_array();
	char text[ADDRESS_TEXT];

	for (const struct emu_cma_group *g = id->groups; g; g = g->next)
		json_object_array_add(groups, json_object_new_string(text_of(&g->addr, text)));
	return groups;
}

static struct json_object *describe_id(const struct emu_cma_id *id)
{
	struct json_object *about = json_object_new_object();
	char text[ADDRESS_TEXT];

	emu_put_number(about, "id", id->number);
	emu_put_text(about, "port_space", port_space(id->ps));
	emu_put_text(about, "state", state(id->state));
	if (id->func)
		emu_put_device(about, id->func->dev);
	emu_put_text(about, "src", text_of(&id->src, text));
	emu_put_text(about, "dst", text_of(&id->dst, text));
	if (id->conn) {
		emu_put_text(about, "connection", emu_cm_state_name(emu_cm_state(id->conn)));
		emu_put_number(about, "qpn", id->qpn);
	}
	json_object_object_add(about, "groups", describe_groups(id));
	return about;
}

static struct json_object *describe_ids(const struct emu_cma_machine *m)
{
	struct json_object *ids = json_object_new_array();

	for (const struct emu_cma_file *f = emu_cma_files; f; f = f->next)
		for (const struct emu_cma_id *id = f->machine == m ? f->ids : NULL; id;
		     id = id->next)
			json_object_array_add(ids, describe_id(id));
	return ids;
}

static void put_messages(struct json_object *to, const char *name, const uint64_t n[EMU_CM_ATTRS])
{
	struct json_object *messages = json_object_new_object();

	for (unsigned int i = 0; i < EMU_CM_ATTRS; i++) {
		const char *attr = n[i] ? emu_cm_attr_name(EMU_CM_REQ + i) : NULL;

		if (attr)
			emu_put_number(messages, attr, n[i]);
	}
	json_object_object_add(to, name, messages);
}

static struct json_object *describe_machine(const struct emu_cma_machine *m)
{
	const struct emu_cm_counters *n = emu_cm_counters(m->cm);
	struct json_object *about = json_object_new_object();

	emu_put_text(about, "machine", m->role);
	json_object_object_add(about, "ids", describe_ids(m));
	put_messages(about, "sent", n->sent);
	put_messages(about, "retried", n->retried);
	put_messages(about, "received", n->received);
	put_messages(about, "duplicate", n->duplicate);
	return about;
}

struct json_object *emu_cma_describe(void)
{
	struct json_object *machines = json_object_new_array();
	const struct emu_cma_machine *m = NULL;

	while ((m = emu_cma_machine_next(m)))
		json_object_array_add(machines, describe_machine(m));
	return machines;
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
	char text[ADDRESS_TEXT];

	if ((!binds && !resolves) || emu_cma_id_get(f, n, &id))
		return;
	a = binds ? id->src : id->dst;
	if (emu_addr_port(&a) >= FIRST_CHOSEN_PORT)
		emu_addr_set_port(&a, 0);
	fputs(binds ? " src=" : " dst=", out);
	fputs(text_of(&a, text), out);
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
