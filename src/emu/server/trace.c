/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "names.h"
#include "prm.h"

#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
#define LINE_BYTES  1024
#define MAILBOX_MAX 256u
#define CQ_UPDATE   0x08u
#define SOLICITED   0x02u

static bool tracing, with_addresses;
static unsigned int last_context;

/* One command runs at a time. */
static struct line {
	char text[LINE_BYTES];
	size_t len;
} line;

static void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *fmt, ...)
{
	size_t room = sizeof(line.text) - line.len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line.text + line.len, room, fmt, ap);
	va_end(ap);
	line.len += n < 0 ? 0 : ((size_t)n < room ? (size_t)n : room - 1);
}

static void begin_line(const struct emu_func *f)
{
	line.len = 0;
	put("%s ", f->role);
}

static void end_line(void)
{
	if (line.len > sizeof(line.text) - 2)
		line.len = sizeof(line.text) - 2;
	line.text[line.len++] = '\n';
	emu_control_publish(line.text, line.len);
	line.len = 0;
}

void emu_trace_start(bool addresses)
{
	struct emu_file *f;

	for (f = emu.files; f; f = f->next)
		f->trace_id = 0;
	last_context = 0;
	with_addresses = addresses;
	tracing = true;
	atomic_store(&emu.queues->tracing, 1);
}

void emu_trace_stop(void)
{
	tracing = false;
	atomic_store(&emu.queues->tracing, 0);
}

/* --- values --------------------------------------------------------------------------------------
 */

static void put_address(uint64_t addr)
{
	if (with_addresses)
		put("0x%llx", (unsigned long long)addr);
	else
		put("*");
}

/* An address as a device sees it: how far into the memory of its key. */
static void put_place(uint32_t key, uint64_t addr)
{
	const struct emu_mkey *m = key >> 8 < EMU_MAX_MKEYS ? &emu.tables->mkey[key >> 8] : NULL;

	put("%#x", key >> 8);
	if (with_addresses)
		put("@0x%llx", (unsigned long long)addr);
	else if (m && atomic_load(&m->serial) && addr >= m->start)
		put("+%#llx", (unsigned long long)(addr - m->start));
	else
		put("+*");
}

/* Names of bits, from bit 0 on. */
static void put_flags(uint64_t v, const char *const *names, size_t n)
{
	const char *sep = "";
	size_t i;

	for (i = 0; i < n; i++, v >>= 1) {
		if (!(v & 1))
			continue;
		put("%s%s", sep, names[i]);
		sep = "|";
	}
	v <<= n;
	if (v || !*sep)
		put("%s%#llx", sep, (unsigned long long)v);
}

static void put_access(uint64_t v)
{
	static const char *const names[] = {
		"LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC",
		"MW_BIND",     "ZERO_BASED",   "ON_DEMAND",   "HUGETLB",
	};

	put_flags(v, names, COUNT(names));
}

static void put_word(uint64_t v, const char *const *names, size_t n)
{
	if (v < n && names[v])
		put("%s", names[v]);
	else
		put("%llu", (unsigned long long)v);
}

static void put_qp_type(uint64_t v)
{
	static const char *const names[] = {
		[2] = "RC",	  [3] = "UC",	     [4] = "UD",	[8] = "RAW_PACKET",
		[9] = "XRC_SEND", [10] = "XRC_RECV", [0xff] = "DRIVER",
	};

	put_word(v, names, COUNT(names));
}

static void put_qp_state(uint64_t v)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	put_word(v, names, COUNT(names));
}

static void put_decimal(uint64_t v)
{
	put("%llu", (unsigned long long)v);
}

static void put_hex(uint64_t v)
{
	put("%#llx", (unsigned long long)v);
}

/* --- fields of commands --------------------------------------------------------------------------
 */

enum where { IN, OUT, MBOX_IN, MBOX_OUT };

