/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The answers of the RDMA netlink family: for devices, ports and objects the attributes that
 * drivers/infiniband/core/nldev.c puts into each answer, in its order.
 */
#include "emu/server/net/nldev.h"

#include <errno.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/rdma_cm.h"
#include "emu/prm/prm_qp.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/qp_context.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/file.h"
#include "emu/server/uverbs/mr.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/srq.h"
#include "emu/server/uverbs/xrc.h"

#define CDEV_MAJOR    231u
#define CDEV_MINOR    192u
#define NETDEV	      "lo"
#define MESSAGE_MAX   3000u /* a nested table continues in another message from here on */
#define ATTRS	      RDMA_NLDEV_ATTR_MAX

#define PORT_DOWN     1u /* enum ib_port_state */
#define PORT_ACTIVE   4u
#define PHYS_DISABLED 3u
#define PHYS_LINK_UP  5u /* enum ib_port_phys_state */
#define NODE_CA	      1u /* RDMA_NODE_IB_CA */

struct request {
	const uint8_t *attr[ATTRS]; /* payload, or NULL */
	uint16_t len[ATTRS];
};

static int parse(const uint8_t *p, size_t len, struct request *r)
{
	struct nlattr a;
	uint16_t type;

	memset(r, 0, sizeof(*r));
	while (len >= sizeof(a)) {
		memcpy(&a, p, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > len)
			return -EINVAL;
		type = a.nla_type & NLA_TYPE_MASK;
		if (type < ATTRS) {
			r->attr[type] = p + NLA_HDRLEN;
			r->len[type] = (uint16_t)(a.nla_len - NLA_HDRLEN);
		}
		if ((size_t)NLA_ALIGN(a.nla_len) >= len)
			break;
		p += NLA_ALIGN(a.nla_len);
		len -= NLA_ALIGN(a.nla_len);
	}
	return 0;
}

static bool get_u32(const struct request *r, unsigned int attr, uint32_t *v)
{
	if (!r->attr[attr] || r->len[attr] != sizeof(*v))
		return false;
	memcpy(v, r->attr[attr], sizeof(*v));
	return true;
}

static bool is_text(const struct request *r, unsigned int attr, const char *text)
{
	size_t n = strlen(text);

	return r->attr[attr] && r->len[attr] >= n && !memcmp(r->attr[attr], text, n) &&
	       (r->len[attr] == n || !r->attr[attr][n]);
}

static bool is_listed(const struct emu_func *f, const char *role)
{
	return !f->dead && !strcmp(f->role, role);
}

static const struct emu_func *func_at(const char *role, uint32_t ibdev)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (emu_topology.func[i].ibdev == ibdev && is_listed(&emu_topology.func[i], role))
			return &emu_topology.func[i];
	return NULL;
}

static const struct emu_func *func_of(const struct request *r, const char *role)
{
	uint32_t ibdev;

	return get_u32(r, RDMA_NLDEV_ATTR_DEV_INDEX, &ibdev) ? func_at(role, ibdev) : NULL;
}

static void put_handle(struct emu_nl *nl, const struct emu_func *f)
{
	char name[16];

	snprintf(name, sizeof(name), "mlx5_%u", f->dev);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_DEV_INDEX, f->ibdev);
	emu_nl_str(nl, RDMA_NLDEV_ATTR_DEV_NAME, name);
}

/* --- devices and ports ------------------------------------------------------------------------ */

static void put_dev(struct emu_nl *nl, const struct emu_func *f)
{
	uint64_t fw = f->card->profile->fw_ver;
	char text[32];

	put_handle(nl, f);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_PORT_INDEX, EMU_PORTS);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_CAP_FLAGS, 0);
	snprintf(text, sizeof(text), "%u.%u.%04u", (unsigned int)(fw >> 32),
		 (unsigned int)(fw >> 16) & 0xffff, (unsigned int)fw & 0xffff);
	emu_nl_str(nl, RDMA_NLDEV_ATTR_FW_VERSION, text);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_NODE_GUID, f->node_guid);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, f->card->guid);
	emu_nl_u8(nl, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_CA);
	emu_nl_u8(nl, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	emu_nl_str(nl, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

static void put_port(struct emu_nl *nl, const struct emu_func *f)
{
	put_handle(nl, f);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	emu_nl_u8(nl, RDMA_NLDEV_ATTR_PORT_STATE, f->port_down ? PORT_DOWN : PORT_ACTIVE);
	emu_nl_u8(nl, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, f->port_down ? PHYS_DISABLED : PHYS_LINK_UP);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_NDEV_INDEX, if_nametoindex(NETDEV));
	emu_nl_str(nl, RDMA_NLDEV_ATTR_NDEV_NAME, NETDEV);
}

/* Call `per_func` for one function or, in a dump, for all. */
static int get_func(struct emu_nl *nl, const char *role, const struct emu_func *f,
		    void (*per_func)(struct emu_nl *nl, const struct emu_func *f))
{
	bool dump = (nl->req.nlmsg_flags & NLM_F_DUMP) != 0;

	if (!dump && !f)
		return -ENODEV;
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++) {
		if (dump ? !is_listed(&emu_topology.func[i], role) : &emu_topology.func[i] != f)
			continue;
		emu_nl_begin(nl, nl->req.nlmsg_type, dump ? NLM_F_MULTI : 0);
		per_func(nl, &emu_topology.func[i]);
		emu_nl_end(nl);
	}
	return 0;
}

