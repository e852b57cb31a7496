/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The listeners of dpumapd, and what they accept. */
#ifndef DPUMAPD_ACCEPTORS_H
#define DPUMAPD_ACCEPTORS_H

#include <stdbool.h>
#include <stddef.h>

#include "channel/listener.h"
#include "dpu/base/loop.h"

struct acceptors;

/* Takes a new connection over: its descriptor, and who the kernel says the client is. */
typedef void acceptors_cb(void *context, int fd, const struct dpumap_peer *peer);

/* Borrows the loop until acceptors_destroy(). */
doca_error_t acceptors_create(struct loop *loop, acceptors_cb *accepted, void *context,
			      struct acceptors **acceptors, struct dpumap_error *error);
/* Closes all listeners. NULL is allowed. */
void acceptors_destroy(struct acceptors *acceptors);

/* Takes the listener over, also on failure. Accepts nothing from it before acceptors_use(). */
doca_error_t acceptors_add(struct acceptors *acceptors, struct dpumap_listener *listener,
			   struct dpumap_error *error);
/* The listener at this address; NULL: none. */
const struct dpumap_listener *acceptors_find(const struct acceptors *acceptors,
					     const char *address);

typedef void acceptors_each_fn(void *context, const struct dpumap_listener *listener);
/* For each socket from systemd that is open, in the order of acceptors_add(). */
void acceptors_each_adopted(const struct acceptors *acceptors, acceptors_each_fn *each,
			    void *context);

/* What to accept. */
struct acceptors_choice {
	char *const *addresses; /* and adopted sockets */
	size_t num;
	bool tcp;	  /* else no listener on TCP */
	bool open_to_all; /* Unix sockets (listener.h) */
};
/* Accepts connections from the chosen listeners, and closes the others. */
void acceptors_use(struct acceptors *acceptors, const struct acceptors_choice *choice);

/*
 * Accept again after the process had no free descriptor: to be called when one may be free, and
 * regularly, as others of the machine may be the cause.
 */
void acceptors_resume(struct acceptors *acceptors);

#endif
