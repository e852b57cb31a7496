/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions that newer versions of rdma-core have. They are looked up in the libraries that are loaded, so that one
 * build works with all versions.
 */
#ifndef DPUMAP_DEVICE_SYMBOL_H
#define DPUMAP_DEVICE_SYMBOL_H

/* Let the pointer to a function point to what has this name, or to NULL. */
void dpumap_find_symbol(const char *name, void *function);

#endif
