/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "empty.h"

doca_error_t bench_empty_get(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
			     void *addr, size_t len, void *data, size_t data_len,
			     struct doca_buf **buf)
{
	*buf = addr;
	return DOCA_SUCCESS;
}

doca_error_t bench_empty_put(struct doca_buf *buf, uint16_t *refcount)
{
	return DOCA_SUCCESS;
}
