/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The responder of UC: a message arrives whole or not at all (IBA 9.8.2). */
#ifndef EMU_WIRE_UC_H
#define EMU_WIRE_UC_H

#include "emu/wire/packet.h"

struct wire_qp;

enum wire_drop wire_uc_input(struct wire_qp *qp, const struct wire_packet *p);

#endif
