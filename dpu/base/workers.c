/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/base/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/thread.h"

struct list {
	struct work *first;
	size_t num;
};

struct workers {
	struct watch watch; /* of the end of work */
	struct loop *loop;
	pthread_t *threads;
	size_t num_threads, room;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct list queued;
	struct list done; /* ended() is still to be called */
	size_t num_idle;
	bool stops;
};

/* --- lists ------------------------------------------------------------------------------------ */

static void append(struct list *list, struct work *work)
{
	struct work **at = &list->first;

	while (*at)
		at = &(*at)->next;
	work->next = NULL;
	*at = work;
	list->num++;
}

/* False: the work is not in it. */
static bool take_out(struct list *list, const struct work *work)
{
	struct work **at = &list->first;

	while (*at && *at != work)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = work->next;
	list->num--;
	return true;
}

static struct work *take_first(struct list *list)
{
	struct work *work = list->first;

	if (work)
		take_out(list, work);
	return work;
}

/* --- the threads ------------------------------------------------------------------------------ */

/* NULL: the thread ends. */
static struct work *await_work(struct workers *w)
{
	while (!w->queued.first && !w->stops) {
		w->num_idle++;
		pthread_cond_wait(&w->changed, &w->lock);
		w->num_idle--;
	}
	return take_first(&w->queued);
}

static void wake(const struct workers *w)
{
	const uint64_t one = 1;
	ssize_t n = write(w->watch.fd, &one, sizeof(one));

	(void)n; /* cannot fail: the counter is far from its limit */
}

static void *run(void *context)
{
	struct workers *w = context;
	struct work *work;

	pthread_mutex_lock(&w->lock);
	while ((work = await_work(w))) {
		pthread_mutex_unlock(&w->lock);
		work->run(work->context);
		pthread_mutex_lock(&w->lock);
		append(&w->done, work);
		pthread_cond_broadcast(&w->changed);
		wake(w);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Returns 0 or an errno. */
static int add_thread(struct workers *w)
{
	pthread_t *threads =
		array_make_room(w->threads, w->num_threads + 1, &w->room, sizeof(pthread_t));
	int err;

	if (!threads)
		return ENOMEM;
	w->threads = threads;
	err = thread_start(&threads[w->num_threads], run, w);
	w->num_threads += !err;
	return err;
}

/* --- the loop --------------------------------------------------------------------------------- */

static struct work *next_done(struct workers *w)
{
	struct work *work;

	pthread_mutex_lock(&w->lock);
	work = take_first(&w->done);
	pthread_mutex_unlock(&w->lock);
	return work;
}

static void end_done(struct workers *w)
{
	struct work *work;

	while ((work = next_done(w)))
		work->ended(work->context);
}

static void on_event(struct watch *watch, uint32_t events)
{
	uint64_t count;
	ssize_t n = read(watch->fd, &count, sizeof(count));

	(void)events;
	(void)n;
	end_done((struct workers *)((char *)watch - offsetof(struct workers, watch)));
}

doca_error_t workers_create(struct loop *loop, struct workers **workers, struct dpumap_error *error)
{
	struct workers *w = calloc(1, sizeof(*w));
	doca_error_t result;
	int fd;

	if (!w)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0) {
		free(w);
		return dpumap_error_errno(error, errno, "cannot set up threads");
	}
	w->loop = loop;
	result = loop_add(loop, &w->watch, fd, EPOLLIN, on_event, error);
	if (result != DOCA_SUCCESS) {
		close(fd);
		free(w);
		return result;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	*workers = w;
	return DOCA_SUCCESS;
}

void workers_destroy(struct workers *workers)
{
	struct workers *w = workers;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stops = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	while (w->num_threads)
		pthread_join(w->threads[--w->num_threads], NULL);
	end_done(w);
	loop_remove(w->loop, &w->watch);
	close(w->watch.fd);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w->threads);
	free(w);
}

doca_error_t workers_start(struct workers *workers, struct work *work, struct dpumap_error *error)
{
	struct workers *w = workers;
	int err = 0;

	pthread_mutex_lock(&w->lock);
	if (w->queued.num >= w->num_idle)
		err = add_thread(w);
	if (w->num_threads) {
		append(&w->queued, work);
		pthread_cond_broadcast(&w->changed);
		err = 0;
	}
	pthread_mutex_unlock(&w->lock);
	return err ? dpumap_error_errno(error, err, "cannot start a thread") : DOCA_SUCCESS;
}

void workers_wait(struct workers *workers, struct work *work)
{
	pthread_mutex_lock(&workers->lock);
	while (!take_out(&workers->done, work))
		pthread_cond_wait(&workers->changed, &workers->lock);
	pthread_mutex_unlock(&workers->lock);
}
