/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Threads for what may wait for a disk, the resolver or the device. The loop serves the clients meanwhile. */
#ifndef DPUMAPD_WORKERS_H
#define DPUMAPD_WORKERS_H

#include "dpu/base/loop.h"

struct workers;

/* Embedded in what it works on, which stays until ended(). */
struct work {
	void (*run)(void *context);   /* in another thread */
	void (*ended)(void *context); /* in the loop, after run() */
	void *context;
	struct work *next;
};

/* Borrows the loop until workers_destroy(). Its threads start with the first work. */
doca_error_t workers_create(struct loop *loop, struct workers **workers,
			    struct dpumap_error *error);
/* Runs and ends all work that was started. NULL is allowed. */
void workers_destroy(struct workers *workers);

/* No work waits for another one, unless the machine has no further threads. Without any thread it fails. */
doca_error_t workers_start(struct workers *workers, struct work *work, struct dpumap_error *error);
/* Waits for the end of run(), for work that was started and has not ended. ended() is not called. */
void workers_wait(struct workers *workers, struct work *work);

#endif
