/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/command.h"

#include <errno.h>
#include <rdma/rdma_user_cm.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/array.h"
#include "emu/server/card/segments.h"
#include "emu/server/mm/unfinished_work.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/ucma/event.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"

/* Linux 6.17 */
#define CMD_RESOLVE_IB_SERVICE 23
#define CMD_WRITE_CM_EVENT     24

/* enum ib_qp_type */
#define QPT_RC 2
#define QPT_UD 4

const struct emu_cma_observer *emu_cma_observer;

int emu_cma_in(const struct emu_cma_cmd *c, void *to, size_t len)
{
	return emu_copy_from(c->pid, to, c->addr, len);
}

int emu_cma_out(const struct emu_cma_cmd *c, uint64_t to, const void *from, size_t len)
{
	return emu_copy_to(c->pid, to, from, len);
}

static int create_id(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_create_id_resp r = {0};
	struct rdma_ucm_create_id cmd;
	struct emu_cma_id *id;
	uint8_t type;
	int err;

	if (c->out < sizeof(r))
		return -ENOSPC;
	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	switch (cmd.ps) {
	case RDMA_PS_TCP:
		type = QPT_RC;
		break;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		type = QPT_UD;
		break;
	case RDMA_PS_IB:
		type = cmd.qp_type;
		break;
	default:
		return -EINVAL;
	}
	id = emu_cma_id_new(c->file, cmd.ps, type);
	if (!id)
		return -ENOMEM;
	id->uid = cmd.uid;
	r.id = id->number;
	err = emu_cma_out(c, cmd.response, &r, sizeof(r));
	if (err)
		emu_cma_id_destroy(id);
	return err;
}

/* The id is gone although its answer cannot be stored, as in the kernel. */
static int destroy_id(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_destroy_id_resp r = {0};
	struct rdma_ucm_destroy_id cmd;
	struct emu_cma_id *id;
	int err;

	if (c->out < sizeof(r))
		return -ENOSPC;
	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_id_get(c->file, cmd.id, &id);
	if (err)
		return err;
	if (id->conn && emu_cma_let_send(c, id->qpn))
		return -EAGAIN;
	r.events_reported = emu_cma_id_destroy(id);
	return emu_cma_out(c, cmd.response, &r, sizeof(r));
}

/* The open file behind a descriptor of the process. */
static int file_of(pid_t pid, uint32_t fd, struct emu_cma_file **f)
{
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)pid, fd);
	if (stat(path, &st))
		return -ENOENT;
	*f = S_ISFIFO(st.st_mode) ? emu_cma_file_find(st.st_dev, st.st_ino) : NULL;
	return *f ? 0 : -EINVAL;
}

static int migrate_id(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_migrate_resp r = {0};
	struct rdma_ucm_migrate_id cmd;
	struct emu_cma_file *from;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = file_of(c->pid, cmd.fd, &from);
	if (!err && from->machine != c->file->machine)
		err = -EINVAL;
	if (!err)
		err = emu_cma_id_get(from, cmd.id, &id);
	if (err)
		return err;
	r.events_reported = id->events_reported;
	emu_cma_id_move(id, c->file);
	return emu_cma_out(c, cmd.response, &r, sizeof(r));
}

/* Ethernet has no subnet administration that knows services. */
static int resolve_ib_service(const struct emu_cma_cmd *c)
{
	struct emu_cma_id *id;
	uint32_t number;
	int err;

	err = emu_cma_in(c, &number, sizeof(number));
	if (!err)
		err = emu_cma_id_get_dev(c->file, number, &id);
	return err ? err : -EOPNOTSUPP;
}

static emu_cma_command *const commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = create_id,
	[RDMA_USER_CM_CMD_DESTROY_ID] = destroy_id,
	[RDMA_USER_CM_CMD_BIND_IP] = emu_cma_bind_ip,
	[RDMA_USER_CM_CMD_RESOLVE_IP] = emu_cma_resolve_ip,
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = emu_cma_resolve_route,
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = emu_cma_query_route,
	[RDMA_USER_CM_CMD_CONNECT] = emu_cma_connect,
	[RDMA_USER_CM_CMD_LISTEN] = emu_cma_listen,
	[RDMA_USER_CM_CMD_ACCEPT] = emu_cma_accept_id,
	[RDMA_USER_CM_CMD_REJECT] = emu_cma_reject,
	[RDMA_USER_CM_CMD_DISCONNECT] = emu_cma_disconnect,
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = emu_cma_init_qp_attr,
	[RDMA_USER_CM_CMD_GET_EVENT] = emu_cma_get_event,
	[RDMA_USER_CM_CMD_GET_OPTION] = NULL, /* the kernel has none either: -ENOSYS */
	[RDMA_USER_CM_CMD_SET_OPTION] = emu_cma_set_option,
	[RDMA_USER_CM_CMD_NOTIFY] = emu_cma_notify,
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = emu_cma_join_ip_mcast,
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = emu_cma_leave_mcast,
	[RDMA_USER_CM_CMD_MIGRATE_ID] = migrate_id,
	[RDMA_USER_CM_CMD_QUERY] = emu_cma_query,
	[RDMA_USER_CM_CMD_BIND] = emu_cma_bind,
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = emu_cma_resolve_addr,
	[RDMA_USER_CM_CMD_JOIN_MCAST] = emu_cma_join_mcast,
	[CMD_RESOLVE_IB_SERVICE] = resolve_ib_service,
	[CMD_WRITE_CM_EVENT] = emu_cma_write_event,
};

int emu_cma_let_send(const struct emu_cma_cmd *c, uint32_t qpn)
{
	if (c->again || !qpn || qpn >= EMU_MAX_QPS || !atomic_load(&emu_queues->qp[qpn].serial) ||
	    !emu_has_unfinished_work(&emu_queues->qp[qpn]))
		return 0;
	c->reply->flags = EMU_REPLY_LET_SEND;
	c->reply->val[0] = qpn;
	return -EAGAIN;
}

int emu_cma_execute(struct emu_cma_file *f, pid_t pid, const struct emu_rdma_cm_request *q,
		    struct emu_reply *reply)
{
	struct rdma_ucm_cmd_hdr h;
	struct emu_cma_cmd c = {
		.file = f, .pid = pid, .addr = q->addr, .again = q->again != 0, .reply = reply};
	int err;

	if (q->len < sizeof(h))
		return -EINVAL;
	err = emu_cma_in(&c, &h, sizeof(h));
	if (err)
		return err;
	if (h.cmd >= ARRAY_SIZE(commands) || h.in + sizeof(h) > q->len)
		return -EINVAL;
	if (!commands[h.cmd])
		return -ENOSYS;
	c.addr = q->addr + sizeof(h);
	c.in = h.in;
	c.out = h.out;
	err = commands[h.cmd](&c);
	if (emu_cma_observer && !(reply->flags & EMU_REPLY_LET_SEND))
		emu_cma_observer->command(&c, h.cmd, err);
	return err;
}
