/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/resolver.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"

/* The owner's and the thread's: the last one of them frees it. */
struct dpumap_resolver {
	atomic_int num_users;
	atomic_bool is_done;
	bool has_ended; /* the owner knows */
	int event;
	int err; /* of getaddrinfo() */
	struct addrinfo *list;
	struct dpumap_address address;
};

static int resolve(struct dpumap_resolver *r, int flags)
{
	const struct addrinfo hints = {.ai_flags = flags, .ai_socktype = SOCK_STREAM};

	return getaddrinfo(r->address.host, r->address.port, &hints, &r->list);
}

static void leave(struct dpumap_resolver *r)
{
	if (atomic_fetch_sub(&r->num_users, 1) > 1)
		return;
	if (!r->err)
		freeaddrinfo(r->list);
	close(r->event);
	free(r);
}

static void end(struct dpumap_resolver *r, int err)
{
	r->err = err;
	atomic_store(&r->is_done, true);
	eventfd_write(r->event, 1);
}

static void *run(void *context)
{
	struct dpumap_resolver *r = context;

	end(r, resolve(r, AI_NUMERICSERV));
	leave(r);
	return NULL;
}

/* Returns 0 or an errno. */
static int start_thread(struct dpumap_resolver *r)
{
	pthread_t thread;
	int err;

	atomic_store(&r->num_users, 2);
	err = thread_start(&thread, run, r);
	if (err)
		atomic_store(&r->num_users, 1);
	else
		pthread_detach(thread);
	return err;
}

/* Nobody needs to be asked for the address of a number. */
static doca_error_t start(struct dpumap_resolver *r, struct dpumap_error *error)
{
	int err = resolve(r, AI_NUMERICHOST | AI_NUMERICSERV);

	if (err != EAI_NONAME) {
		end(r, err);
		return DOCA_SUCCESS;
	}
	r->err = EAI_AGAIN;
	err = start_thread(r);
	return err ? dpumap_error_errno(error, err, "cannot start a thread to resolve %s",
					r->address.host)
		   : DOCA_SUCCESS;
}

doca_error_t dpumap_resolver_create(const struct dpumap_address *address,
				    struct dpumap_resolver **resolver, struct dpumap_error *error)
{
	struct dpumap_resolver *r = calloc(1, sizeof(*r));
	doca_error_t result;

	if (!r)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	r->address = *address;
	r->num_users = 1;
	r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->event < 0) {
		free(r);
		return dpumap_error_errno(error, errno, "cannot resolve %s", address->host);
	}
	result = start(r, error);
	if (result != DOCA_SUCCESS) {
		leave(r);
		return result;
	}
	*resolver = r;
	return DOCA_SUCCESS;
}

void dpumap_resolver_destroy(struct dpumap_resolver *resolver)
{
	if (resolver)
		leave(resolver);
}

int dpumap_resolver_fd(const struct dpumap_resolver *resolver)
{
	return resolver->event;
}

/* Takes the event, so that whoever goes on polling does not find it again. */
doca_error_t dpumap_resolver_result(struct dpumap_resolver *resolver, const struct addrinfo **list,
				    struct dpumap_error *error)
{
	eventfd_t value;

	if (!resolver->has_ended && eventfd_read(resolver->event, &value) == 0)
		resolver->has_ended = atomic_load(&resolver->is_done);
	if (!resolver->has_ended)
		return DOCA_ERROR_AGAIN;
	if (resolver->err)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "cannot resolve %s: %s",
					resolver->address.host, gai_strerror(resolver->err));
	*list = resolver->list;
	return DOCA_SUCCESS;
}