static int get_dev(struct emu_nl *nl, const char *role, const struct request *r)
{
	if (!(nl->req.nlmsg_flags & NLM_F_DUMP) && !r->attr[RDMA_NLDEV_ATTR_DEV_INDEX])
		return -EINVAL;
	return get_func(nl, role, func_of(r, role), put_dev);
}

/* A dump is about the ports of one device, which has one port. */
static int get_port(struct emu_nl *nl, const char *role, const struct request *r)
{
	const struct emu_func *f = func_of(r, role);
	bool dump = (nl->req.nlmsg_flags & NLM_F_DUMP) != 0;
	uint32_t port = 1;

	if (!r->attr[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    (!dump && !get_u32(r, RDMA_NLDEV_ATTR_PORT_INDEX, &port)))
		return -EINVAL;
	if (!f)
		return -ENODEV;
	if (port < 1 || port > EMU_PORTS)
		return -EINVAL;
	emu_nl_begin(nl, nl->req.nlmsg_type, dump ? NLM_F_MULTI : 0);
	put_port(nl, f);
	emu_nl_end(nl);
	return 0;
}

/* Registered memory is not pinned: after a fork each process has its own pages. */
static int get_sys(struct emu_nl *nl, const char *role, const struct request *r)
{
	(void)role;
	(void)r;
	emu_nl_begin(nl, nl->req.nlmsg_type, 0);
	emu_nl_u8(nl, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	emu_nl_u8(nl, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	emu_nl_end(nl);
	return 0;
}

/* It belongs to the machine, not to a device. */
static int get_rdma_cm(struct emu_nl *nl)
{
	emu_nl_begin(nl, nl->req.nlmsg_type, 0);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_CHARDEV, EMU_RDMA_CM_MINOR | EMU_RDMA_CM_MAJOR << 8);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_CHARDEV_ABI, RDMA_USER_CM_ABI_VERSION);
	emu_nl_str(nl, RDMA_NLDEV_ATTR_CHARDEV_NAME, EMU_RDMA_CM_NAME);
	emu_nl_end(nl);
	return 0;
}

static int get_chardev(struct emu_nl *nl, const char *role, const struct request *r)
{
	const struct emu_func *f = func_of(r, role);
	uint32_t minor;
	char name[16];

	if (!r->attr[RDMA_NLDEV_ATTR_CHARDEV_TYPE])
		return -EINVAL;
	if (is_text(r, RDMA_NLDEV_ATTR_CHARDEV_TYPE, EMU_RDMA_CM_NAME))
		return get_rdma_cm(nl);
	if (!is_text(r, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs"))
		return -ENOENT;
	if (!f)
		return r->attr[RDMA_NLDEV_ATTR_DEV_INDEX] ? -ENODEV : -EINVAL;
	minor = CDEV_MINOR + f->dev;
	snprintf(name, sizeof(name), "uverbs%u", f->dev);
	emu_nl_begin(nl, nl->req.nlmsg_type, 0);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_MLX5);
	/* huge_encode_dev() */
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_CHARDEV,
		   (minor & 0xffu) | CDEV_MAJOR << 8 | (uint64_t)(minor & ~0xffu) << 12);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1);
	emu_nl_str(nl, RDMA_NLDEV_ATTR_CHARDEV_NAME, name);
	emu_nl_end(nl);
	return 0;
}

/* --- objects ---------------------------------------------------------------------------------- */

static uint32_t pid_of(const struct emu_file *f)
{
	return f->chans ? (uint32_t)f->chans->pid : 0;
}

/* Contexts have no number of their own: use the position among the function's open files. */
static uint32_t ctx_number(const struct emu_file *file)
{
	uint32_t n = 0;

	for (const struct emu_file *f = file->next; f; f = f->next)
		n += f->func == file->func;
	return n;
}

