/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * When the server has ended. To the program its device was pulled: commands fail, and what it
 * destroys is gone for it, so it gives the memory away. But engines run on, to flush what somebody
 * waits for. So what the server did for a destroyed object is done here: no engine touches its
 * memory when the command has failed.
 *
 * All of this is called with the library's lock held.
 */
#ifndef EMU_SHIM_GONE_H
#define EMU_SHIM_GONE_H

#include <stddef.h>
#include <stdint.h>

#include "emu/engine/engine.h"

/* This process has an engine. */
void emu_gone_watch(const struct emu_engine_config *config);
/* In a forked child, which has none. */
void emu_gone_forget(void);
/*
 * A command on the device `fd` was not answered; `head` is its ioctl header with the attributes, if
 * `len` is not 0. If a server has ended, nobody copies any more when this returns, and if the
 * command was to destroy a queue, nobody uses that.
 */
void emu_gone_settle(int fd, const uint8_t *head, size_t len);

#endif
