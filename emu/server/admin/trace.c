/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/gid.h"
#include "emu/prm/prm_cmd.h"
#include "emu/server/admin/control.h"
#include "emu/server/admin/fault.h"
#include "emu/server/admin/status.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/syndrome.h"
#include "emu/server/mm/user_copy.h"

#define MAILBOX_MAX 256u
#define CQ_UPDATE   0x08u
#define SOLICITED   0x02u

static bool tracing, with_addresses;
static unsigned int last_context;

/* The current line: one command runs at a time. A line within it is written first. */
static struct line {
	char text[EMU_TRACE_LINE];
	size_t len;
	const char *role;
	bool failed;
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

static void begin_line(const char *role)
{
	line.len = 0;
	line.role = role;
	line.failed = false;
	if (role)
		put("%s ", role);
}

static void end_line(void)
{
	if (line.len > sizeof(line.text) - 2)
		line.len = sizeof(line.text) - 2;
	line.text[line.len++] = '\n';
	emu_control_publish(&(struct emu_trace_line){line.text, line.len, line.role, line.failed});
	line.len = 0;
}

void emu_trace_start(bool addresses)
{
	for (struct emu_file *f = emu_files; f; f = f->next)
		f->trace_id = 0;
	last_context = 0;
	with_addresses = addresses;
	tracing = true;
	atomic_store(&emu_queues->tracing, 1);
	emu_cma_trace(true);
}

void emu_trace_stop(void)
{
	tracing = false;
	atomic_store(&emu_queues->tracing, 0);
	emu_cma_trace(false);
}

/* --- values ----------------------------------------------------------------------------------- */

static void put_address(uint64_t addr)
{
	if (with_addresses)
		put("0x%llx", (unsigned long long)addr);
	else
		put("*");
}

/* Print an address as an offset in the memory of its key. */
static void put_part(uint32_t key, uint64_t addr)
{
	const struct emu_mkey *m = key >> 8 < EMU_MAX_MKEYS ? &emu_tables->mkey[key >> 8] : NULL;

	put("%#x", key >> 8);
	if (with_addresses)
		put("@0x%llx", (unsigned long long)addr);
	else if (m && atomic_load(&m->serial) && addr >= m->start)
		put("+%#llx", (unsigned long long)(addr - m->start));
	else
		put("+*");
}

/* Print the names of bits, from bit 0 on. */
static void put_flags(uint64_t v, const char *const *names, size_t n)
{
	const char *sep = "";

	for (size_t i = 0; i < n; i++, v >>= 1) {
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

	put_flags(v, names, ARRAY_SIZE(names));
}

static void put_word(uint64_t v, const char *const *names, size_t n)
{
	if (v < n && names[v])
		put("%s", names[v]);
	else
		put("%llu", (unsigned long long)v);
}

static void put_code(uint64_t v, const char *const *names, size_t n)
{
	if (v < n && names[v])
		put("%s", names[v]);
	else
		put("%#llx", (unsigned long long)v);
}

static void put_qp_type(uint64_t v)
{
	static const char *const names[] = {
		[2] = "RC",	  [3] = "UC",	     [4] = "UD",	[8] = "RAW_PACKET",
		[9] = "XRC_SEND", [10] = "XRC_RECV", [0xff] = "DRIVER",
	};

	put_word(v, names, ARRAY_SIZE(names));
}

static void put_qp_state(uint64_t v)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	put_word(v, names, ARRAY_SIZE(names));
}

static void put_decimal(uint64_t v)
{
	put("%llu", (unsigned long long)v);
}

static void put_hex(uint64_t v)
{
	put("%#llx", (unsigned long long)v);
}

/* --- fields of commands ----------------------------------------------------------------------- */

static void (*const print[])(uint64_t v) = {
	[EMU_DECIMAL] = put_decimal, [EMU_HEX] = put_hex,	  [EMU_ADDRESS] = put_address,
	[EMU_ACCESS] = put_access,   [EMU_QP_TYPE] = put_qp_type, [EMU_QP_STATE] = put_qp_state,
};

static bool is_in_mailbox(const struct emu_field *f)
{
	return f->part == EMU_FIELD_MBOX || f->part == EMU_FIELD_MBOX_OUT;
}

static bool is_input(const struct emu_field *f)
{
	return f->part == EMU_FIELD_IN || f->part == EMU_FIELD_MBOX;
}

static uint64_t decode(const struct emu_field *f, const uint8_t *bytes)
{
	uint64_t v = 0;

	if (is_in_mailbox(f))
		return emu_prm_get(bytes, EMU_PRM_BITS(f->at, f->width));
	memcpy(&v, bytes + f->at, f->width);
	return v;
}

/* The number of bytes of the attribute that the field needs. */
static size_t span(const struct emu_field *f)
{
	if (is_in_mailbox(f))
		return (f->at + f->width + 7u) / 8;
	return (size_t)f->at + f->width;
}

/* Short inputs are in the attribute itself, and may be shorter than its 8 bytes. */
static const uint8_t *read_input(const struct emu_cmd *c, const struct emu_field *f,
				 uint8_t bytes[MAILBOX_MAX])
{
	const struct ib_uverbs_attr *a = emu_attr(c, f->attr);
	size_t need = span(f);

	if (!a || need > MAILBOX_MAX)
		return NULL;
	memset(bytes, 0, MAILBOX_MAX);
	if (a->len <= sizeof(a->data))
		memcpy(bytes, &a->data, sizeof(a->data));
	else if (a->len < need || emu_copy_from(c->chan->pid, bytes, a->data, need))
		return NULL;
	return bytes;
}

static const uint8_t *read_output(const struct emu_cmd *c, const struct emu_field *f)
{
	for (unsigned int i = 0; i < c->nouts; i++)
		if (c->attr[c->out[i].attr].attr_id == f->attr && c->out[i].len >= span(f))
			return c->out[i].data;
	return NULL;
}

/*
 * A link-local address contains a GUID, which depends on the emulator's directory: its owner is
 * printed, so that traces can be compared.
 */
static void put_gid(const uint8_t gid[16])
{
	const struct emu_func *owner = gid[0] == 0xfe ? emu_func_by_gid(gid) : NULL;
	char text[INET6_ADDRSTRLEN];

	if (owner && !with_addresses)
		put("%s:mlx5_%u", owner->role, owner->dev);
	else
		put("%s", emu_gid_text(gid, text));
}

/* A GID that is not set is not shown. */
static bool is_shown(const struct emu_field *f, const uint8_t *bytes)
{
	static const uint8_t none[16];

	return f->format != EMU_GID || memcmp(bytes + f->at, none, sizeof(none)) != 0;
}

static void put_fields(const struct emu_cmd *c, bool input)
{
	const struct emu_field *f = emu_cmd_command(c)->fields;
	uint8_t room[MAILBOX_MAX];
	const uint8_t *bytes;

	for (; f && f->name; f++) {
		if (is_input(f) != input)
			continue;
		bytes = input ? read_input(c, f, room) : read_output(c, f);
		if (!bytes || !is_shown(f, bytes))
			continue;
		put(" %s=", f->name);
		if (f->format == EMU_GID)
			put_gid(bytes + f->at);
		else
			print[f->format](decode(f, bytes));
	}
}

/* Print the handles of the objects that the command uses. */
static void put_objects(const struct emu_cmd *c)
{
	const struct emu_uobj *o;

	for (const struct emu_attr_spec *s = c->method->attr;
	     s < c->method->attr + ARRAY_SIZE(c->method->attr) && s->kind; s++) {
		o = s->kind == EMU_A_OBJ ? emu_attr_obj(c, s->id) : NULL;
		if (o)
			put(" %s=%u", emu_type_name(o->type), o->handle);
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
	const char *name = tracing ? emu_cmd_command(c)->name : NULL;

	line.len = 0;
	if (!name)
		return;
	emu_proc_drain_notes(emu_proc_of(c->chan->pid));
	begin_line(c->file->func->role);
	put_context(c->file);
	put(" %s", name);
	put_objects(c);
	put_fields(c, true);
}

static void put_verdict(int err)
{
	const char *name = err ? strerrorname_np(-err) : "0";

	put(" -> %s", name ? name : "?");
	line.failed = err;
}

#define STATUS(name, number, errnum, meaning) [number] = #name,

/* A syndrome that a fault rule chose has neither a name nor a meaning. */
static void put_status(const struct emu_cmd *c)
{
	static const char *const statuses[] = {EMU_STATUSES(STATUS)};
	const uint8_t *out = c->nouts ? c->out[0].data : NULL;
	struct emu_cmd_refusal refusal;
	uint32_t syndrome;

	if (!out || c->out[0].len < 8)
		return;
	put(" status=");
	put_code(emu_prm_get(out, EMU_CMD_OUT_STATUS), statuses, ARRAY_SIZE(statuses));
	syndrome = (uint32_t)emu_prm_get(out, EMU_CMD_OUT_SYNDROME);
	refusal = emu_cmd_refusal(syndrome);
	put(" syndrome=%#x", syndrome);
	if (refusal.name)
		put(" %s (%s)", refusal.name, refusal.sentence);
}

/* A command that will be sent again is traced then. */
void emu_trace_end(const struct emu_cmd *c, int err)
{
	if (!line.len || c->first)
		return;
	put_verdict(err);
	if (err == -EREMOTEIO)
		put_status(c);
	if (err && c->answer) {
		put(" (%s)", c->answer);
		line.failed = false;
	}
	if (!err && c->created)
		put(" %s=%u", emu_type_name(c->created->type), c->created->handle);
	if (!err)
		put_fields(c, false);
	end_line();
}

void emu_trace_line(const char *role, const char *text, int err)
{
	const struct line outer = line;

	begin_line(role);
	put("%s", text);
	if (err <= 0)
		put_verdict(err);
	end_line();
	line = outer;
}

void emu_trace_mmap(struct emu_file *f, uint64_t len, int err)
{
	if (!tracing)
		return;
	begin_line(f->func->role);
	put_context(f);
	put(" " EMU_NAME_MMAP " length=%llu", (unsigned long long)len);
	put_verdict(err);
	end_line();
}

/* The words come from another process. */
void emu_trace_fault(const char *words, int err)
{
	if (!tracing)
		return;
	begin_line(NULL);
	put("fault ");
	for (; *words; words++)
		put("%c", *words < ' ' || *words > '~' ? '?' : *words);
	put_verdict(err);
	end_line();
}

/* --- work requests ---------------------------------------------------------------------------- */

#define OPCODE(name, number) [number] = #name,

static void put_opcode(uint8_t v)
{
	static const char *const names[] = {EMU_WQE_OPCODES(OPCODE)};

	put_code(v, names, ARRAY_SIZE(names));
}

/* Which of the engines for MMO works; most requests are copies. */
static void put_engine(uint8_t opmod)
{
	static const char *const names[] = {EMU_MMO_ENGINES(OPCODE)};

	if (opmod == EMU_MMO_dma)
		return;
	put(" ");
	put_code(opmod, names, ARRAY_SIZE(names));
}

#define SYNDROME(name, number, vendor, word, meaning) [number] = (word),

static void put_syndrome(uint8_t v)
{
	static const char *const names[] = {[EMU_SYN_OK] = "OK", EMU_CQE_SYNDROMES(SYNDROME)};

	put_code(v, names, ARRAY_SIZE(names));
}

static void put_pieces(const struct emu_note_wr *n)
{
	for (uint32_t i = 0; i < n->nsge && i < EMU_TRACE_SGES; i++) {
		const struct emu_sge *s = &n->sge[i];

		put(" [");
		if (s->inl)
			put("inline");
		else
			put_part(s->lkey, s->addr);
		put(" %llu]", (unsigned long long)s->len);
	}
	if (n->nsge > EMU_TRACE_SGES)
		put(" ... %u pieces", n->nsge);
}

static bool is_remote(uint8_t opcode)
{
	return opcode == EMU_WQE_RDMA_WRITE || opcode == EMU_WQE_RDMA_WRITE_IMM ||
	       opcode == EMU_WQE_RDMA_READ || opcode == EMU_WQE_ATOMIC_CS ||
	       opcode == EMU_WQE_ATOMIC_FA;
}

void emu_trace_wr(const struct emu_note_wr *n)
{
	const struct line outer = line; /* of the command that waits for this work request */
	const struct emu_qp *q;

	if (!tracing || n->note.number >= EMU_MAX_QPS)
		return;
	q = &emu_queues->qp[n->note.number];
	if (q->func >= emu_topology.nfuncs)
		return;
	begin_line(emu_topology.func[q->func].role);
	if (n->lost)
		put("(%u lost) ", n->lost);
	put("qpn=%#x ", n->note.number);
	put_opcode(n->opcode);
	if (n->opcode == EMU_WQE_MMO)
		put_engine(n->opmod);
	put(" length=%llu", (unsigned long long)n->len);
	if (n->flags & CQ_UPDATE)
		put(" signaled");
	if (n->flags & SOLICITED)
		put(" solicited");
	if (is_remote(n->opcode)) {
		put(" remote=");
		put_part(n->rkey, n->raddr);
	}
	if (n->opcode == EMU_WQE_ATOMIC_CS)
		put(" swap=%#llx compare=%#llx", (unsigned long long)n->operand[0],
		    (unsigned long long)n->operand[1]);
	if (n->opcode == EMU_WQE_ATOMIC_FA)
		put(" add=%#llx", (unsigned long long)n->operand[0]);
	if (n->opcode == EMU_WQE_RDMA_WRITE_IMM || n->opcode == EMU_WQE_SEND_IMM)
		put(" imm=%#x", n->imm);
	put_pieces(n);
	put(" -> ");
	put_syndrome(n->syndrome);
	line.failed = n->syndrome != EMU_SYN_OK;
	end_line();
	line = outer;
}
