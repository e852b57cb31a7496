/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/dek.h"

#include <errno.h>
#include <string.h>

#include "emu/ipc/sock.h"
#include "emu/prm/prm_dek.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"

#define GIVEN_BITS 64u /* of a word of emu_private.dek[].given */

static uint32_t find_free(void)
{
	uint32_t i = 1;

	while (i < EMU_MAX_DEKS && atomic_load(&emu_tables->dek[i]))
		i++;
	return i < EMU_MAX_DEKS ? i : 0;
}

static void keep(uint32_t number, const uint8_t *ctx, const struct emu_func *f)
{
	struct emu_private_dek *k = &emu_private->dek[number];
	const bool is_256 = emu_prm_get(ctx, EMU_DEK_CTX_KEY_SIZE) == EMU_DEK_SIZE_256;

	memset(k, 0, sizeof(*k));
	k->bytes = is_256 ? EMU_DEK_KEY_BYTES : EMU_DEK_KEY_BYTES / 2;
	memcpy(k->raw, emu_prm_at_const(ctx, EMU_DEK_CTX_KEY) + EMU_DEK_KEY_BYTES - k->bytes,
	       k->bytes);
	k->pdn = (uint32_t)emu_prm_get(ctx, EMU_DEK_CTX_PD);
	k->func = f->index;
	atomic_store(&emu_tables->dek[number], emu_new_serial());
}

static bool is_supported(const uint8_t *ctx)
{
	return emu_prm_get(ctx, EMU_DEK_CTX_KEY_PURPOSE) == EMU_DEK_PURPOSE_GCM &&
	       emu_prm_get(ctx, EMU_DEK_CTX_KEY_SIZE) <= EMU_DEK_SIZE_256 &&
	       !emu_prm_get(ctx, EMU_DEK_CTX_HAS_KEYTAG);
}

int emu_devx_create_dek(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_DEK_IN);
	const uint8_t *ctx = emu_prm_at_const(m->in, EMU_DEK_IN_CONTEXT);
	struct emu_dek *d = (struct emu_dek *)o;

	if (!c->file->func->card->profile->log_max_crypto)
		return emu_refuse(m, EMU_CMD_SYN_DEK_UNSUPPORTED);
	if (m->in_len < EMU_DEK_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_DEK_IN_LEN);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_DEK_RESERVED);
	if (!is_supported(ctx))
		return emu_refuse(m, EMU_CMD_SYN_DEK_KIND);
	d->pd = emu_pd_by_number(c->file, (uint32_t)emu_prm_get(ctx, EMU_DEK_CTX_PD));
	if (!d->pd)
		return emu_refuse(m, EMU_CMD_SYN_DEK_PD);
	d->number = find_free();
	if (!d->number)
		return emu_refuse(m, EMU_CMD_SYN_DEK_LIMIT);
	emu_uobj_hold(&d->pd->obj);
	keep(d->number, ctx, c->file->func);
	emu_prm_set(m->out, EMU_DEK_OUT_OBJ_ID, d->number);
	return 0;
}

/* The key is not part of the answer. */
int emu_devx_query_dek(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_QUERY_DEK_IN);
	const struct emu_dek *d = (const struct emu_dek *)o;
	const struct emu_private_dek *k = &emu_private->dek[d->number];
	const struct emu_prm_value fields[] = {
		{EMU_DEK_CTX_KEY_SIZE,
		 k->bytes == EMU_DEK_KEY_BYTES ? EMU_DEK_SIZE_256 : EMU_DEK_SIZE_128},
		{EMU_DEK_CTX_KEY_PURPOSE, EMU_DEK_PURPOSE_GCM},
		{EMU_DEK_CTX_PD, k->pdn},
	};

	(void)c;
	if (m->op_mod != EMU_OBJ_TYPE_DEK ||
	    emu_prm_get(m->in, EMU_QUERY_DEK_IN_OBJ_ID) != d->number)
		return -EINVAL; /* the kernel compares them with the handle's */
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_DEK_RESERVED);
	if (m->out_len < EMU_QUERY_DEK_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_DEK_OUT_LEN);
	emu_prm_set(m->out, EMU_DEK_OUT_OBJ_ID, d->number);
	EMU_PRM_FILL(emu_prm_at(m->out, EMU_QUERY_DEK_OUT_CONTEXT), fields);
	return 0;
}

/* The engines that have the key wipe it before their next pass. */
static void wake_holders(const struct emu_private_dek *k)
{
	for (uint32_t slot = 0; slot < EMU_MAX_ENGINES; slot++)
		if (k->given[slot / GIVEN_BITS] >> slot % GIVEN_BITS & 1)
			emu_engine_wake(slot);
}

int emu_devx_dek_undo(struct emu_uobj *o)
{
	struct emu_dek *d = (struct emu_dek *)o;
	struct emu_private_dek *k = &emu_private->dek[d->number];

	if (!d->number)
		return 0;
	atomic_store(&emu_tables->dek[d->number], 0);
	emu_grace();
	wake_holders(k);
	explicit_bzero(k, sizeof(*k));
	emu_uobj_release(&d->pd->obj);
	return 0;
}

static bool may_use(const struct emu_qp *q, uint32_t number)
{
	const struct emu_private_dek *k = &emu_private->dek[number % EMU_MAX_DEKS];

	return number < EMU_MAX_DEKS && atomic_load(&emu_tables->dek[number]) &&
	       q->mmo.log_crypto && k->func == q->func && k->pdn == q->pdn;
}

/* If the socket has no room for the answer, the engine asks again. */
void emu_dek_serve(uint32_t qpn, uint32_t number)
{
	const struct emu_qp *q = &emu_queues->qp[qpn];
	const struct emu_proc *p = emu_proc_by_slot(q->engine);
	struct emu_key_given given = {
		.qpn = qpn, .qp_serial = atomic_load(&q->serial), .dek = number};

	if (!p)
		return;
	if (may_use(q, number)) {
		struct emu_private_dek *k = &emu_private->dek[number];

		k->given[p->slot / GIVEN_BITS] |= 1ull << p->slot % GIVEN_BITS;
		given.serial = atomic_load(&emu_tables->dek[number]);
		given.bytes = k->bytes;
		memcpy(given.raw, k->raw, sizeof(given.raw));
	}
	if (!emu_sock_send_now(p->notes.fd, &given, sizeof(given), NULL, 0))
		emu_engine_wake(p->slot);
	explicit_bzero(&given, sizeof(given));
}
