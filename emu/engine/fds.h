/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Descriptors that the server gives to the engine: sockets of endpoints, and completion channels. */
#ifndef EMU_ENGINE_FDS_H
#define EMU_ENGINE_FDS_H

#include <stdint.h>

struct engine;

/* Take the descriptors that have arrived. */
void emu_fds_receive(struct engine *e);
void emu_fds_close(const int *fd, uint32_t n);

#endif