/* `at` and `width` are bytes of a struct, or bits of a mailbox. */
static const struct field {
	const char *command, *name;
	enum where where;
	uint16_t attr, at, width;
	void (*print)(uint64_t v);
} fields[] = {
#define CORE(cmd, type, f, print)                                           \
	{                                                                   \
		cmd, #f, IN, UVERBS_ATTR_CORE_IN, offsetof(struct type, f), \
			sizeof(((struct type *)0)->f), print                \
	}
#define CORE_RESP(cmd, type, f, print)                                        \
	{                                                                     \
		cmd, #f, OUT, UVERBS_ATTR_CORE_OUT, offsetof(struct type, f), \
			sizeof(((struct type *)0)->f), print                  \
	}
	CORE_RESP("pd.create", ib_uverbs_alloc_pd_resp, pd_handle, put_decimal),
	CORE("mr.create", ib_uverbs_reg_mr, pd_handle, put_decimal),
	CORE("mr.create", ib_uverbs_reg_mr, start, put_address),
	CORE("mr.create", ib_uverbs_reg_mr, length, put_decimal),
	CORE("mr.create", ib_uverbs_reg_mr, access_flags, put_access),
	CORE_RESP("mr.create", ib_uverbs_reg_mr_resp, mr_handle, put_decimal),
	CORE_RESP("mr.create", ib_uverbs_reg_mr_resp, lkey, put_hex),
	CORE("mr.modify", ib_uverbs_rereg_mr, mr_handle, put_decimal),
	CORE("mr.modify", ib_uverbs_rereg_mr, flags, put_hex),
	CORE("mr.modify", ib_uverbs_rereg_mr, length, put_decimal),
	CORE("mr.modify", ib_uverbs_rereg_mr, access_flags, put_access),
	CORE_RESP("mr.modify", ib_uverbs_rereg_mr_resp, lkey, put_hex),
	CORE("qp.modify", ib_uverbs_modify_qp, qp_handle, put_decimal),
	CORE("qp.modify", ib_uverbs_modify_qp, attr_mask, put_hex),
	CORE("qp.modify", ib_uverbs_modify_qp, qp_state, put_qp_state),
	CORE("qp.modify", ib_uverbs_modify_qp, dest_qp_num, put_hex),
	CORE("qp.query", ib_uverbs_query_qp, qp_handle, put_decimal),
	CORE_RESP("qp.query", ib_uverbs_query_qp_resp, qp_state, put_qp_state),
#define ATTR(cmd, name, attr, width, print)          \
	{                                            \
		cmd, name, IN, attr, 0, width, print \
	}
#define RESP(cmd, name, attr, width, print)           \
	{                                             \
		cmd, name, OUT, attr, 0, width, print \
	}
	ATTR("dm.create", "length", UVERBS_ATTR_ALLOC_DM_LENGTH, 8, put_decimal),
	ATTR("dm.create", "log_align", UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, put_decimal),
	ATTR("mr.create-dm", "offset", UVERBS_ATTR_REG_DM_MR_OFFSET, 8, put_decimal),
	ATTR("mr.create-dm", "length", UVERBS_ATTR_REG_DM_MR_LENGTH, 8, put_decimal),
	ATTR("mr.create-dm", "access_flags", UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 4, put_access),
	RESP("mr.create-dm", "lkey", UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4, put_hex),
	ATTR("mr.create-dmabuf", "offset", UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, put_decimal),
	ATTR("mr.create-dmabuf", "length", UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, put_decimal),
	ATTR("mr.create-dmabuf", "access_flags", UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4,
	     put_access),
	RESP("mr.create-dmabuf", "lkey", UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, put_hex),
	ATTR("cq.create", "cqe", UVERBS_ATTR_CREATE_CQ_CQE, 4, put_decimal),
	RESP("cq.create", "cqe", UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, put_decimal),
	ATTR("qp.create", "type", UVERBS_ATTR_CREATE_QP_TYPE, 4, put_qp_type),
	RESP("qp.create", "qpn", UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4, put_hex),
	ATTR("umem.create", "addr", MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 8, put_address),
	ATTR("umem.create", "length", MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 8, put_decimal),
	ATTR("umem.create", "access", MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 4, put_access),
	RESP("umem.create", "id", MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4, put_decimal),
#define MBOX(cmd, name, attr, at, width, print)            \
	{                                                  \
		cmd, name, MBOX_IN, attr, at, width, print \
	}
#define CREATE_IN  MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN
#define CREATE_OUT MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT
	MBOX("mkey.create", "pd", CREATE_IN, EMU_PRM_BYTE(16) + 0x68, 24, put_decimal),
	MBOX("mkey.create", "mode", CREATE_IN, EMU_PRM_BYTE(16) + 0x16, 2, put_decimal),
	MBOX("mkey.create", "start", CREATE_IN, EMU_PRM_BYTE(16) + 0x80, 64, put_address),
	MBOX("mkey.create", "length", CREATE_IN, EMU_PRM_BYTE(16) + 0xc0, 64, put_decimal),
	{"mkey.create", "index", MBOX_OUT, CREATE_OUT, EMU_PRM_BYTE(9), 24, put_hex},
	MBOX("alias.create", "vhca_id", CREATE_IN, EMU_PRM_BYTE(16), 16, put_decimal),
	MBOX("alias.create", "target", CREATE_IN, EMU_PRM_BYTE(20), 32, put_hex),
	{"alias.create", "index", MBOX_OUT, CREATE_OUT, EMU_PRM_BYTE(8), 32, put_hex},
	MBOX("devx.allow-access", "index", MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, EMU_PRM_BYTE(0x14), 32,
	     put_hex),
	MBOX("devx.query-caps", "op_mod", MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, EMU_PRM_BYTE(6), 16,
	     put_hex),
	MBOX("devx.other", "opcode", MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, 0, 16, put_hex),
	MBOX("devx.create", "opcode", CREATE_IN, 0, 16, put_hex),
	MBOX("devx.modify", "opcode", MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, 0, 16, put_hex),
	MBOX("devx.query", "opcode", MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, 0, 16, put_hex),
};

