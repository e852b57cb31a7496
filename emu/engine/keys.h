/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Data encryption keys (DEK). The server alone has all of them, and gives an engine a key when one of its queues asks
 * for it. The engine keeps some, in memory that core dumps leave out, and wipes a key as soon as it is destroyed.
 */
#ifndef EMU_ENGINE_KEYS_H
#define EMU_ENGINE_KEYS_H

#include <stdint.h>

struct emu_key_given;
struct emu_send;
struct engine;

#define ENGINE_KEYS 64

struct emu_key {
	uint32_t dek;
	uint32_t serial; /* of the DEK; 0: this place is free */
	uint32_t pdn;
	uint16_t func;
	uint8_t bytes;
	uint8_t raw[32];
};

struct emu_keys {
	struct emu_key *kept; /* ENGINE_KEYS, mapped with the first key; or NULL */
	uint32_t next;	      /* to be replaced */
};

/*
 * The key of the request's queue with this number: valid until the end of the pass. NULL: *why is EMU_STEP_WAIT, or the
 * syndrome if the queue may not use it.
 */
const struct emu_key *emu_key_find(struct emu_send *s, uint32_t dek, int *why);
/* The server has answered; the caller wipes the message. */
void emu_key_accept(struct engine *e, const struct emu_key_given *given);
/* Wipe the keys that were destroyed. */
void emu_keys_prune(struct engine *e);
/* Wipe all of them, and give the memory back. */
void emu_keys_close(struct engine *e);

#endif
