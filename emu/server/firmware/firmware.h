/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The firmware's commands: one row for each command and type of object.
 */
#ifndef EMU_FIRMWARE_FIRMWARE_H
#define EMU_FIRMWARE_FIRMWARE_H

#include "emu/server/firmware/mailbox.h"
#include "emu/server/uverbs/method.h"

/* A field of a mailbox that a trace shows. */
#define EMU_MBOX_FIELD(name, attr, field, format) \
	EMU_FIELD_OF(name, EMU_FIELD_MBOX, attr, EMU_PRM_BIT(field), EMU_PRM_WIDTH(field), format)
#define EMU_MBOX_FIELD_OUT(name, attr, field, format)                                          \
	EMU_FIELD_OF(name, EMU_FIELD_MBOX_OUT, attr, EMU_PRM_BIT(field), EMU_PRM_WIDTH(field), \
		     format)

/*
 * The uverbs methods that carry firmware commands. A function's driver sends all of them as they are, and those that
 * the kernel passes on for nobody: of DRIVER without an object, of DESTROY.
 */
enum emu_devx_carrier {
	EMU_DEVX_OTHER,
	EMU_DEVX_CREATE,
	EMU_DEVX_MODIFY,
	EMU_DEVX_QUERY,
	EMU_DEVX_DRIVER,
	EMU_DEVX_DESTROY,
};

/* One row for each firmware command and the type of object that it acts on. */
struct emu_firmware_command {
	struct emu_command command; /* a row without a name has its carrier's */
	enum emu_devx_carrier carrier;
	uint16_t opcode;      /* 0: any */
	uint16_t object_type; /* of a general object; 0: any */
	enum emu_type type;   /* of the object that it creates or acts on */
	int number; /* the field that names the object, if it is not EMU_OBJECT_IN_NUMBER */
	/* Returns 0, or -EREMOTEIO with a status in the out mailbox, or the kernel's errno. */
	int (*handler)(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
	size_t size; /* of the object that it creates */
	int (*undo)(struct emu_uobj *o);
};

/* Ends with a row without a handler. */
extern const struct emu_firmware_command emu_firmware_commands[];

/* The first row of the carrier with the opcode, or NULL. */
const struct emu_firmware_command *emu_firmware_by_opcode(enum emu_devx_carrier carrier,
							  uint16_t opcode);
/* The same, but of a command on general objects only the row for those of the type. */
const struct emu_firmware_command *emu_firmware_by_type(enum emu_devx_carrier carrier,
							uint16_t opcode, uint16_t type);
/* The row for a command on an existing object, or NULL. */
const struct emu_firmware_command *emu_firmware_on_object(enum emu_devx_carrier carrier,
							  const struct emu_mbox *m,
							  const struct emu_uobj *o);
/* Execute a command of a function's driver: 0, -EREMOTEIO with a status in the out mailbox, or the kernel's errno. */
int emu_firmware_execute(struct emu_cmd *c, struct emu_mbox *m);
/* Destroy all objects of a function's file. */
void emu_firmware_reset(struct emu_file *f);
/* Is the object one that a firmware command creates? */
bool emu_firmware_created(const struct emu_uobj *o);

#endif
