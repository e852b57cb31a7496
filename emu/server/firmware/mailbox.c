/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/mailbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int emu_mbox_read(struct emu_cmd *c, uint16_t in, size_t out_len, struct emu_mbox *m)
{
	int err;

	memset(m, 0, sizeof(*m));
	err = emu_attr_in_dup(c, in, &m->in, &m->in_len);
	if (err)
		return err;
	m->out_len = out_len;
	if (m->in_len < EMU_MBOX_HDR || m->out_len < EMU_MBOX_HDR) {
		free(m->in);
		return -EINVAL;
	}
	m->opcode = (uint16_t)emu_prm_get(m->in, EMU_CMD_IN_OPCODE);
	m->op_mod = (uint16_t)emu_prm_get(m->in, EMU_CMD_IN_OP_MOD);
	return 0;
}

/* The mailbox may carry an access key, which must not stay in freed memory. */
void emu_mbox_release(struct emu_mbox *m)
{
	explicit_bzero(m->in, m->in_len);
	free(m->in);
}

int emu_mbox_answer(struct emu_cmd *c, uint16_t out, struct emu_mbox *m, int err)
{
	int e = 0;

	if (!err || err == -EREMOTEIO)
		e = emu_attr_out(c, out, m->out,
				 m->out_len < EMU_MBOX_OUT ? m->out_len : EMU_MBOX_OUT);
	emu_mbox_release(m);
	return err ? err : e;
}

int emu_refuse(struct emu_mbox *m, enum emu_cmd_syndrome syndrome)
{
	memset(m->out, 0, sizeof(m->out));
	emu_prm_set(m->out, EMU_CMD_OUT_STATUS, emu_cmd_refusal(syndrome).status);
	emu_prm_set(m->out, EMU_CMD_OUT_SYNDROME, syndrome);
	return -EREMOTEIO;
}
