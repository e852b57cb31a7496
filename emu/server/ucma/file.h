/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Open files of /dev/infiniband/rdma_cm, and the connections over which processes use them
 * (ipc/rdma_cm.h). A file has a queue of events; its FIFO contains a byte for each.
 */
#ifndef EMU_UCMA_FILE_H
#define EMU_UCMA_FILE_H

#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/server/base/reactor.h"
#include "emu/server/ucma/id.h"

struct emu_cma_event {
	struct emu_cma_event *next;
	struct emu_cma_id *id;	     /* to which it is counted */
	struct emu_cma_id *fresh;    /* CONNECT_REQUEST: the id that it brings */
	struct emu_cma_group *group; /* MULTICAST_*: the group */
	struct rdma_ucm_event_resp resp;
};

struct emu_cma_file {
	struct emu_watch watch; /* the FIFO's writing end */
	struct emu_cma_file *next;
	struct emu_cma_machine *machine;
	uint64_t dev, ino;
	struct emu_cma_id *ids;
	struct emu_cma_event *events;
	unsigned int nevents;
	unsigned int nbytes; /* in the FIFO */
};

extern struct emu_cma_file *emu_cma_files;

/* A process connected to the socket of a machine: `fd` (consumed) is our end. */
void emu_cma_accept(const char *role, int fd);
/* The open file with that device and inode, or NULL. */
struct emu_cma_file *emu_cma_file_find(uint64_t dev, uint64_t ino);

/* Append an event, which becomes the file's. */
void emu_cma_queue(struct emu_cma_file *f, struct emu_cma_event *e);
/* Take the event after `*link` out of the queue; it is the caller's then. */
struct emu_cma_event *emu_cma_unqueue(struct emu_cma_file *f, struct emu_cma_event **link);

#endif
