/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Faults on demand of the network: partitions between functions, and queue pairs whose packets are
 * lost, delayed or refused.
 */
#ifndef EMU_NETWORK_FAULTS_H
#define EMU_NETWORK_FAULTS_H

#include <stdbool.h>

#include "emu/ipc/proto.h"

/* Does the name stand for a function, or as "nodeN" for the functions of a machine? */
bool emu_network_has(const char *name);
/* Set or end a fault: 0 or a negative errno. -ENOENT: there is no such queue pair. */
int emu_network_fault_partition(const struct emu_fault_request *r);
int emu_network_fault_queue(const struct emu_fault_request *r);
/* End all of them. */
void emu_network_faults_clear(void);

#endif
