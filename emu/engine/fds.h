/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the server gives to the engine: descriptors of endpoints and of completion channels, and keys. */
#ifndef EMU_ENGINE_FDS_H
#define EMU_ENGINE_FDS_H

#include <stdint.h>

struct engine;

/* Take what has arrived. */
void emu_fds_receive(struct engine *e);
void emu_fds_close(const int *fd, uint32_t n);

#endif
