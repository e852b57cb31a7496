/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which guest memory the objects of the firmware use: it is kept as long as they live. */
#ifndef EMU_PCI_OBJECTS_H
#define EMU_PCI_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "emu/pci/pages.h"

#define EMU_OBJECT_BUCKETS 1024u

struct emu_object;
LIST_HEAD(emu_object_list, emu_object);

struct emu_objects {
	struct emu_pages_of of;
	struct emu_object_list bucket[EMU_OBJECT_BUCKETS];
};

/*
 * After a command that has succeeded: keep its pages, which are taken over, or release those of the object it has
 * ended.
 */
void emu_objects_created(struct emu_objects *objects, const uint8_t *in, const uint8_t *out,
			 struct emu_pages *pages);
void emu_objects_destroyed(struct emu_objects *objects, const uint8_t *in);
/* After MODIFY_CQ: a queue that has other pages keeps these. */
void emu_objects_resized(struct emu_objects *objects, const uint8_t *in, struct emu_pages *pages);
/* Execute a command about umems, which are memory of this process; false: it is another command. */
bool emu_objects_umem(struct emu_objects *objects, const uint8_t *in, size_t in_len, uint8_t *out);
/* A user context reaches its own umems only: whatever else a command names becomes the number of none. */
void emu_objects_hide_umems(struct emu_objects *objects, uint8_t *in, size_t in_len);
void emu_objects_release_all(struct emu_objects *objects);

#endif
