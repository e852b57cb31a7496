/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What arrives. */
#ifndef EMU_CM_RECEIVE_H
#define EMU_CM_RECEIVE_H

#include <stdint.h>

#include "emu/server/cm/mad.h"

struct emu_cm;
struct emu_cm_path;

/* A message arrived. `path` is the receiver's: sgid and port are the local ones. */
void emu_cm_receive(struct emu_cm *cm, const struct emu_cm_path *path,
		    const uint8_t mad[static EMU_MAD_BYTES]);

#endif
