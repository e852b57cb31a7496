/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections of clients: files, and the channels of the processes that use them. */
#ifndef EMU_CLIENT_H
#define EMU_CLIENT_H

#include "emu/server/card/topology.h"

/* A client opened the function's character device: `fd` (consumed) is our end. */
void emu_client_accept(struct emu_func *func, int fd);

#endif
