/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The lock of the whole log: ready before any constructor, usable after a fork, and to be taken
 * again by the thread that has it.
 */
#ifndef DPUMAP_LOG_LOCK_H
#define DPUMAP_LOG_LOCK_H

/* What a thread gets back with dpumap_log_unlock(). */
struct dpumap_log_hold {
	int cancel_state;
};

void dpumap_log_lock(struct dpumap_log_hold *hold);
void dpumap_log_unlock(const struct dpumap_log_hold *hold);

#endif
