/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options of ids. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/server/ucma/command.h"
#include "emu/server/ucma/event.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"
#include "emu/server/ucma/path.h"

#define LONGEST	    (4u << 20) /* KMALLOC_MAX_SIZE of a kernel with pages of 4 KiB */
#define QPT_RC	    2u
#define QPT_XRC_INI 9u

static int set_reuseaddr(struct emu_cma_id *id, bool on)
{
	if (id->state != EMU_CMA_IDLE && (!on || id->state == EMU_CMA_LISTEN))
		return -EINVAL;
	id->reuseaddr = on;
	return 0;
}

static int set_afonly(struct emu_cma_id *id, bool on)
{
	if (id->state != EMU_CMA_IDLE && id->state != EMU_CMA_ADDR_BOUND)
		return -EINVAL;
	id->afonly = on;
	id->afonly_set = true;
	return 0;
}

static int set_ack_timeout(struct emu_cma_id *id, uint8_t timeout)
{
	if (id->qp_type != QPT_RC && id->qp_type != QPT_XRC_INI)
		return -EINVAL;
	id->timeout = timeout;
	id->has_timeout = true;
	return 0;
}

static int set_id_option(struct emu_cma_id *id, uint32_t name, const uint8_t *value, size_t len)
{
	bool is_int = name == RDMA_OPTION_ID_REUSEADDR || name == RDMA_OPTION_ID_AFONLY;
	int on = 0;

	if (name > RDMA_OPTION_ID_ACK_TIMEOUT)
		return -ENOSYS;
	if (len != (is_int ? sizeof(on) : sizeof(*value)))
		return -EINVAL;
	if (is_int)
		memcpy(&on, value, sizeof(on));
	switch (name) {
	case RDMA_OPTION_ID_TOS:
		id->tos = *value;
		id->has_tos = true;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		return set_reuseaddr(id, on != 0);
	case RDMA_OPTION_ID_AFONLY:
		return set_afonly(id, on != 0);
	default:
		return set_ack_timeout(id, *value);
	}
}

/* The program brings a path record in place of RESOLVE_ROUTE. The other paths are left out. */
static int set_path(struct emu_cma_id *id, const uint8_t *value, size_t len)
{
	struct ib_path_rec_data p = {0};

	if (len % sizeof(p))
		return -EINVAL;
	for (size_t at = 0; at < len && p.flags != EMU_PATH_FLAGS; at += sizeof(p))
		memcpy(&p, value + at, sizeof(p));
	if (p.flags != EMU_PATH_FLAGS || !id->func || id->state != EMU_CMA_ADDR_RESOLVED)
		return -EINVAL;
	emu_cma_unpack_path((const uint8_t *)p.path_rec, &id->path);
	id->path.port = id->func;
	id->has_path = true;
	id->state = EMU_CMA_ROUTE_RESOLVED;
	emu_cma_report(id, EMU_CMA_EV_ROUTE_RESOLVED, 0);
	return 0;
}

static int set(struct emu_cma_id *id, const struct rdma_ucm_set_option *cmd, const uint8_t *value)
{
	if (cmd->level == RDMA_OPTION_ID)
		return set_id_option(id, cmd->optname, value, cmd->optlen);
	if (cmd->level != RDMA_OPTION_IB || cmd->optname != RDMA_OPTION_IB_PATH)
		return -ENOSYS;
	return set_path(id, value, cmd->optlen);
}

int emu_cma_set_option(const struct emu_cma_cmd *c)
{
	struct emu_cma_cmd at = *c;
	struct rdma_ucm_set_option cmd;
	struct emu_cma_id *id;
	uint8_t *value;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (cmd.optlen > LONGEST)
		return -EINVAL;
	err = emu_cma_id_get(c->file, cmd.id, &id);
	if (err)
		return err;
	value = malloc(cmd.optlen + 1u);
	if (!value)
		return -ENOMEM;
	at.addr = cmd.optval;
	err = emu_cma_in(&at, value, cmd.optlen);
	if (!err)
		err = set(id, &cmd, value);
	free(value);
	return err;
}
