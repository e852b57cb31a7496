/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands of the firmware through DEVX: which the kernel lets through, each word of them, and the answers. */
#include <stdio.h>

#include "../commands/prm.h"
#include "answers.h"
#include "base/array.h"
#include "uverbs_umem.h"

#define HEADER 16u
#define MOST   4096u

static uint8_t in[MOST], out[MOST];
static uint32_t pdn, eqn, cqn, umem_id, created;

static int send_other(size_t in_len, size_t out_len)
{
	union command c;

	memset(out, 0, sizeof(out));
	begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, in_len);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, out_len);
	return issue(answers_fd, &c);
}

static int send_create(size_t in_len, size_t out_len)
{
	union command c;
	int err;

	memset(out, 0, sizeof(out));
	begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	add(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0, 0);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, in_len);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, out_len);
	err = issue(answers_fd, &c);
	created = (uint32_t)c.hdr.attrs[0].data;
	return err;
}

/* The syndrome is the firmware's own, so only whether there is one. */
static void say_status(int err)
{
	say_errno(err);
	if (err == EREMOTEIO)
		say(" status=0x%x syndrome=%s", out[0], prm_get(out, 0x20, 32) ? "set" : "0");
	say("\n");
}

static void command(uint16_t opcode)
{
	memset(in, 0, sizeof(in));
	prm_put(in, IN_OPCODE, opcode);
}

/* --- commands without an object ---------------------------------------------------------------- */

static void say_words(size_t len)
{
	for (size_t i = 8; i < len; i += 4)
		if (prm_get(out, (unsigned int)i * 8, 32))
			say("  word 0x%zx = 0x%lx\n", i, prm_get(out, (unsigned int)i * 8, 32));
}

static void ask_capabilities(void)
{
	for (unsigned int type = 0; type < 0x40; type++)
		for (unsigned int current = 0; current < 2; current++) {
			int err;

			command(CMD_QUERY_HCA_CAP);
			prm_put(in, IN_OP_MOD, type << 1 | current);
			err = send_other(HEADER, MOST);
			say("QUERY_HCA_CAP of type 0x%x, %s", type, current ? "current" : "most");
			say_status(err);
			if (!err && current)
				say_words(MOST);
		}
}

static void ask_opcodes(void)
{
	for (unsigned int opcode = 0x100; opcode < 0xd10; opcode++) {
		int err;

		command((uint16_t)opcode);
		err = send_other(HEADER, 512);
		if (err == EINVAL) /* the kernel lets it not through */
			continue;
		say("general command 0x%x", opcode);
		say_status(err);
	}
	for (unsigned int opcode = 0x100; opcode < 0xd10; opcode++) {
		int err;

		command((uint16_t)opcode);
		err = send_create(1024, 64);
		if (err == EINVAL)
			continue;
		say("creating command 0x%x", opcode);
		say_status(err);
		if (!err)
			pool_destroy(MKEY, created);
	}
}

/* --- objects ------------------------------------------------------------------------------------ */

static void fill_mkey(void)
{
	command(CMD_CREATE_MKEY);
	prm_put(in, MKC_ACCESS_MODE_1_0, MTT);
	prm_put(in, MKC_A_TO_LR, MKC_LR | MKC_LW);
	prm_put(in, MKC_QPN, MKC_QPN_ANY);
	prm_put(in, MKC_PD, pdn);
	prm_put(in, MKC_LEN, PAGE);
	prm_put(in, MKC_TRANSLATIONS_OCTWORD_SIZE, 1);
	prm_put(in, MKC_LOG_PAGE_SIZE, 12);
	prm_put(in, MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, 1);
	prm_put(in, MKEY_UMEM_ID, umem_id);
}

static void fill_klm(void)
{
	command(CMD_CREATE_MKEY);
	prm_put(in, MKC_ACCESS_MODE_1_0, KLM);
	prm_put(in, MKC_FREE, 1);
	prm_put(in, MKC_UMR_EN, 1);
	prm_put(in, MKC_A_TO_LR, MKC_LR);
	prm_put(in, MKC_QPN, MKC_QPN_ANY);
	prm_put(in, MKC_PD, pdn);
	prm_put(in, MKC_TRANSLATIONS_OCTWORD_SIZE, 4);
}

static void fill_pd(void)
{
	command(CMD_ALLOC_PD);
}

static void fill_counter(void)
{
	command(CMD_ALLOC_FLOW_COUNTER);
}

static void fill_q_counter(void)
{
	command(CMD_ALLOC_Q_COUNTER);
}

static void fill_domain(void)
{
	command(0x816);
}

/* In the first page of the ring: 16 entries. The records are in the second. */
static void fill_cq(void)
{
	command(CMD_CREATE_CQ);
	prm_put(in, AT(0x10, 0x63, 5), 4);
	prm_put(in, AT(0x10, 0x68, 24), doorbells);
	prm_put(in, AT(0x10, 0xb8, 8), eqn);
	prm_put(in, AT(0x10, 0x20, 32), umem_id);
	prm_put(in, AT(0x10, 0x1c0, 64), PAGE);
	prm_put(in, 0x2c0, 32, umem_id);
}

static void fill_qp(void)
{
	command(CMD_CREATE_QP);
	prm_put(in, AT(0x18, 0x28, 24), pdn);
	prm_put(in, AT(0x18, 0x49, 4), 2);
	prm_put(in, AT(0x18, 0x4d, 3), 2);
	prm_put(in, AT(0x18, 0x51, 4), 2);
	prm_put(in, AT(0x18, 0x68, 24), doorbells);
	prm_put(in, AT(0x18, 0x3e8, 24), cqn);
	prm_put(in, AT(0x18, 0x4e8, 24), cqn);
	prm_put(in, AT(0x18, 0x500, 64), PAGE + 8);
	prm_put(in, AT(0x18, 0x720, 32), umem_id);
	prm_put(in, 0x800, 64, 1024);
	prm_put(in, 0x840, 32, umem_id);
}

