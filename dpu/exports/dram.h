/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Main memory for exports: pages that are shared, which other processes of the machine can map, as the
 * emulated card does. A process has a limited number of mappings (vm.max_map_count), so small
 * exports are parts of common mappings. Any thread may call these functions.
 */
#ifndef DPUMAPD_DRAM_H
#define DPUMAPD_DRAM_H

#include <stddef.h>

/*
 * Zeroed pages with room for size bytes; NULL with errno. *fd keeps their file open, so that others find it
 * without privileges; -1: there is none, or it belongs to several exports.
 */
void *dram_take(size_t size, int *fd);
void dram_give_back(void *bytes, size_t size, int fd);

#endif
