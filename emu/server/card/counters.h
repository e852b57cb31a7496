/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The counters of a port: sums of what the engines counted (ipc/counters.h), and their files. */
#ifndef EMU_CARD_COUNTERS_H
#define EMU_CARD_COUNTERS_H

#include "emu/ipc/counters.h"
#include "emu/server/card/topology.h"

/* The name of the file, and the number that it shows. */
const char *emu_counter_name(enum emu_counter id);
uint64_t emu_counter_value(const struct emu_func *f, enum emu_counter id);
/* The counters of hw_counters/, from 0 on; NULL: there are no more. */
const char *emu_counter_hw(const struct emu_func *f, unsigned int i, uint64_t *value);
/* Add to a counter of the server's. */
void emu_counter_add(const struct emu_func *f, enum emu_counter id, uint64_t n);
/* Keep the counts of an engine that has ended. */
void emu_counters_keep_ended(uint32_t slot);

/* Write the files of a function in sysfs. 0 or a negative errno. */
int emu_counters_create(const struct emu_func *f);
/*
 * Write those again whose numbers have changed, in place: a program may read a file that it opened
 * long ago.
 */
void emu_counters_refresh(void);

#endif
