/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/acceptors.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "dpu/base/log.h"

/* After this many, existing clients are served before more are accepted. */
#define ACCEPTED_AT_ONCE 16

struct acceptor {
	struct watch watch;
	struct acceptors *all;
	struct dpumap_listener *listener;
	bool is_used;
	struct acceptor *next;
};

struct acceptors {
	struct loop *loop;
	acceptors_cb *accepted;
	void *context;
	struct acceptor *first;
	bool is_paused;
};

doca_error_t acceptors_create(struct loop *loop, acceptors_cb *accepted, void *context,
			      struct acceptors **acceptors, struct dpumap_error *error)
{
	struct acceptors *a = calloc(1, sizeof(*a));

	if (!a)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for listeners");
	a->loop = loop;
	a->accepted = accepted;
	a->context = context;
	*acceptors = a;
	return DOCA_SUCCESS;
}

static void close_acceptor(struct acceptor *acceptor)
{
	loop_remove(acceptor->all->loop, &acceptor->watch);
	dpumap_listener_destroy(acceptor->listener);
	free(acceptor);
}

void acceptors_destroy(struct acceptors *acceptors)
{
	struct acceptor *acceptor;

	if (!acceptors)
		return;
	while ((acceptor = acceptors->first)) {
		acceptors->first = acceptor->next;
		close_acceptor(acceptor);
	}
	free(acceptors);
}

static uint32_t interest_in(const struct acceptor *acceptor)
{
	return acceptor->is_used && !acceptor->all->is_paused ? EPOLLIN : 0;
}

/* Level-triggered readiness that cannot be served would spin: stop polling until the next tick. */
static void set_paused(struct acceptors *acceptors, bool is_paused)
{
	struct dpumap_error ignored;

	if (acceptors->is_paused == is_paused)
		return;
	acceptors->is_paused = is_paused;
	for (struct acceptor *e = acceptors->first; e; e = e->next)
		loop_change(acceptors->loop, &e->watch, interest_in(e), &ignored);
}

void acceptors_resume(struct acceptors *acceptors)
{
	set_paused(acceptors, false);
}

static void on_acceptor(struct watch *watch, uint32_t events)
{
	struct acceptor *acceptor =
		(struct acceptor *)((char *)watch - offsetof(struct acceptor, watch));
	struct acceptors *all = acceptor->all;
	struct dpumap_error error = {0};
	struct dpumap_peer peer;
	doca_error_t result = DOCA_SUCCESS;
	int fd;

	(void)events;
	for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
		result = dpumap_listener_accept(acceptor->listener, &fd, &peer, &error);
		if (result == DOCA_SUCCESS)
			all->accepted(all->context, fd, &peer);
		else if (result != DOCA_ERROR_CONNECTION_RESET)
			break;
	}
	if (result == DOCA_ERROR_FULL) {
		log_from(DPUMAP_LINE_ERROR, "lack of file descriptors", "%s", error.text);
		set_paused(all, true);
	}
}

doca_error_t acceptors_add(struct acceptors *acceptors, struct dpumap_listener *listener,
			   struct dpumap_error *error)
{
	struct acceptor *acceptor = calloc(1, sizeof(*acceptor));
	struct acceptor **at = &acceptors->first;
	doca_error_t result;

	if (!acceptor) {
		dpumap_listener_destroy(listener);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a listener");
	}
	acceptor->all = acceptors;
	acceptor->listener = listener;
	result = loop_add(acceptors->loop, &acceptor->watch, dpumap_listener_fd(listener), 0,
			  on_acceptor, error);
	if (result != DOCA_SUCCESS) {
		close_acceptor(acceptor);
		return result;
	}
	while (*at)
		at = &(*at)->next;
	*at = acceptor;
	return DOCA_SUCCESS;
}

static bool is_at(const struct acceptor *acceptor, const char *text)
{
	struct dpumap_error ignored = {0};
	struct dpumap_address address;

	return dpumap_address_parse(text, &address, &ignored) == DOCA_SUCCESS &&
	       dpumap_listener_is_at(acceptor->listener, &address);
}

const struct dpumap_listener *acceptors_find(const struct acceptors *acceptors, const char *address)
{
	for (const struct acceptor *e = acceptors->first; e; e = e->next)
		if (is_at(e, address))
			return e->listener;
	return NULL;
}

void acceptors_each_adopted(const struct acceptors *acceptors, acceptors_each_fn *each,
			    void *context)
{
	for (const struct acceptor *e = acceptors->first; e; e = e->next)
		if (dpumap_listener_is_adopted(e->listener))
			each(context, e->listener);
}

static bool is_chosen(const struct acceptor *acceptor, const struct acceptors_choice *choice)
{
	bool is_chosen = dpumap_listener_is_adopted(acceptor->listener);

	for (size_t i = 0; i < choice->num && !is_chosen; i++)
		is_chosen = is_at(acceptor, choice->addresses[i]);
	return is_chosen &&
	       (dpumap_listener_kind(acceptor->listener) == DPUMAP_ADDRESS_UNIX || choice->tcp);
}

void acceptors_use(struct acceptors *acceptors, const struct acceptors_choice *choice)
{
	struct acceptor **at = &acceptors->first;
	struct dpumap_error error = {0};
	struct acceptor *acceptor;

	while ((acceptor = *at)) {
		acceptor->is_used = is_chosen(acceptor, choice);
		if (acceptor->is_used &&
		    loop_change(acceptors->loop, &acceptor->watch, interest_in(acceptor), &error) ==
			    DOCA_SUCCESS) {
			if (dpumap_listener_open_to(acceptor->listener, choice->open_to_all,
						    &error) != DOCA_SUCCESS)
				log_error("%s", error.text);
			at = &acceptor->next;
			continue;
		}
		*at = acceptor->next;
		close_acceptor(acceptor);
	}
}
