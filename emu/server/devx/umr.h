/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Changes of mkeys by work requests: UMR, which also binds a memory window and invalidates a key
 * locally, and a peer's send with invalidate.
 */
#ifndef EMU_DEVX_UMR_H
#define EMU_DEVX_UMR_H

#include <stdint.h>

/* Execute the changes that the QP's engine has posted (struct emu_umr). */
void emu_umr_serve(uint32_t qpn);

#endif