static uint64_t decode(const struct field *f, const uint8_t *bytes)
{
	uint64_t v = 0;

	if (f->where == MBOX_IN || f->where == MBOX_OUT)
		return emu_prm_get(bytes, f->at, f->width);
	memcpy(&v, bytes + f->at, f->width);
	return v;
}

/* How many bytes of the attribute the field needs. */
static size_t span(const struct field *f)
{
	if (f->where == MBOX_IN || f->where == MBOX_OUT)
		return (f->at + f->width + 7u) / 8;
	return (size_t)f->at + f->width;
}

/* Short inputs are in the attribute itself, and may be shorter than what they are kept in. */
static bool read_input(const struct emu_cmd *c, const struct field *f, uint64_t *v)
{
	const struct ib_uverbs_attr *a = emu_attr(c, f->attr);
	uint8_t bytes[MAILBOX_MAX] = {0};
	size_t need = span(f);

	if (!a || need > sizeof(bytes))
		return false;
	if (a->len <= sizeof(a->data))
		memcpy(bytes, &a->data, sizeof(a->data));
	else if (a->len < need || emu_copy_from(c->chan->pid, bytes, a->data, need))
		return false;
	*v = decode(f, bytes);
	return true;
}

static bool read_output(const struct emu_cmd *c, const struct field *f, uint64_t *v)
{
	unsigned int i;

	for (i = 0; i < c->nouts; i++) {
		if (c->attr[c->out[i].attr].attr_id != f->attr || c->out[i].len < span(f))
			continue;
		*v = decode(f, c->out[i].data);
		return true;
	}
	return false;
}

static void put_fields(const struct emu_cmd *c, const char *name, bool input)
{
	uint64_t v;
	size_t i;

	for (i = 0; i < COUNT(fields); i++) {
		const struct field *f = &fields[i];

		if (strcmp(f->command, name) != 0 ||
		    input != (f->where == IN || f->where == MBOX_IN) ||
		    !(input ? read_input(c, f, &v) : read_output(c, f, &v)))
			continue;
		put(" %s=", f->name);
		f->print(v);
	}
}

static const char *type_name(enum emu_type type)
{
	static const char *const names[] = {
		[EMU_T_PD] = "pd",
		[EMU_T_CQ] = "cq",
		[EMU_T_QP] = "qp",
		[EMU_T_MR] = "mr",
		[EMU_T_DM] = "dm",
		[EMU_T_UAR] = "uar",
		[EMU_T_UMEM] = "umem",
		[EMU_T_DEVX_MKEY] = "mkey",
		[EMU_T_MW] = "mw",
		[EMU_T_DEVX_CQ] = "cq",
		[EMU_T_DEVX_QP] = "qp",
		[EMU_T_DEVX_RMP] = "srq",
		[EMU_T_SRQ] = "srq",
		[EMU_T_DEVX_ALIAS] = "alias",
		[EMU_T_XRCD] = "xrcd",
		[EMU_T_AH] = "ah",
		[EMU_T_DEVX_COUNTER] = "flow_counter",
	};

	return (size_t)type < COUNT(names) && names[type] ? names[type] : "object";
}

/* Handles of the objects that the command is about. */
static void put_objects(const struct emu_cmd *c)
{
	const struct emu_attr_spec *s;
	const struct emu_uobj *o;

	for (s = c->method->attr; s < c->method->attr + COUNT(c->method->attr) && s->kind; s++) {
		o = s->kind == EMU_A_OBJ ? emu_attr_obj(c, s->id) : NULL;
		if (o)
			put(" %s=%u", type_name(o->type), o->handle);
	}
}

static void put_context(struct emu_file *f)
{
	if (!f->trace_id)
		f->trace_id = ++last_context;
	put("c%u", f->trace_id);
}

void emu_trace_begin(const struct emu_cmd *c)
{
	const char *name = tracing ? emu_command_name(c) : NULL;

	line.len = 0;
	if (!name)
		return;
	emu_drain_notes(emu_proc_of(c->chan->pid));
	begin_line(c->file->func);
	put_context(c->file);
	put(" %s", name);
	put_objects(c);
	put_fields(c, name, true);
}

static void put_verdict(int err)
{
	const char *name = err ? strerrorname_np(-err) : "0";

	put(" -> %s", name ? name : "?");
}

