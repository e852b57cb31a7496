/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages that have arrived and wait for the program, in order. Memory is allocated once; pages
 * that no message has used are not touched.
 */
#ifndef DPUMAP_COMCH_INBOX_H
#define DPUMAP_COMCH_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

struct comch_inbox_message {
	uint32_t len;
	uint32_t slot;
};

struct comch_inbox {
	uint32_t num_slots;
	uint32_t max_message;
	uint32_t num_free;
	uint32_t first, num; /* of queue, which is a ring */
	uint8_t *bytes;
	uint32_t *free;
	struct comch_inbox_message *queue;
};

/* NO_MEMORY, logged. */
doca_error_t dpumap_comch_inbox_create(struct comch_inbox *inbox, uint32_t num_messages,
				       uint32_t max_message);
/* An inbox of zeros is allowed. */
void dpumap_comch_inbox_destroy(struct comch_inbox *inbox);
/* Copies the message. False: it is too long, or all slots are in use. */
bool dpumap_comch_inbox_put(struct comch_inbox *inbox, const void *bytes, uint32_t len);
/* The oldest message, aligned to 8 bytes, the caller's until release; NULL if there is none. */
uint8_t *dpumap_comch_inbox_take(struct comch_inbox *inbox, struct comch_inbox_message *message);
void dpumap_comch_inbox_release(struct comch_inbox *inbox,
				const struct comch_inbox_message *message);

#endif
