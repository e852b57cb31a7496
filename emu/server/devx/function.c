/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/devx/methods.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "emu/ipc/firmware.h"
#include "emu/prm/prm_eqe.h"
#include "emu/server/card/segments.h"
#include "emu/server/devx/events.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/firmware.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/umem.h"

void emu_driver_free(struct emu_file *f)
{
	if (f->driver)
		emu_driver_pages_forget(f->driver);
	free(f->driver);
	f->driver = NULL;
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool has_driver(const struct emu_func *func)
{
	const struct emu_file *f = emu_files;

	while (f && (f->func != func || !f->driver))
		f = f->next;
	return f;
}

static int function_open(struct emu_cmd *c)
{
	const struct emu_profile *p = c->file->func->card->profile;
	const struct emu_fw_info info = {.fw_ver = p->fw_ver, .device = (uint16_t)p->part_id};
	struct emu_driver *d;
	int err;

	if (c->file->has_context || c->file->driver)
		return -EINVAL;
	if (has_driver(c->file->func))
		return -EBUSY;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	err = emu_give_events(c, EMU_EVENTS_FUNCTION, sizeof(struct emu_fw_event),
			      EMU_FUNCTION_EVENTS, &d->events);
	if (!err)
		err = emu_attr_out(c, EMU_FUNCTION_INFO, &info, sizeof(info));
	if (err) {
		free(d);
		return err;
	}
	c->file->driver = d;
	return 0;
}

static int function_reset(struct emu_cmd *c)
{
	struct emu_driver *d = c->file->driver;

	if (!d)
		return -EINVAL;
	emu_firmware_reset(c->file);
	emu_driver_pages_forget(d);
	*d = (struct emu_driver){.events = d->events};
	return 0;
}

/* --- memory of this process that commands name ------------------------------------------------ */

/* The memory of a virtual machine is not locked: what it withdraws faults. */
static int function_memory(struct emu_cmd *c)
{
	const uint64_t addr = emu_attr_u64(c, EMU_FUNCTION_ADDRESS, 0);
	const uint64_t len = emu_attr_u64(c, EMU_FUNCTION_LENGTH, 0);
	struct emu_umem *u;

	if (!c->file->driver || !len || addr + len < addr)
		return -EINVAL;
	u = emu_umem_new(c, addr, len, EMU_UMEM_ACCESS);
	return u ? emu_attr_out_u32(c, EMU_FUNCTION_MEMORY_ID, u->id) : -ENOMEM;
}

static int function_memory_end(struct emu_cmd *c)
{
	struct emu_umem *u;

	if (!c->file->driver)
		return -EINVAL;
	u = emu_devx_umem_by_id(c->file, emu_attr_u64(c, EMU_FUNCTION_MEMORY_ID, 0));
	return u ? emu_uobj_destroy(&u->obj) : -ENOENT;
}

/* All of the card's: what of it a driver may use, commands say. */
static int function_dm(struct emu_cmd *c)
{
	const struct emu_card *card = c->file->func->card;
	const struct emu_fw_dm dm = {.offset = EMU_DM_OF_CARD(card->index),
				     .bytes = (uint64_t)card->dm_npages * EMU_PAGE};
	int fd, err;

	if (!c->file->driver)
		return -EINVAL;
	if (!card->profile->max_dm_size)
		return -EOPNOTSUPP;
	err = emu_attr_out(c, EMU_FUNCTION_DM_PLACE, &dm, sizeof(dm));
	if (err)
		return err;
	fd = fcntl(emu_segments.dm_fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : emu_cmd_give_fd(c, EMU_FUNCTION_DM_FILE, fd);
}

/* --- commands --------------------------------------------------------------------------------- */

/* The kernel's errors of commands that programs send are the firmware's here. */
static int refuse_as_firmware(struct emu_mbox *m, int err)
{
	switch (err) {
	case 0:
	case -EREMOTEIO:
	case -EAGAIN:	   /* it is sent again */
	case -EINPROGRESS: /* likewise, when the driver has given pages */
		return err;
	case -ENOMEM:
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	case -EBUSY:
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_BUSY);
	default:
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
	}
}

static int function_command(struct emu_cmd *c)
{
	struct emu_mbox m;
	int err;

	if (!c->file->driver)
		return -EINVAL;
	if (c->file->driver->has_failed)
		return -EIO;
	err = emu_mbox_read(c, EMU_FUNCTION_IN, emu_attr_len(c, EMU_FUNCTION_OUT), &m);
	if (err)
		return err;
	err = refuse_as_firmware(&m, emu_firmware_execute(c, &m));
	return emu_mbox_answer(c, EMU_FUNCTION_OUT, &m, err);
}

/* --- events ----------------------------------------------------------------------------------- */

static void report(const struct emu_uobj *o, const struct emu_note *n, uint8_t type)
{
	const struct emu_driver *d = o->file->driver;
	uint8_t eqe[EMU_EQE_BYTES] = {0};

	switch (type) {
	case EMU_EVENT_TYPE_COMPLETION:
		emu_prm_set(eqe, EMU_EQE_QUEUE_NUMBER, n->number);
		emu_driver_send(d, emu_devx_eqn(o), type, eqe);
		break;
	case EMU_EVENT_TYPE_CQ_ERROR:
		emu_prm_set(eqe, EMU_EQE_CQ_ERROR_CQN, n->number);
		emu_prm_set(eqe, EMU_EQE_CQ_ERROR_SYNDROME, EMU_EQE_CQ_OVERRUN);
		emu_driver_send(d, emu_driver_eqn(d, type), type, eqe);
		break;
	default:
		emu_prm_set(eqe, EMU_EQE_QUEUE_NUMBER, n->number);
		emu_driver_send(d, emu_driver_eqn(d, type), type, eqe);
	}
}

void emu_driver_note(const struct emu_note *n)
{
	const struct emu_uobj *o;
	int type = emu_devx_event_of(n);

	if (type < 0)
		return;
	o = emu_devx_object_of(n);
	if (o && o->file->driver)
		report(o, n, (uint8_t)type);
}

static const struct emu_field command_fields[] = {
	EMU_MBOX_FIELD("opcode", EMU_FUNCTION_IN, EMU_CMD_IN_OPCODE, EMU_HEX),
	EMU_MBOX_FIELD("op_mod", EMU_FUNCTION_IN, EMU_CMD_IN_OP_MOD, EMU_HEX),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_function[] = {
	{
		.command.name = "function.open",
		.object = EMU_OBJECT_FUNCTION,
		.method = EMU_FUNCTION_OPEN,
		.handler = function_open,
		.attr = {{EMU_FUNCTION_INFO, EMU_A_OUT, true, sizeof(struct emu_fw_info)},
			 {EMU_FUNCTION_EVENTS, EMU_A_NEWFD, true, 0}},
	},
	{
		.command.name = "function.command",
		.command.fields = command_fields,
		.object = EMU_OBJECT_FUNCTION,
		.method = EMU_FUNCTION_COMMAND,
		.handler = function_command,
		.out_mailbox = EMU_FUNCTION_OUT,
		.attr = {{EMU_FUNCTION_IN, EMU_A_IN, true, EMU_MBOX_HDR},
			 {EMU_FUNCTION_OUT, EMU_A_OUT, true, EMU_MBOX_HDR}},
	},
	{
		.command.name = "function.memory",
		.object = EMU_OBJECT_FUNCTION,
		.method = EMU_FUNCTION_MEMORY,
		.outlives_device = true,
		.handler = function_memory,
		.attr = {{EMU_FUNCTION_ADDRESS, EMU_A_IN, true, 8},
			 {EMU_FUNCTION_LENGTH, EMU_A_IN, true, 8},
			 {EMU_FUNCTION_MEMORY_ID, EMU_A_OUT, true, 4}},
	},
	{
		.command.name = "function.memory-end",
		.object = EMU_OBJECT_FUNCTION,
		.method = EMU_FUNCTION_MEMORY_END,
		.outlives_device = true,
		.handler = function_memory_end,
		.attr = {{EMU_FUNCTION_MEMORY_ID, EMU_A_IN, true, 4}},
	},
	{
		.command.name = "function.reset",
		.object = EMU_OBJECT_FUNCTION,
		.method = EMU_FUNCTION_RESET,
		.outlives_device = true,
		.handler = function_reset,
	},
	{
		.command.name = "function.dm",
		.object = EMU_OBJECT_FUNCTION,
		.method = EMU_FUNCTION_DM,
		.handler = function_dm,
		.attr = {{EMU_FUNCTION_DM_PLACE, EMU_A_OUT, true, sizeof(struct emu_fw_dm)},
			 {EMU_FUNCTION_DM_FILE, EMU_A_NEWFD, true, 0}},
	},
	{.handler = NULL},
};
