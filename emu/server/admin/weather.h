/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Faults on demand of the network: partitions between functions, and queue pairs whose packets are
 * lost, delayed or refused.
 */
#ifndef EMU_WEATHER_H
#define EMU_WEATHER_H

#include <stdbool.h>

#include "emu/ipc/proto.h"

/* Does the name stand for a function, or as "nodeN" for the functions of a machine? */
bool emu_weather_knows(const char *name);
/* Set or end a fault: 0 or a negative errno. -ENOENT: there is no such queue pair. */
int emu_weather_partition(const struct emu_fault_request *r);
int emu_weather_queue(const struct emu_fault_request *r);
/* End all of them. */
void emu_weather_clear(void);

#endif