static uint32_t number_of_pd(const struct emu_uobj *o)
{
	return ((const struct emu_pd *)o)->pdn;
}

static uint32_t number_of_cq(const struct emu_uobj *o)
{
	return ((const struct emu_cq_obj *)o)->cqn;
}

static uint32_t number_of_qp(const struct emu_uobj *o)
{
	return ((const struct emu_qp_obj *)o)->qpn;
}

static uint32_t number_of_srq(const struct emu_uobj *o)
{
	return ((const struct emu_srq_obj *)o)->srqn;
}

static uint32_t number_of_mr(const struct emu_uobj *o)
{
	return ((const struct emu_mr *)o)->key >> 8;
}

static void put_pd(struct emu_nl *nl, const struct emu_uobj *o)
{
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_RES_USECNT, o->users);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, number_of_pd(o));
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_CTXN, ctx_number(o->file));
}

static void put_cq(struct emu_nl *nl, const struct emu_uobj *o)
{
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_CQE, emu_queues->cq[number_of_cq(o)].entries - 1);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_RES_USECNT, o->users);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_CQN, number_of_cq(o));
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_CTXN, ctx_number(o->file));
}

static void put_qp(struct emu_nl *nl, const struct emu_uobj *o)
{
	const struct emu_qp_obj *obj = (const struct emu_qp_obj *)o;
	const struct emu_qp *q = &emu_queues->qp[obj->qpn];
	const uint8_t *qpc = emu_qp_context(obj->qpn);

	emu_nl_u32(nl, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_LQPN, obj->qpn);
	if (q->type == EMU_QPT_RC || q->type == EMU_QPT_UC) {
		emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_RQPN,
			   (uint32_t)emu_prm_get(qpc, EMU_QPC_REMOTE_QPN));
		emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_RQ_PSN,
			   (uint32_t)emu_prm_get(qpc, EMU_QPC_NEXT_RCV_PSN));
	}
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_SQ_PSN,
		   (uint32_t)emu_prm_get(qpc, EMU_QPC_NEXT_SEND_PSN));
	emu_nl_u8(nl, RDMA_NLDEV_ATTR_RES_TYPE,
		  q->type == EMU_QPT_DCI ? IB_UVERBS_QPT_DRIVER : q->type);
	emu_nl_u8(nl, RDMA_NLDEV_ATTR_RES_STATE, (uint8_t)atomic_load(&q->state));
	if (obj->pd)
		emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, obj->pd->pdn);
}

static void put_mr(struct emu_nl *nl, const struct emu_uobj *o)
{
	const struct emu_mr *mr = (const struct emu_mr *)o;

	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_RKEY, mr->key);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_LKEY, mr->key);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_MRN, number_of_mr(o));
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, mr->pd->pdn);
}

static void put_srq_qps(struct emu_nl *nl, const struct emu_srq_obj *srq)
{
	const struct emu_file *f = srq->obj.file;
	size_t table = emu_nl_nest(nl, RDMA_NLDEV_ATTR_RES_QP), entry;

	for (unsigned int i = 0; i < f->nobjs; i++) {
		const struct emu_qp_obj *qp = (const struct emu_qp_obj *)f->objs[i];

		if (!qp || qp->obj.type != EMU_T_QP || qp->srq != srq || qp->type == EMU_QPT_DCT)
			continue;
		entry = emu_nl_nest(nl, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
		emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_LQPN, qp->qpn);
		emu_nl_nest_end(nl, entry);
	}
	emu_nl_nest_end(nl, table);
}

static void put_srq(struct emu_nl *nl, const struct emu_uobj *o)
{
	const struct emu_srq_obj *srq = (const struct emu_srq_obj *)o;

	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_SRQN, srq->srqn);
	emu_nl_u8(nl, RDMA_NLDEV_ATTR_RES_TYPE, (uint8_t)srq->type);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_PDN, srq->pd->pdn);
	if (srq->cq)
		emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_CQN, srq->cq->cqn);
	put_srq_qps(nl, srq);
}

/* A kind of object, and the attributes of its table, its entries and its number. */
static const struct kind {
	const char *name;
	uint16_t cmd, table, entry, number;
	enum emu_type type;
	uint32_t (*number_of)(const struct emu_uobj *o);
	void (*put)(struct emu_nl *nl, const struct emu_uobj *o);
} kinds[] = {
	{"pd", RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
	 RDMA_NLDEV_ATTR_RES_PDN, EMU_T_PD, number_of_pd, put_pd},
	{"cq", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
	 RDMA_NLDEV_ATTR_RES_CQN, EMU_T_CQ, number_of_cq, put_cq},
	{"qp", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
	 RDMA_NLDEV_ATTR_RES_LQPN, EMU_T_QP, number_of_qp, put_qp},
	{"mr", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
	 RDMA_NLDEV_ATTR_RES_MRN, EMU_T_MR, number_of_mr, put_mr},
	/* Objects that no connection manager created. */
	{"cm_id", RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_ID,
	 RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, RDMA_NLDEV_ATTR_RES_CM_IDN, EMU_T_NONE, NULL, NULL},
	{"srq", RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
	 RDMA_NLDEV_ATTR_RES_SRQN, EMU_T_SRQ, number_of_srq, put_srq},
};

