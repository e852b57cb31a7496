/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Objects that a file owns, by handle. The type of each begins with a struct emu_uobj. */
#ifndef EMU_UOBJ_H
#define EMU_UOBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_file;

enum emu_type {
	EMU_T_NONE,
	EMU_T_PD,
	EMU_T_CQ,
	EMU_T_QP,
	EMU_T_MR,
	EMU_T_DM,
	EMU_T_UAR,
	EMU_T_UMEM,
	EMU_T_DEVX_MKEY,
	EMU_T_DEVX_ALIAS,
	EMU_T_MW,
	EMU_T_DEVX_CQ,
	EMU_T_DEVX_QP,
	EMU_T_DEVX_DCT,
	EMU_T_DEVX_RMP,
	EMU_T_DEVX_COUNTER,
	EMU_T_DEVX_DEK,
	EMU_T_SRQ,
	EMU_T_XRCD,
	EMU_T_AH,
	EMU_T_DMAH,
	EMU_T_DEVX_PD,
	EMU_T_DEVX_XRCD,
	EMU_T_XRC_SRQ,
	EMU_T_TRANSPORT_DOMAIN,
	EMU_T_Q_COUNTER,
	/* Only a function's driver creates these. */
	EMU_T_EQ,
	EMU_T_UCTX,
	EMU_T_TIS,
	EMU_T_TIR,
	EMU_T_RQT,
	EMU_T_RQ,
	EMU_T_SQ,
	EMU_T_FLOW_TABLE,
	EMU_T_FLOW_GROUP,
	EMU_TYPES,
};

struct emu_uobj {
	enum emu_type type;
	uint32_t handle;
	uint32_t number; /* by which the commands of a function's driver name it */
	uint16_t uid;	 /* of the user context for which it was created; 0: the kernel's own */
	struct emu_file *file;
	struct emu_uobj *newer, *older; /* of the same type */
	unsigned int users; /* objects that refer to this one: it is busy while there are any */
	int (*undo)(struct emu_uobj *o);
};

/*
 * Create an object of `size` bytes, zeroed but for its head. `undo` releases what it stands for and
 * returns 0 or -EBUSY; NULL: there is nothing to release. NULL: out of memory, or the function has
 * as many objects of the type as its profile allows.
 */
void *emu_uobj_new(struct emu_file *f, enum emu_type type, size_t size,
		   int (*undo)(struct emu_uobj *o));
/* Find an object by its handle: NULL if there is none of that type (EMU_T_NONE: of any type). */
void *emu_uobj_get(struct emu_file *f, uint32_t handle, enum emu_type type);
/*
 * The file's next object of that type after `after`, from the newest, which is after NULL, to the
 * oldest; NULL: no more.
 */
void *emu_uobj_next(const struct emu_file *f, enum emu_type type, const void *after);
/*
 * The handles of at most `room` of the file's objects that programs call `object` (enum uverbs_default_objects or enum
 * mlx5_ib_objects), the newest of a type first. Returns their number, or -ENOENT if no type is called so.
 */
int emu_uobj_handles(const struct emu_file *f, uint16_t object, uint32_t *handles,
		     unsigned int room);
/*
 * May the command that is executed name the object? The driver of a function sends commands of several user contexts,
 * and none of them reaches objects of another one.
 */
bool emu_uobj_is_reachable(const struct emu_uobj *o);
/* Free an object without undoing what it stands for. */
void emu_uobj_free(struct emu_uobj *o);
/* Undo and free one object: 0, or -EBUSY while it has users. */
int emu_uobj_destroy(struct emu_uobj *o);
/* Destroy all objects of a file, or all but those of a type, users before what they use. */
void emu_uobj_destroy_all(struct emu_file *f);
void emu_uobj_destroy_others(struct emu_file *f, enum emu_type kept);
/* The type's name in traces. */
const char *emu_type_name(enum emu_type type);

static inline void emu_uobj_hold(struct emu_uobj *o)
{
	if (o)
		o->users++;
}

static inline void emu_uobj_release(struct emu_uobj *o)
{
	if (o)
		o->users--;
}

#endif
