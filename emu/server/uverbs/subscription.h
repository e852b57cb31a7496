/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Subscriptions of event files (EMU_EVENTS_DEVX) to the events of objects. */
#ifndef EMU_SUBSCRIPTION_H
#define EMU_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/server/uverbs/events.h"

struct emu_subscription {
	struct emu_subscription *next;
	const struct emu_uobj *obj; /* NULL: an event of no object */
	uint16_t event;
	uint64_t cookie;
	int eventfd; /* counted up instead of a record; or -1 */
};

/* Is there any subscription, in any file? */
bool emu_has_subscriptions(void);
/* Add a copy of `s`, whose eventfd is consumed on success. */
int emu_subscribe(struct emu_events *e, const struct emu_subscription *s);
/* Remove the newest subscription of the file. */
void emu_unsubscribe_last(struct emu_events *e);
/* Remove the subscriptions of an event file that is closed. */
void emu_unsubscribe_all(struct emu_events *e);
/* Remove the subscriptions to an object that is destroyed. */
void emu_unsubscribe(const struct emu_uobj *o);

#endif
