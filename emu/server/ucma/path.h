/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Paths as path records of the subnet administration (IBA volume 1, 15.2.5.16). */
#ifndef EMU_UCMA_PATH_H
#define EMU_UCMA_PATH_H

#include <rdma/ib_user_sa.h>
#include <stdint.h>

#include "emu/server/cm/cm.h"

#define EMU_PATH_RECORD 64u
#define EMU_PATH_EQUAL	2u /* a selector: exactly this value */
#define EMU_PATH_FLAGS	(IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)

void emu_cma_pack_path(const struct emu_cm_path *p, uint8_t record[static EMU_PATH_RECORD]);
/* Set all members of the path but the port. */
void emu_cma_unpack_path(const uint8_t record[static EMU_PATH_RECORD], struct emu_cm_path *p);

#endif
