/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Mkeys that firmware commands create: direct, indirect, and aliases of other functions' mkeys. */
#ifndef EMU_FIRMWARE_MKEY_H
#define EMU_FIRMWARE_MKEY_H

#include <stdint.h>

#include "emu/prm/prm_mkey.h"
#include "emu/server/firmware/mailbox.h"
#include "emu/server/firmware/umem.h"

struct emu_devx_mkey {
	struct emu_uobj obj;
	uint32_t index;			/* of the mkey or the alias */
	struct emu_umem *umem;		/* of an MTT mkey, or NULL */
	struct emu_uobj *dm;		/* of one of device memory, or NULL */
	uint8_t context[EMU_MKC_BYTES]; /* as it was created; an alias's without the access key */
};

/* Firmware commands. */
int emu_devx_allow_access(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_create_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_create_alias(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_alias(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

int emu_devx_mkey_undo(struct emu_uobj *o);

/*
 * Changes of mkeys by work requests: UMR, which also binds a memory window and invalidates a key
 * locally, and a peer's send with invalidate.
 */

#define EMU_MIN_LOG_ENTITY  12u /* DPDK's mlx5_prm.h: MLX5_MIN_KLM_FIXED_BUFFER_SIZE */
#define EMU_UMR_LINE	    4u	/* lists of pages come in blocks of so many octwords */
#define EMU_MTT_PER_OCTWORD 2u
#define EMU_NO_ROOM	    UINT32_MAX /* emu_mkey.u.klm.first: a list of pages has no room yet */

/* Free the room of a list of pages, which no engine uses any more. */
void emu_umr_drop_list(const struct emu_mkey *m);
/* Execute the changes that the QP's engine has posted (struct emu_umr). */
void emu_umr_serve(uint32_t qpn);

#endif
