/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Encoding arbitrary values must fail, or the encoding must decode to the same values. The check of an
 * access must agree with arithmetic that cannot overflow. A wrong result aborts.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "desc/layout.h"
#include "guard.h"
#include "vectors/vectors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	struct dpumap_desc values;
	uint64_t addr;
	uint64_t len;
	uint32_t ops;
	uint8_t nearby; /* place the access near a boundary of the range */
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_round_trip(const struct dpumap_desc *before)
{
	struct dpumap_desc after;
	size_t needed = 0, written;
	dpumap_desc_status_t status;
	uint8_t *bytes;

	status = dpumap_desc_encoded_size(before, &needed);
	bytes = guard_end() - needed;
	if (status != DPUMAP_DESC_OK) {
		require(dpumap_desc_encode(before, bytes, SIZE_MAX, &written) == status);
		return;
	}
	require(dpumap_desc_encode(before, bytes + 1, needed - 1, &written) ==
		DPUMAP_DESC_ERR_BUFFER);
	require(dpumap_desc_encode(before, bytes, needed, &written) == DPUMAP_DESC_OK);
	require(written == needed);
	require(dpumap_desc_decode(bytes, written, &after) == DPUMAP_DESC_OK);
	require(desc_vector_same(before, &after));
}

static bool is_inside(const struct dpumap_desc *d, uint64_t addr, uint64_t len)
{
	__extension__ typedef unsigned __int128 wide;

	return addr >= d->addr && (wide)addr + len <= (wide)d->addr + d->len;
}

static void check_access(const struct dpumap_desc *d, uint64_t addr, uint64_t len, uint32_t ops)
{
	struct dpumap_desc_window w;
	dpumap_desc_status_t status = dpumap_desc_get_window(d, &w);

	if (status != DPUMAP_DESC_OK) {
		require(dpumap_desc_check_access(d, addr, len, ops) == status);
		return;
	}
	status = dpumap_desc_window_check(&w, addr, len, ops);
	require((status == DPUMAP_DESC_ERR_DENIED) == ((ops & ~w.ops) != 0));
	if (status != DPUMAP_DESC_ERR_DENIED)
		require((status == DPUMAP_DESC_OK) == is_inside(d, addr, len));
	if (dpumap_desc_check_access(d, addr, len, ops) == DPUMAP_DESC_OK)
		require(ops && status == DPUMAP_DESC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {0};

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	check_round_trip(&in.values);
	if (in.nearby & 1)
		in.addr += in.values.addr;
	if (in.nearby & 2)
		in.len += in.values.len;
	check_access(&in.values, in.addr, in.len, in.ops);
	return 0;
}