#define KINDS ARRAY_SIZE(kinds)

/* An XRC target is one queue pair, even if several processes have opened it. The driver does not list targets of DC. */
static bool is_omitted(const struct emu_uobj *o)
{
	const struct emu_qp_obj *qp = (const struct emu_qp_obj *)o;

	if (o->type != EMU_T_QP)
		return false;
	return qp->type == EMU_QPT_DCT ||
	       (qp->type == EMU_QPT_XRC_TGT && emu_qp_next(qp->qpn, NULL) != qp);
}

static const struct emu_uobj *next_obj(const struct emu_file *f, const struct kind *k,
				       unsigned int *h)
{
	while (*h < f->nobjs) {
		const struct emu_uobj *o = f->objs[(*h)++];

		if (o && k->number_of && o->type == k->type && !is_omitted(o))
			return o;
	}
	return NULL;
}

static uint64_t count_objs(const struct emu_func *func, const struct kind *k)
{
	uint64_t n = 0;

	for (const struct emu_file *f = emu_files; f; f = f->next)
		if (f->func == func)
			for (unsigned int h = 0; next_obj(f, k, &h);)
				n++;
	return n;
}

static void put_sum(struct emu_nl *nl, const char *name, uint64_t n)
{
	size_t entry = emu_nl_nest(nl, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	emu_nl_str(nl, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	emu_nl_u64(nl, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, n);
	emu_nl_nest_end(nl, entry);
}

static void put_summary(struct emu_nl *nl, const struct emu_func *func)
{
	uint64_t contexts = 0;
	size_t table;

	put_handle(nl, func);
	table = emu_nl_nest(nl, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (size_t i = 0; i < KINDS; i++)
		put_sum(nl, kinds[i].name, count_objs(func, &kinds[i]));
	for (const struct emu_file *f = emu_files; f; f = f->next)
		contexts += f->func == func && f->has_context;
	put_sum(nl, "ctx", contexts);
	emu_nl_nest_end(nl, table);
}

static int get_res(struct emu_nl *nl, const char *role, const struct request *r)
{
	if (!(nl->req.nlmsg_flags & NLM_F_DUMP) && !r->attr[RDMA_NLDEV_ATTR_DEV_INDEX])
		return -EINVAL;
	return get_func(nl, role, func_of(r, role), put_summary);
}

/* A table, split into as many messages as it needs. */
struct table {
	struct emu_nl *nl;
	const struct emu_func *func;
	uint16_t attr, entry;
	size_t nest;
};

static void table_begin(struct table *t)
{
	emu_nl_begin(t->nl, t->nl->req.nlmsg_type, NLM_F_MULTI);
	put_handle(t->nl, t->func);
	t->nest = emu_nl_nest(t->nl, t->attr);
}

static void table_end(struct table *t)
{
	emu_nl_nest_end(t->nl, t->nest);
	emu_nl_end(t->nl);
}

static size_t row_begin(struct table *t)
{
	if (emu_nl_used(t->nl) > MESSAGE_MAX) {
		table_end(t);
		table_begin(t);
	}
	return emu_nl_nest(t->nl, t->entry);
}

static void dump_objs(struct emu_nl *nl, const struct emu_func *func, const struct kind *k)
{
	struct table t = {.nl = nl, .func = func, .attr = k->table, .entry = k->entry};
	const struct emu_uobj *o;
	size_t row;

	table_begin(&t);
	for (const struct emu_file *f = emu_files; f; f = f->next) {
		if (f->func != func)
			continue;
		for (unsigned int h = 0; (o = next_obj(f, k, &h));) {
			row = row_begin(&t);
			k->put(nl, o);
			emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_PID, pid_of(f));
			emu_nl_nest_end(nl, row);
		}
	}
	table_end(&t);
}

static int get_one_obj(struct emu_nl *nl, const struct emu_func *func, const struct kind *k,
		       uint32_t number)
{
	const struct emu_uobj *o;

	for (const struct emu_file *f = emu_files; f; f = f->next) {
		if (f->func != func)
			continue;
		for (unsigned int h = 0; (o = next_obj(f, k, &h));) {
			if (k->number_of(o) != number)
				continue;
			emu_nl_begin(nl, nl->req.nlmsg_type, 0);
			put_handle(nl, func);
			k->put(nl, o);
			emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_PID, pid_of(f));
			emu_nl_end(nl);
			return 0;
		}
	}
	return -ENOENT;
}

static int get_objs(struct emu_nl *nl, const char *role, const struct request *r,
		    const struct kind *k)
{
	const struct emu_func *func = func_of(r, role);
	uint32_t number;

	if (!r->attr[RDMA_NLDEV_ATTR_DEV_INDEX])
		return -EINVAL;
	if (!func)
		return -ENODEV;
	if (nl->req.nlmsg_flags & NLM_F_DUMP)
		dump_objs(nl, func, k);
	else
		return get_u32(r, k->number, &number) ? get_one_obj(nl, func, k, number) : -EINVAL;
	return 0;
}

static int get_contexts(struct emu_nl *nl, const char *role, const struct request *r)
{
	struct table t = {
		.nl = nl,
		.func = func_of(r, role),
		.attr = RDMA_NLDEV_ATTR_RES_CTX,
		.entry = RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
	};
	size_t row;

	if (!t.func)
		return r->attr[RDMA_NLDEV_ATTR_DEV_INDEX] ? -ENODEV : -EINVAL;
	if (!(nl->req.nlmsg_flags & NLM_F_DUMP))
		return -EOPNOTSUPP;
	table_begin(&t);
	for (const struct emu_file *f = emu_files; f; f = f->next) {
		if (f->func != t.func || !f->has_context)
			continue;
		row = row_begin(&t);
		emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_CTXN, ctx_number(f));
		emu_nl_u32(nl, RDMA_NLDEV_ATTR_RES_PID, pid_of(f));
		emu_nl_nest_end(nl, row);
	}
	table_end(&t);
	return 0;
}