static void fill_ud(void)
{
	fill_qp();
	prm_put(in, AT(0x18, 0x8, 8), 2);
}

static const struct object_command {
	const char *name;
	void (*fill)(void);
	uint16_t in_len, out_len;
	uint16_t query, query_len; /* the command that reads it, and its answer */
	const char *context;	   /* its kind, for contexts.c */
} objects[] = {
	{"mkey", fill_mkey, 0x110, HEADER, CMD_QUERY_MKEY, 0x110, ""},
	{"mkey of klm", fill_klm, 0x110, HEADER, CMD_QUERY_MKEY, 0x110, ""},
	{"pd", fill_pd, HEADER, HEADER, 0, 0, ""},
	{"flow counter", fill_counter, HEADER, HEADER, CMD_QUERY_FLOW_COUNTER, 32, ""},
	{"q counter", fill_q_counter, HEADER, HEADER, 0x773, 256, ""},
	{"transport domain", fill_domain, HEADER, HEADER, 0, 0, ""},
	{"cq", fill_cq, 0x110, HEADER, CMD_QUERY_CQ, 0x60, "cq"},
	{"qp", fill_qp, 0x110, HEADER, CMD_QUERY_QP, 0x118, "qp"},
	{"ud qp", fill_ud, 0x110, HEADER, CMD_QUERY_QP, 0x118, "qp"},
};

static void say_create(const struct object_command *o, int err)
{
	say_status(err);
	if (!err && pool_destroy(MKEY, created))
		say("devx %s cannot be destroyed\n", o->name);
}

static void ask_lengths(const struct object_command *o)
{
	static const int changes[] = {-4, 4, -8, 8, 16};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		o->fill();
		say("devx %s, in length %+d", o->name, changes[i]);
		say_create(o, send_create(o->in_len + (size_t)changes[i], o->out_len));
		o->fill();
		say("devx %s, out length %+d", o->name, changes[i]);
		say_create(o, send_create(o->in_len, o->out_len + (size_t)changes[i]));
	}
}

/* Each word of the command, but for its opcode. */
static void ask_words(const struct object_command *o)
{
	static const uint32_t values[] = {0x800000u, 0x80000000u,
					  UINT32_MAX}; /* of a number: none that exists */

	for (unsigned int at = 4; at < o->in_len; at += 4)
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			o->fill();
			prm_put(in, at * 8, 32, prm_get(in, at * 8, 32) ^ values[i]);
			say("devx %s, word 0x%x ^ 0x%x", o->name, at, values[i]);
			say_create(o, send_create(o->in_len, o->out_len));
		}
}

static void ask_query(const struct object_command *o)
{
	static const uint16_t opcodes[] = {0x201, 0x402, 0x50b, 0x773, 0x93b, 0xa02, 0x202, 0x501};
	uint64_t number;
	uint32_t handle;

	o->fill();
	if (send_create(o->in_len, o->out_len))
		return;
	handle = created;
	number = prm_get(out, OUT_NUMBER);
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		command(opcodes[i]);
		prm_put(in, IN_NUMBER, number);
		say("devx %s, query by 0x%x", o->name, opcodes[i]);
		say_status(devx_query(handle, in, opcodes[i] == 0x773 ? 32 : HEADER, out,
				      o->query_len ? o->query_len : HEADER));
		say("devx %s, modify by 0x%x", o->name, opcodes[i]);
		say_status(devx_modify(handle, in, HEADER, out, HEADER));
	}
	say_context(o->context, o->name, handle, (uint32_t)number);
	command(o->query);
	prm_put(in, IN_NUMBER, number + 1);
	say("devx %s, query of another number", o->name);
	say_status(devx_query(handle, in, HEADER, out, o->query_len ? o->query_len : HEADER));
	pool_destroy(MKEY, handle);
}

static uint32_t query_value(uint16_t object, uint16_t method, uint16_t ask, uint16_t ask_len,
			    uint64_t value, uint16_t answer)
{
	uint32_t got = 0;
	union command c;

	begin(&c, object, method);
	add(&c, ask, ask_len, value);
	add_buf(&c, answer, &got, sizeof(got));
	issue(answers_fd, &c);
	return got;
}

void ask_firmware(void)
{
	struct umem u = {.len = 2 * PAGE, .access = IB_UVERBS_ACCESS_LOCAL_WRITE};
	uint32_t cq = 0;

	use_memory();
	u.addr = (uintptr_t)ring;
	reg_umem(answers_fd, &u);
	umem_id = u.id;
	pdn = query_value(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, MLX5_IB_ATTR_QUERY_PD_HANDLE,
			  0, pool_handle(PD), MLX5_IB_ATTR_QUERY_PD_RESP_PDN);
	eqn = query_value(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN,
			  MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 4, 0,
			  MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN);
	ask_capabilities();
	ask_opcodes();
	fill_cq();
	if (!send_create(0x110, HEADER)) {
		cqn = (uint32_t)prm_get(out, OUT_NUMBER);
		cq = created;
	}
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i].fill();
		say("devx %s", objects[i].name);
		say_create(&objects[i], send_create(objects[i].in_len, objects[i].out_len));
		ask_lengths(&objects[i]);
		ask_words(&objects[i]);
		ask_query(&objects[i]);
	}
	say("devx, a umem in use");
	say_errno(dereg_umem(answers_fd, &u));
	say("\ndevx cq, destroyed");
	say_errno(pool_destroy(MKEY, cq));
	say("\ndevx, a umem not in use");
	say_errno(dereg_umem(answers_fd, &u));
	say("\n");
}
