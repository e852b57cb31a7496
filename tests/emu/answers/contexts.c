/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The contexts of queues that verbs create, as commands of the firmware read and change them through DEVX. */
#include <stdio.h>

#include "../commands/prm.h"
#include "answers.h"
#include "base/array.h"
#include "verbs.h"

#define CMD_QUERY_RMP	0x90f
#define CMD_MODIFY_RMP	0x90d
#define CMD_QUERY_SRQ	0x702
#define CMD_ARM_XRC_SRQ 0x708

static uint8_t in[512], out[512];

/*
 * Bits of a context that name what the kernel or the card chooses: numbers, addresses, and where memory is. And the
 * limit of a shared receive queue, which the card clears when it sends the event: at once if the queue is empty.
 */
struct chosen {
	uint16_t at; /* of a word of the context */
	uint32_t bits;
};

#define ALL UINT32_MAX

static const struct chosen of_qp[] = {
	{0x04, 0xffffff}, {0x0c, 0xffffff}, {0x14, 0x1fffffff}, {0x34, ALL},
	{0x7c, 0xffffff}, {0x90, 0xfc0},    {0x98, 0xffffff},	{0x9c, 0xffffff},
	{0xa0, ALL},	  {0xa4, ALL},	    {0xac, 0xffffff},	{0xe4, ALL},
	{0, 0},
};
static const struct chosen of_cq[] = {
	{0x04, ALL}, {0x08, ALL}, {0x0c, 0xffffff}, {0x14, ALL},
	{0x18, ALL}, {0x38, ALL}, {0x3c, ALL},	    {0, 0},
};
static const struct chosen of_rmp[] = {
	{0x34, 0x1fffff}, {0x38, 0xffffff}, {0x40, ALL}, {0x44, ALL}, {0x50, 0x1f00}, {0, 0},
};
static const struct chosen of_xrc_srq[] = {
	{0x04, 0xffffff}, {0x08, 0xfcffffff}, {0x10, 0x3f000000}, {0x18, 0xffffff},
	{0x1c, ALL},	  {0x28, ALL},	      {0x2c, ALL},	  {0, 0},
};

static const struct kind_of_context {
	const char *name;
	uint16_t query, out_len, at, len;
	const struct chosen *chosen;
} kinds[] = {
	{"qp", CMD_QUERY_QP, 0x118, 0x18, 0xe8, of_qp},
	{"cq", CMD_QUERY_CQ, 0x60, 0x10, 0x40, of_cq},
	{"rmp", CMD_QUERY_RMP, 0x110, 0x20, 0xf0, of_rmp},
	{"xrc srq", CMD_QUERY_XRC_SRQ, 0x110, 0x10, 0x40, of_xrc_srq},
	{"srq", CMD_QUERY_SRQ, 0x110, 0x10, 0x40, of_xrc_srq},
};

static void say_words(const struct kind_of_context *k)
{
	const struct chosen *chosen = k->chosen;

	for (unsigned int at = 0; at < k->len; at += 4) {
		uint64_t word = prm_get(out, (k->at + at) * 8, 32);

		if (chosen->bits && chosen->at == at)
			word &= ~(uint64_t)chosen++->bits;
		if (word)
			say("  word 0x%x = 0x%lx\n", at, word);
	}
}

static void say_context_of(const struct kind_of_context *k, const char *what, uint32_t handle,
			   uint32_t number)
{
	int err;

	memset(in, 0, sizeof(in));
	prm_put(in, IN_OPCODE, k->query);
	prm_put(in, IN_NUMBER, number);
	err = devx_query(handle, in, 16, out, k->out_len);
	say("context of %s, as a %s", what, k->name);
	say_errno(err);
	say("\n");
	if (!err)
		say_words(k);
}

void say_context(const char *kind, const char *what, uint32_t handle, uint32_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, kind))
			say_context_of(&kinds[i], what, handle, number);
}

static void say_modify(const char *what, const char *how, uint32_t handle, size_t in_len)
{
	int err = devx_modify(handle, in, in_len, out, 16);

	say("%s, %s", what, how);
	say_errno(err);
	if (err == EREMOTEIO)
		say(" status=0x%x", out[0]);
	say("\n");
}

static void moderate(const char *what, uint32_t handle, uint32_t cqn, uint32_t select)
{
	char how[32];

	memset(in, 0, sizeof(in));
	prm_put(in, IN_OPCODE, CMD_MODIFY_CQ);
	prm_put(in, IN_NUMBER, cqn);
	prm_put(in, 0x60, 32, select);
	prm_put(in, AT(0x10, 0x84, 12), 9);
	prm_put(in, AT(0x10, 0x90, 16), 7);
	snprintf(how, sizeof(how), "MODIFY_CQ of fields 0x%x", select);
	say_modify(what, how, handle, 0x110);
}

static void ask_cq(const struct request *create, const char *what)
{
	uint32_t handle, number;

	if (make_numbered(create, UVERBS_ATTR_UHW_OUT, &handle, &number))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		say_context_of(&kinds[i], what, handle, number);
	say_context_of(&kinds[1], "a cq of another number", handle, number + 1);
	moderate(what, handle, number, 3);
	moderate(what, handle, number, 0);
	moderate(what, handle, number, 8);
	say_context_of(&kinds[1], what, handle, number);
	pool_destroy(CQ, handle);
}

static void ask_srq(const struct request *create, const char *what)
{
	uint32_t handle, number;

	if (make_numbered(create, UVERBS_ATTR_UHW_OUT, &handle, &number))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		say_context_of(&kinds[i], what, handle, number);
	memset(in, 0, sizeof(in));
	prm_put(in, IN_OPCODE, CMD_MODIFY_RMP);
	prm_put(in, IN_NUMBER, number);
	prm_put(in, 0x40, 4, 1); /* ready */
	prm_put(in, 0xbf, 1, 1); /* the limit */
	prm_put(in, AT(0x20, 0x180 + 0x30, 16), 5);
	say_modify(what, "MODIFY_RMP of its limit", handle, 0x110);
	memset(in, 0, sizeof(in));
	prm_put(in, IN_OPCODE, CMD_ARM_XRC_SRQ);
	prm_put(in, IN_OP_MOD, 1);
	prm_put(in, IN_NUMBER, number);
	prm_put(in, 0x70, 16, 6);
	say_modify(what, "ARM_XRC_SRQ", handle, 16);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		say_context_of(&kinds[i], what, handle, number);
	pool_destroy(SRQ, handle);
}

void ask_contexts(void)
{
	ask_cq(&create_cq_command, "a cq");
	ask_srq(&create_srq_command, "an srq");
	ask_srq(&create_xsrq, "an xrc srq");
}
