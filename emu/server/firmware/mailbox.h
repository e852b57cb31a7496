/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The mailboxes of a firmware command while it runs. */
#ifndef EMU_MAILBOX_H
#define EMU_MAILBOX_H

#include <stddef.h>
#include <stdint.h>

#include "emu/prm/prm_caps.h"
#include "emu/prm/prm_cmd.h"
#include "emu/server/firmware/syndrome.h"
#include "emu/server/uverbs/cmd.h"

#define EMU_MBOX_HDR EMU_CMD_IN_BYTES
#define EMU_MBOX_OUT (EMU_QUERY_HCA_CAP_OUT_BYTES + EMU_CAP_PAGE_BYTES) /* the longest answer */

struct emu_mbox {
	uint8_t *in;
	size_t in_len;
	uint8_t out[EMU_MBOX_OUT];
	size_t out_len;
	uint16_t opcode, op_mod;
};

/* Copy the in mailbox from attribute `in`; the answer has room for `out_len` bytes. */
int emu_mbox_read(struct emu_cmd *c, uint16_t in, size_t out_len, struct emu_mbox *m);
/* Answer with attribute `out`, unless `err` is the kernel's, and release the mailbox; returns the
 * result of the command. */
int emu_mbox_answer(struct emu_cmd *c, uint16_t out, struct emu_mbox *m, int err);
void emu_mbox_release(struct emu_mbox *m);
/* Refuse a command as the firmware does: -EREMOTEIO, with status and syndrome in the out mailbox. */
int emu_refuse(struct emu_mbox *m, enum emu_cmd_syndrome syndrome);

#endif
