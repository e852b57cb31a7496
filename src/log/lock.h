/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The lock of the whole log: usable before any constructor and after a fork, and recursive. */
#ifndef DPUMAP_LOG_LOCK_H
#define DPUMAP_LOG_LOCK_H

/* State of the thread that dpumap_log_unlock() restores. */
struct dpumap_log_lock_state {
	int cancel_state;
};

void dpumap_log_lock(struct dpumap_log_lock_state *state);
void dpumap_log_unlock(const struct dpumap_log_lock_state *state);

#endif
