/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Open files: an open file description of a character device is a kernel context, and each process
 * that uses it has a channel to it.
 */
#ifndef EMU_FILE_H
#define EMU_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/server/base/reactor.h"
#include "emu/server/card/topology.h"
#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/uobj.h"

struct emu_chan {
	struct emu_watch watch;
	struct emu_chan *next;
	struct emu_file *file;
	pid_t pid;
};

struct emu_file {
	struct emu_watch watch;
	struct emu_file *next;
	struct emu_func *func;
	struct emu_chan *chans;
	struct emu_events *events;
	struct emu_db_page *db_pages;
	struct emu_uobj **objs; /* by handle */
	unsigned int nobjs;
	unsigned int *next_free;	    /* the list of free handles; `nobjs`: its end */
	unsigned int first_free;	    /* the handle that was freed last */
	struct emu_uobj *newest[EMU_TYPES]; /* of each type */
	uint64_t ino;			    /* of the client's socket; the client states it */
	bool has_context;
	uint8_t cqe_version;   /* of its context; 0: completions name the shared receive queue */
	bool dead;	       /* a fault on demand: its device has died */
	unsigned int trace_id; /* its number in a trace; 0: none yet */
	uint16_t
		devx_uid; /* 0: opened without DEVX; of a driver: that of the command which is executed */
	struct emu_driver
		*driver; /* of a PCI function, whose commands come by this file; or NULL */
};

extern struct emu_file *emu_files;

/* As queues name their files; NULL: there is none. */
struct emu_file *emu_file_by_ino(uint64_t ino);
/* Does the process have a channel to this file? */
bool emu_file_has_process(const struct emu_file *f, pid_t pid);
/* Does it have a channel to any file? */
bool emu_is_client(pid_t pid);
/* Against whose limit the memory that this channel registers counts. */
struct emu_pin_owner emu_pin_owner(const struct emu_chan *c);

#endif
