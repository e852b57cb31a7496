/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Locked memory. Nothing is pinned here. But pages are counted and, with the capability `memlock',
 * refused as ib_umem_get() in Linux (drivers/infiniband/core/umem.c) does: the pages of a process,
 * each as often as it is registered, count against its current RLIMIT_MEMLOCK, unless it has
 * CAP_IPC_LOCK.
 */
#ifndef EMU_PIN_H
#define EMU_PIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Pages that a process has locked; all zeros: none. */
struct emu_pin {
	struct emu_mm *mm;
	uint64_t pages;
	uint32_t shared; /* emu_share_open() */
	uint64_t offset; /* of the range in the shared file */
};

/* Where a queue is in the memory of its process. A device writes completions only. */
struct emu_queue_memory {
	uint64_t ring, len; /* 0: it has none */
	uint64_t dbr;	    /* the doorbell record */
	bool is_written;
};

/* The pins of a queue: its ring, and the page of its doorbell record. */
struct emu_queue_pins {
	struct emu_pin ring;
	struct emu_db_page *dbr;
};

/* The process whose memory is locked, and whether its limit counts. */
struct emu_pin_owner {
	pid_t pid;
	bool limited;
};

/* Lock a range. -ENOMEM or -EPERM above the limit, -EFAULT if the range is not mapped. */
int emu_pin(const struct emu_pin_owner *owner, uint64_t addr, uint64_t len, bool write,
	    struct emu_pin *pin);
void emu_unpin(struct emu_pin *pin);
/*
 * Lock a queue's ring and the page of its doorbell record, which `pages` lists once for all records
 * in it. What was locked before an error stays in `pins`.
 */
int emu_pin_queue(const struct emu_pin_owner *owner, struct emu_db_page **pages,
		  const struct emu_queue_memory *m, struct emu_queue_pins *pins);
void emu_unpin_queue(struct emu_db_page **pages, struct emu_queue_pins *pins);
/* The process has ended: its number stands for another process from now on. */
void emu_pin_forget(pid_t pid);
/* Does the process have that capability (CAP_...)? True if it cannot be found out. */
bool emu_capable(pid_t pid, unsigned int cap);

#endif
