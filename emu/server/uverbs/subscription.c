/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/subscription.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned int count; /* in all files */

bool emu_has_subscriptions(void)
{
	return count;
}

int emu_subscribe(struct emu_events *e, const struct emu_subscription *as)
{
	struct emu_subscription *s = malloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = *as;
	s->next = e->subscriptions;
	e->subscriptions = s;
	count++;
	return 0;
}

static void remove_at(struct emu_subscription **link)
{
	struct emu_subscription *s = *link;

	*link = s->next;
	if (s->eventfd >= 0)
		close(s->eventfd);
	free(s);
	count--;
}

void emu_unsubscribe_last(struct emu_events *e)
{
	remove_at(&e->subscriptions);
}

void emu_unsubscribe_all(struct emu_events *e)
{
	while (e->subscriptions)
		remove_at(&e->subscriptions);
}

void emu_unsubscribe(const struct emu_uobj *o)
{
	struct emu_subscription **link;

	for (struct emu_events *e = o->file->events; e; e = e->next) {
		link = &e->subscriptions;
		while (*link) {
			if ((*link)->obj == o)
				remove_at(link);
			else
				link = &(*link)->next;
		}
	}
}
