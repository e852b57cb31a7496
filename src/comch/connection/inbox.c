/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/inbox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

static size_t slot_size(uint32_t max_message)
{
	return ((size_t)max_message + 7) & ~(size_t)7;
}

static uint8_t *slot_at(const struct comch_inbox *inbox, uint32_t slot)
{
	return inbox->bytes + slot * slot_size(inbox->max_message);
}

doca_error_t dpumap_comch_inbox_create(struct comch_inbox *inbox, uint32_t num_messages,
				       uint32_t max_message)
{
	*inbox = (struct comch_inbox){.num_slots = num_messages, .max_message = max_message};
	inbox->bytes = malloc(num_messages * slot_size(max_message));
	inbox->free = calloc(num_messages, sizeof(*inbox->free));
	inbox->queue = calloc(num_messages, sizeof(*inbox->queue));
	if (!inbox->bytes || !inbox->free || !inbox->queue) {
		dpumap_comch_inbox_destroy(inbox);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "no memory for %" PRIu32 " messages of up to %" PRIu32 " bytes",
				   num_messages, max_message);
	}
	/* The last entry is used first: few slots are used if few messages wait. */
	for (uint32_t i = 0; i < num_messages; i++)
		inbox->free[i] = num_messages - 1 - i;
	inbox->num_free = num_messages;
	return DOCA_SUCCESS;
}

void dpumap_comch_inbox_destroy(struct comch_inbox *inbox)
{
	struct comch_inbox_message message;

	while (inbox->queue && inbox->free && dpumap_comch_inbox_take(inbox, &message))
		dpumap_comch_inbox_release(inbox, &message);
	free(inbox->bytes);
	free(inbox->free);
	free(inbox->queue);
	*inbox = (struct comch_inbox){0};
}

bool dpumap_comch_inbox_put(struct comch_inbox *inbox, const void *bytes, uint32_t len)
{
	uint32_t slot;

	if (len > inbox->max_message || !inbox->num_free)
		return false;
	slot = inbox->free[--inbox->num_free];
	if (len)
		memcpy(slot_at(inbox, slot), bytes, len);
	inbox->queue[(inbox->first + inbox->num) % inbox->num_slots] =
		(struct comch_inbox_message){.len = len, .slot = slot};
	inbox->num++;
	return true;
}

uint8_t *dpumap_comch_inbox_take(struct comch_inbox *inbox, struct comch_inbox_message *message)
{
	if (!inbox->num)
		return NULL;
	*message = inbox->queue[inbox->first];
	inbox->first = (inbox->first + 1) % inbox->num_slots;
	inbox->num--;
	return slot_at(inbox, message->slot);
}

void dpumap_comch_inbox_release(struct comch_inbox *inbox,
				const struct comch_inbox_message *message)
{
	explicit_bzero(slot_at(inbox, message->slot), message->len);
	inbox->free[inbox->num_free++] = message->slot;
}
