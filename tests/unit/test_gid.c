/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which address of a port is used for connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "device/gid.h"

/* From the worst to the best. */
static const struct {
	const char *what;
	uint32_t type; /* enum ibv_gid_type */
	uint8_t gid[16];
	unsigned int rank;
} cases[] = {
	{"RoCE v1, link", IBV_GID_TYPE_ROCE_V1, {0xfe, 0x80, [15] = 1}, 1},
	{"RoCE v1, IPv4", IBV_GID_TYPE_ROCE_V1, {[10] = 0xff, [11] = 0xff, [12] = 10}, 1},
	{"RoCE v2, link", IBV_GID_TYPE_ROCE_V2, {0xfe, 0x80, [15] = 1}, 2},
	{"RoCE v2, IPv6", IBV_GID_TYPE_ROCE_V2, {0x20, 0x01, 0x0d, 0xb8, [15] = 1}, 3},
	{"RoCE v2, nearly IPv4", IBV_GID_TYPE_ROCE_V2, {1, [10] = 0xff, [11] = 0xff}, 3},
	{"RoCE v2, nearly too", IBV_GID_TYPE_ROCE_V2, {[11] = 0xff, [12] = 10}, 3},
	{"RoCE v2, IPv4", IBV_GID_TYPE_ROCE_V2, {[10] = 0xff, [11] = 0xff, [12] = 10}, 4},
};

static void ipv4_of_roce_v2_is_best(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_gid_entry entry = {.gid_type = cases[i].type};

		memcpy(entry.gid.raw, cases[i].gid, sizeof(cases[i].gid));
		if (dpumap_gid_rank(&entry) != cases[i].rank)
			fail_msg("%s: %u", cases[i].what, dpumap_gid_rank(&entry));
	}
	assert_int_equal(cases[ARRAY_SIZE(cases) - 1].rank, DPUMAP_GID_BEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_of_roce_v2_is_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
