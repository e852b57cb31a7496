/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What signals ask dpumapd to do: to stop, or to read its configuration again. */
#ifndef DPUMAPD_SIGNALS_H
#define DPUMAPD_SIGNALS_H

#include <stdbool.h>

#include "dpu/base/loop.h"

/* From then on, a request ends a turn of the loop. Earlier requests are kept. */
doca_error_t signals_open(struct loop *loop, struct dpumap_error *error);
/* Does nothing if they are not open. */
void signals_close(struct loop *loop);

/* Both may be called from a signal handler. */
void signals_ask_stop(void);
void signals_ask_reload(void);

bool signals_stop_is_asked(void);
bool signals_reload_is_asked(void);
/* The reload begins: the next request is for another one. */
void signals_take_reload(void);

#endif
