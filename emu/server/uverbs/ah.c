/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/ah.h"

#include <errno.h>
#include <string.h>

#include "emu/ipc/gid.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/gid.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/pd.h"

/* The MAC address of an EUI-64 (RFC 4291, appendix A). */
static void mac_of_eui64(const uint8_t *eui, uint8_t mac[EMU_MAC_BYTES])
{
	memcpy(mac, eui, 3);
	memcpy(mac + 3, eui + 5, 3);
	mac[0] ^= 2;
}

static bool is_link_local(const uint8_t gid[16])
{
	static const uint8_t prefix[8] = {0xfe, 0x80};

	return !memcmp(gid, prefix, sizeof(prefix));
}

/*
 * The MAC address of a multicast group follows from its address (RFC 2464, 7, and RFC 1112, 6.4).
 */
static bool map_group(const uint8_t dgid[16], uint8_t mac[EMU_MAC_BYTES])
{
	bool v4 = emu_gid_is_ipv4(dgid) && dgid[EMU_GID_IPV4] >> 4 == 0xe;

	if (dgid[0] != 0xff && !v4)
		return false;
	memcpy(mac,
	       v4 ? (const uint8_t[]){0x01, 0x00, 0x5e} : (const uint8_t[]){0x33, 0x33, dgid[12]},
	       3);
	memcpy(mac + 3, dgid + 13, 3);
	if (v4)
		mac[3] &= 0x7f;
	return true;
}

/*
 * A peer outside this emulator. The kernel of this machine finds the way, so nothing reads the MAC address: it is
 * a local one (IEEE 802, bit 1 of the first byte) that differs from peer to peer.
 */
static int resolve_outside(const struct emu_func *f, uint8_t sgid_index, const uint8_t dgid[16],
			   uint8_t mac[EMU_MAC_BYTES])
{
	const struct emu_gid *g = emu_gid_at(f, sgid_index);
	int endpoint = EMU_NO_ENDPOINT;

	if (g && g->type == EMU_GID_ROCE_V2 && g->vlan == EMU_NO_VLAN)
		endpoint = emu_endpoint_find(f, g->raw);
	if (endpoint == EMU_NO_ENDPOINT || emu_endpoint_is_internal(endpoint))
		return -ETIMEDOUT;
	mac[0] = 2;
	memcpy(mac + 1, dgid + 11, 5);
	return emu_endpoint_reaches(endpoint, dgid, NULL);
}

/*
 * A link-local address contains the MAC address, as in the kernel's rdma_get_ll_mac(); for others
 * the neighbour must answer.
 */
static bool is_same_family(const struct emu_func *f, uint8_t sgid_index, const uint8_t dgid[16])
{
	return emu_gid_is_ipv4(emu_gid_at(f, sgid_index)->raw) == emu_gid_is_ipv4(dgid);
}

int emu_resolve(const struct emu_func *f, uint8_t sgid_index, const uint8_t dgid[16],
		uint8_t mac[EMU_MAC_BYTES])
{
	const struct emu_func *to = emu_func_by_gid(dgid);

	if (map_group(dgid, mac))
		return 0;
	if (!is_link_local(dgid) && !is_same_family(f, sgid_index, dgid))
		return -EINVAL; /* rdma_resolve_ip() */
	if (!is_link_local(dgid) && f->is_unanswered)
		return -ETIMEDOUT;
	if (!is_link_local(dgid) && !to)
		return resolve_outside(f, sgid_index, dgid, mac);
	if (is_link_local(dgid))
		mac_of_eui64(dgid + 8, mac);
	else
		emu_func_mac(to, mac);
	return 0;
}

/* On Ethernet an address needs a GRH (ib_check_ah_attr, rdma_check_ah_attr). */
static int check_attr(const struct emu_func *f, const struct ib_uverbs_ah_attr *a)
{
	if (a->port_num < 1 || a->port_num > EMU_PORTS || !a->is_global)
		return -EINVAL;
	if (a->grh.sgid_index >= f->card->profile->max_gids)
		return -EINVAL;
	return emu_gid_at(f, a->grh.sgid_index) ? 0 : -ENODATA; /* rdma_get_gid_attr() */
}

static int answer(struct emu_cmd *c, const struct emu_uobj *ah, const uint8_t mac[EMU_MAC_BYTES])
{
	struct ib_uverbs_create_ah_resp r = {.ah_handle = ah->handle};
	struct mlx5_ib_create_ah_resp uhw = {
		.response_length = offsetof(struct mlx5_ib_create_ah_resp, dmac) + EMU_MAC_BYTES,
	};
	int err;

	memcpy(uhw.dmac, mac, EMU_MAC_BYTES);
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	return err ? err : emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

static int undo(struct emu_uobj *o)
{
	struct emu_ah *ah = (struct emu_ah *)o;

	emu_gid_release(o->file->func, ah->sgid_index);
	ah->pd->obj.users--;
	return 0;
}

int emu_write_create_ah(struct emu_cmd *c)
{
	const size_t least = offsetof(struct mlx5_ib_create_ah_resp, dmac) + EMU_MAC_BYTES;
	struct ib_uverbs_create_ah req;
	uint8_t mac[EMU_MAC_BYTES];
	struct emu_ah *ah;
	struct emu_pd *pd;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	if (req.attr.port_num < 1 || req.attr.port_num > EMU_PORTS)
		return -EINVAL;
	err = emu_cmd_obj(c, req.pd_handle, EMU_T_PD, &pd);
	if (err)
		return err;
	if (emu_attr_len(c, UVERBS_ATTR_UHW_OUT) < least)
		return -EINVAL;
	err = check_attr(c->file->func, &req.attr);
	if (!err)
		err = emu_resolve(c->file->func, req.attr.grh.sgid_index, req.attr.grh.dgid, mac);
	if (err)
		return err;
	ah = emu_uobj_new(c->file, EMU_T_AH, sizeof(*ah), undo);
	if (!ah)
		return -ENOMEM;
	ah->pd = pd;
	pd->obj.users++;
	ah->sgid_index = req.attr.grh.sgid_index;
	emu_gid_hold(c->file->func, ah->sgid_index);
	err = answer(c, &ah->obj, mac);
	if (err)
		emu_uobj_destroy(&ah->obj);
	return err;
}

static int ah_destroy(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, UVERBS_ATTR_DESTROY_AH_HANDLE));
}

const struct emu_method emu_methods_ah[] = {
	{
		.command.name = "ah.destroy",
		.object = UVERBS_OBJECT_AH,
		.method = UVERBS_METHOD_AH_DESTROY,
		.handler = ah_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_AH_HANDLE, EMU_A_OBJ, true, EMU_T_AH}},
	},
	{.handler = NULL},
};