/* The hardware counters of a port. No queue pair has counters of its own. */
static int get_statistic(struct emu_nl *nl, const char *role, const struct request *r)
{
	const struct emu_func *f = func_of(r, role);
	unsigned int i = 0;
	const char *name;
	size_t table, entry;
	uint32_t port;
	uint64_t value;

	if (r->attr[RDMA_NLDEV_ATTR_STAT_RES])
		return nl->req.nlmsg_flags & NLM_F_DUMP ? 0 : -EOPNOTSUPP;
	if (!r->attr[RDMA_NLDEV_ATTR_DEV_INDEX] || !get_u32(r, RDMA_NLDEV_ATTR_PORT_INDEX, &port))
		return -EINVAL;
	if (!f)
		return -ENODEV;
	if (port < 1 || port > EMU_PORTS)
		return -EINVAL;
	emu_nl_begin(nl, nl->req.nlmsg_type, 0);
	put_handle(nl, f);
	emu_nl_u32(nl, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	table = emu_nl_nest(nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	while ((name = emu_counter_hw(f, i++, &value))) {
		entry = emu_nl_nest(nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		emu_nl_str(nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
		emu_nl_u64(nl, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
		emu_nl_nest_end(nl, entry);
	}
	emu_nl_nest_end(nl, table);
	emu_nl_end(nl);
	return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static const struct {
	uint16_t cmd;
	int (*get)(struct emu_nl *nl, const char *role, const struct request *r);
} commands[] = {
	{RDMA_NLDEV_CMD_GET, get_dev},
	{RDMA_NLDEV_CMD_PORT_GET, get_port},
	{RDMA_NLDEV_CMD_SYS_GET, get_sys},
	{RDMA_NLDEV_CMD_GET_CHARDEV, get_chardev},
	{RDMA_NLDEV_CMD_RES_GET, get_res},
	{RDMA_NLDEV_CMD_RES_CTX_GET, get_contexts},
	{RDMA_NLDEV_CMD_STAT_GET, get_statistic},
};

int emu_nldev(struct emu_nl *nl, const char *role, const uint8_t *payload, size_t len)
{
	unsigned int cmd = RDMA_NL_GET_OP(nl->req.nlmsg_type);
	struct request r;
	int err;

	err = parse(payload, len, &r);
	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].cmd == cmd)
			return commands[i].get(nl, role, &r);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].cmd == cmd)
			return get_objs(nl, role, &r, &kinds[i]);
	/*
	 * Commands that change something need an administrator, which the emulator does not have.
	 */
	return cmd < RDMA_NLDEV_NUM_OPS ? -EOPNOTSUPP : -EINVAL;
}