static void put_status(const struct emu_cmd *c)
{
	const uint8_t *out = c->nouts ? c->out[0].data : NULL;

	if (out && c->out[0].len >= 8)
		put(" status=%#x syndrome=%#llx", out[0],
		    (unsigned long long)emu_prm_get(out, EMU_PRM_BYTE(4), 32));
}

/* A command that will be sent again, because it needs an engine first, is told of then. */
void emu_trace_end(const struct emu_cmd *c, int err)
{
	if (!line.len || c->need_engine)
		return;
	put_verdict(err);
	if (err == -EREMOTEIO)
		put_status(c);
	if (!err && c->created)
		put(" %s=%u", type_name(c->created->type), c->created->handle);
	if (!err)
		put_fields(c, emu_command_name(c), false);
	end_line();
}

void emu_trace_mmap(struct emu_file *f, uint64_t len, int err)
{
	if (!tracing)
		return;
	begin_line(f->func);
	put_context(f);
	put(" " EMU_NAME_MMAP " length=%llu", (unsigned long long)len);
	put_verdict(err);
	end_line();
}

/* --- work requests -------------------------------------------------------------------------------
 */

struct code {
	uint8_t value;
	const char *name;
};

static void put_code(uint8_t v, const struct code *codes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (codes[i].value != v)
			continue;
		put("%s", codes[i].name);
		return;
	}
	put("%#x", v);
}

static void put_opcode(uint8_t v)
{
	static const struct code codes[] = {
		{0x00, "NOP"},	      {0x01, "SEND_INVAL"},
		{0x08, "RDMA_WRITE"}, {0x09, "RDMA_WRITE_IMM"},
		{0x0a, "SEND"},	      {0x0b, "SEND_IMM"},
		{0x10, "RDMA_READ"},  {0x11, "ATOMIC_CS"},
		{0x12, "ATOMIC_FA"},  {0x25, "UMR"},
		{0x2f, "MMO"},
	};

	put_code(v, codes, COUNT(codes));
}

static void put_syndrome(uint8_t v)
{
	static const struct code codes[] = {
		{0x00, "OK"},
		{0x01, "LOC_LEN_ERR"},
		{0x02, "LOC_QP_OP_ERR"},
		{0x04, "LOC_PROT_ERR"},
		{0x05, "WR_FLUSH_ERR"},
		{0x06, "MW_BIND_ERR"},
		{0x10, "BAD_RESP_ERR"},
		{0x11, "LOC_ACCESS_ERR"},
		{0x12, "REM_INV_REQ_ERR"},
		{0x13, "REM_ACCESS_ERR"},
		{0x14, "REM_OP_ERR"},
		{0x15, "RETRY_EXC_ERR"},
		{0x16, "RNR_RETRY_EXC_ERR"},
		{0x22, "REM_ABORT_ERR"},
	};

	put_code(v, codes, COUNT(codes));
}

static void put_pieces(const struct emu_note_wr *n)
{
	uint32_t i;

	for (i = 0; i < n->nsge && i < EMU_TRACE_SGES; i++) {
		const struct emu_sge *s = &n->sge[i];

		put(" [");
		if (s->inl)
			put("inline");
		else
			put_place(s->lkey, s->addr);
		put(" %llu]", (unsigned long long)s->len);
	}
	if (n->nsge > EMU_TRACE_SGES)
		put(" ... %u pieces", n->nsge);
}

static bool is_remote(uint8_t opcode)
{
	return opcode == 0x08 || opcode == 0x09 || (opcode >= 0x10 && opcode <= 0x12);
}

void emu_trace_wr(const struct emu_note_wr *n)
{
	const struct emu_qp *q;

	if (!tracing || n->note.number >= EMU_MAX_QPS)
		return;
	q = &emu.queues->qp[n->note.number];
	if (q->func >= emu.nfuncs)
		return;
	begin_line(&emu.func[q->func]);
	if (n->lost)
		put("(%u lost) ", n->lost);
	put("qpn=%#x ", n->note.number);
	put_opcode(n->opcode);
	put(" length=%llu", (unsigned long long)n->len);
	if (n->flags & CQ_UPDATE)
		put(" signaled");
	if (n->flags & SOLICITED)
		put(" solicited");
	if (is_remote(n->opcode)) {
		put(" remote=");
		put_place(n->rkey, n->raddr);
	}
	if (n->opcode == 0x11)
		put(" swap=%#llx compare=%#llx", (unsigned long long)n->operand[0],
		    (unsigned long long)n->operand[1]);
	if (n->opcode == 0x12)
		put(" add=%#llx", (unsigned long long)n->operand[0]);
	if (n->opcode == 0x09 || n->opcode == 0x0b)
		put(" imm=%#x", n->imm);
	put_pieces(n);
	put(" -> ");
	put_syndrome(n->syndrome);
	end_line();
}
