/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/keys.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/engine/notes.h"
#include "emu/engine/send.h"
#include "emu/engine/state.h"

#define KEYS_BYTES   (ENGINE_KEYS * sizeof(struct emu_key))
#define ASK_AGAIN_NS 10000000u /* the socket of the server had no room for its answer */

static uint32_t serial_of(const struct engine *e, uint32_t dek)
{
	return dek < EMU_MAX_DEKS ? atomic_load(&e->cfg.tables->dek[dek]) : 0;
}

static const struct emu_key *find_kept(const struct emu_send *s, uint32_t dek, uint32_t serial)
{
	const struct emu_key *k = s->e->keys.kept;

	for (uint32_t i = 0; k && i < ENGINE_KEYS; i++)
		if (k[i].serial == serial && k[i].dek == dek && k[i].func == s->q->func &&
		    k[i].pdn == s->q->pdn)
			return &k[i];
	return NULL;
}

/* If the note cannot be sent, the next pass tries again. */
static void ask(struct emu_send *s, uint32_t dek)
{
	const struct emu_note note = {EMU_NOTE_KEY, s->qpn, s->run->serial, dek};
	uint64_t now = monotonic_ns();

	if (s->run->key_asked && now - s->run->key_asked < ASK_AGAIN_NS)
		return;
	if (emu_engine_note(s->e, &note))
		s->run->key_asked = now;
}

const struct emu_key *emu_key_find(struct emu_send *s, uint32_t dek, int *why)
{
	const uint32_t serial = serial_of(s->e, dek);
	const struct emu_key *key = serial ? find_kept(s, dek, serial) : NULL;

	*why = EMU_STEP_WAIT;
	if (!serial || (!key && s->run->key_refused))
		*why = EMU_SYN_LOC_PROT;
	else if (!key)
		ask(s, dek);
	if (key || *why != EMU_STEP_WAIT) {
		s->run->key_asked = 0;
		s->run->key_refused = false;
	}
	return key;
}

static struct emu_key *place(struct engine *e)
{
	long p;

	if (!e->keys.kept) {
		p = syscall(SYS_mmap, NULL, KEYS_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == -1)
			return NULL;
		syscall(SYS_madvise, p, KEYS_BYTES, MADV_DONTDUMP);
		e->keys.kept = (struct emu_key *)p;
	}
	return &e->keys.kept[e->keys.next++ % ENGINE_KEYS];
}

void emu_key_accept(struct engine *e, const struct emu_key_given *g)
{
	struct emu_qp_run *r = g->qpn < EMU_MAX_QPS ? &e->qp_run[g->qpn] : NULL;
	const struct emu_qp *q = &e->cfg.queues->qp[g->qpn % EMU_MAX_QPS];
	struct emu_key *k;

	if (!r || r->serial != g->qp_serial || !r->key_asked)
		return;
	k = g->bytes && g->bytes <= sizeof(k->raw) ? place(e) : NULL;
	if (!k) {
		r->key_refused = true;
		return;
	}
	*k = (struct emu_key){g->dek, g->serial, q->pdn, q->func, g->bytes, {0}};
	memcpy(k->raw, g->raw, sizeof(k->raw));
}

void emu_keys_prune(struct engine *e)
{
	struct emu_key *k = e->keys.kept;

	for (uint32_t i = 0; k && i < ENGINE_KEYS; i++)
		if (k[i].serial && serial_of(e, k[i].dek) != k[i].serial)
			explicit_bzero(&k[i], sizeof(k[i]));
}

void emu_keys_close(struct engine *e)
{
	if (!e->keys.kept)
		return;
	explicit_bzero(e->keys.kept, KEYS_BYTES);
	syscall(SYS_munmap, e->keys.kept, KEYS_BYTES);
	e->keys = (struct emu_keys){0};
}
