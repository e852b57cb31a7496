/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls that do nothing, with the arguments of doca_buf_inventory_buf_get_by_args() and
 * doca_buf_dec_refcount(), in a shared library: what the calls alone cost.
 */
#ifndef DPUMAP_BENCH_EMPTY_H
#define DPUMAP_BENCH_EMPTY_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

struct doca_buf;
struct doca_buf_inventory;
struct doca_mmap;

DPUMAP_FREQUENT doca_error_t bench_empty_get(struct doca_buf_inventory *inventory,
					     struct doca_mmap *mmap, void *addr, size_t len,
					     void *data, size_t data_len, struct doca_buf **buf);
DPUMAP_FREQUENT doca_error_t bench_empty_put(struct doca_buf *buf, uint16_t *refcount);

#endif
