/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/command_queue.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "emu/ipc/bytes.h"

#define TYPE_PCI     7u
#define INLINE_BYTES 16u
#define DATA_BYTES   512u
#define BLOCK_ALIGN  512u
#define MAX_BYTES    (1u << 20) /* of a command or an answer: more than any command needs */
#define LEAST_ROOM   0x110u	/* before the list of any command: zeros follow a shorter one */
#define LEAST_ANSWER 8u		/* status and syndrome */
#define OWNER_HW     0x1u
#define STATUS_SHIFT 1u

/* Whether a command was delivered: the status of its entry. */
enum delivery {
	DELIVERED = 0x00,
	DELIVERY_TOKEN = 0x02,
	DELIVERY_BLOCK_NUMBER = 0x03,
	DELIVERY_OUT_POINTER = 0x04,
	DELIVERY_IN_POINTER = 0x05,
	DELIVERY_FIRMWARE = 0x06,
	DELIVERY_IN_LENGTH = 0x07,
	DELIVERY_OUT_LENGTH = 0x08,
	DELIVERY_RESERVED = 0x09,
	DELIVERY_TYPE = 0x10,
	WAITING = 0x100, /* no status: the entry stays the function's */
};

struct entry {
	uint8_t type;
	uint8_t reserved_1[3];
	uint8_t in_len[4];
	uint8_t in_pointer[8];
	uint8_t in[INLINE_BYTES];
	uint8_t out[INLINE_BYTES];
	uint8_t out_pointer[8];
	uint8_t out_len[4];
	uint8_t token;
	uint8_t signature;
	uint8_t reserved_62;
	uint8_t status_own;
};

struct block {
	uint8_t data[DATA_BYTES];
	uint8_t reserved[48];
	uint8_t next[8];
	uint8_t number[4];
	uint8_t reserved_572;
	uint8_t token;
	uint8_t control_signature;
	uint8_t signature;
};

_Static_assert(sizeof(struct entry) == 1u << EMU_CMDQ_LOG_STRIDE, "entry");
_Static_assert(sizeof(struct block) == 576, "mailbox");

/* The mailboxes of a command: those with what does not fit into its entry. */
struct chain {
	struct emu_guest *guest;
	uint64_t first;
	uint8_t token;
	bool write;
	enum delivery bad_pointer;
};

/* Copy `len` bytes to or from the blocks of a chain; `data` NULL: look only whether that is possible. */
static enum delivery move(const struct chain *c, uint8_t *data, size_t len)
{
	uint64_t at = c->first;

	for (uint32_t number = 0; len; number++) {
		size_t part = len < DATA_BYTES ? len : DATA_BYTES;
		struct block *b =
			at % BLOCK_ALIGN ? NULL : emu_guest_at(c->guest, at, sizeof(*b), c->write);

		if (!b)
			return c->bad_pointer;
		if (b->token != c->token)
			return DELIVERY_TOKEN;
		if (emu_get32(b->number) != number)
			return DELIVERY_BLOCK_NUMBER;
		if (data) {
			memcpy(c->write ? b->data : data, c->write ? data : b->data, part);
			data += part;
		}
		len -= part;
		at = emu_get64(b->next);
	}
	return DELIVERED;
}

static enum delivery check(const struct entry *e)
{
	uint32_t in_len = emu_get32(e->in_len), out_len = emu_get32(e->out_len);

	if (e->type != TYPE_PCI)
		return DELIVERY_TYPE;
	if (e->reserved_1[0] || e->reserved_1[1] || e->reserved_1[2] || e->reserved_62)
		return DELIVERY_RESERVED;
	if (in_len < INLINE_BYTES || in_len > MAX_BYTES)
		return DELIVERY_IN_LENGTH;
	return out_len < LEAST_ANSWER || out_len > MAX_BYTES ? DELIVERY_OUT_LENGTH : DELIVERED;
}

/* The entry may change in the guest meanwhile, so all is done with a copy. */
static enum delivery execute(const struct emu_cmdq *q, struct entry *e)
{
	const struct chain from = {q->guest, emu_get64(e->in_pointer), e->token, false,
				   DELIVERY_IN_POINTER};
	const struct chain to = {q->guest, emu_get64(e->out_pointer), e->token, true,
				 DELIVERY_OUT_POINTER};
	const size_t in_len = emu_get32(e->in_len), asked = emu_get32(e->out_len);
	const size_t out_len = asked < INLINE_BYTES ? INLINE_BYTES : asked;
	enum delivery status = check(e);
	uint8_t *in, *out;

	if (status != DELIVERED)
		return status;
	in = calloc(1, in_len < LEAST_ROOM ? LEAST_ROOM : in_len);
	out = calloc(1, out_len);
	if (in && out) {
		memcpy(in, e->in, INLINE_BYTES);
		status = move(&from, in + INLINE_BYTES, in_len - INLINE_BYTES);
		if (status == DELIVERED) /* a command that cannot be answered is not executed */
			status = move(&to, NULL, out_len - INLINE_BYTES);
	} else {
		status = DELIVERY_FIRMWARE;
	}
	if (status == DELIVERED) {
		if (!q->execute(q->context, in, in_len, out, out_len))
			status = WAITING;
	}
	if (status == DELIVERED) {
		memcpy(e->out, out, INLINE_BYTES);
		status = move(&to, out + INLINE_BYTES, out_len - INLINE_BYTES);
	}
	if (in)
		explicit_bzero(in, in_len); /* it may hold an access key */
	free(in);
	free(out);
	return status;
}

static bool serve(struct emu_cmdq *q, uint32_t index)
{
	struct entry *e, copy;
	enum delivery status;

	e = emu_guest_at(q->guest, q->address + index * sizeof(*e), sizeof(*e), true);
	if (!e || !(__atomic_load_n(&e->status_own, __ATOMIC_ACQUIRE) & OWNER_HW))
		return false;
	memcpy(&copy, e, sizeof(copy));
	status = execute(q, &copy);
	if (status == WAITING) {
		q->waiting |= 1u << index;
		return false;
	}
	memcpy(e->out, copy.out, sizeof(e->out));
	__atomic_store_n(&e->status_own, (uint8_t)(status << STATUS_SHIFT), __ATOMIC_RELEASE);
	return true;
}

static uint32_t serve_all(struct emu_cmdq *q, uint32_t vector)
{
	uint32_t done = 0, i;

	for (i = 0; i < EMU_CMDQ_ENTRIES && q->address; i++) /* 0: the driver has named none */
		if (vector & 1u << i && serve(q, i))
			done |= 1u << i;
	return done;
}

void emu_cmdq_place(struct emu_cmdq *queue, uint64_t address)
{
	queue->address = address;
	queue->waiting = 0;
}

uint32_t emu_cmdq_ring(struct emu_cmdq *queue, uint32_t vector)
{
	uint32_t done = serve_all(queue, vector);
	const uint32_t waiting = queue->waiting;

	if (!done)
		return 0;
	queue->waiting = 0;
	return done | serve_all(queue, waiting);
}
