/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * As many objects as the device reports can be made. The program runs with small limits, one kind at
 * a time; test_uverbs_limits has the queues, and test_emu_tables the tables behind the other limits.
 */
#include <unistd.h>

#include "fixture.h"
#include "uverbs.h"
#include "uverbs_queues.h"

/* The highest limit that is swept; DPUMAP_LIMITS=0xffffffff in the environment sweeps all. */
#define CHEAP 4096u

static uint32_t pd;
static uint32_t cheap;

static int make_pd(int fd)
{
	uint32_t handle;

	return alloc_pd(fd, &handle);
}

/* Link-local: no neighbour is asked. */
static int make_ah(int fd)
{
	static const uint8_t gid[16] = {0xfe, 0x80};
	uint8_t mac[6];

	return create_ah(fd, pd, gid, 0, mac);
}

static int make_mw(int fd)
{
	struct ib_uverbs_alloc_mw req = {.pd_handle = pd, .mw_type = 2};
	struct ib_uverbs_alloc_mw_resp resp;

	return write_command(fd, IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), &resp,
			     sizeof(resp));
}

static int make_mr(int fd)
{
	uint32_t handle;

	return reg_mr(fd, pd, ring, (uintptr_t)ring, 1, IB_UVERBS_ACCESS_LOCAL_WRITE, &handle);
}

static int make_srq(int fd)
{
	struct srq s = good_srq(pd);
	uint32_t handle;

	return create_srq(fd, &s, &handle);
}

/* Not one more than the limit; when they are destroyed, as many again. */
static void sweep(const char *name, int (*make)(int fd), uint32_t limit, uint32_t there)
{
	uint64_t begin = monotonic_ms();
	uint32_t turn;
	int fd, err;

	for (turn = 0; turn < 2 && limit <= cheap; turn++) {
		fd = open_with_doorbells();
		assert_int_equal(alloc_pd(fd, &pd), 0);
		for (uint32_t i = there; i < limit; i++) {
			err = make(fd);
			if (err)
				fail_msg("%u of %u: errno %d", i, limit, err);
		}
		assert_int_equal(make(fd), ENOMEM);
		close(fd);
		assert_int_equal(fixture_recount(NULL), 0); /* wait until they are gone */
	}
	printf("%s: %u made %u times in %llu ms\n", name, limit, turn,
	       (unsigned long long)(monotonic_ms() - begin));
	fflush(stdout);
}

static void each_number_of_objects_can_be_reached(void **state)
{
	struct ib_uverbs_query_device_resp r = {0};
	int fd = open_context();

	cheap = (uint32_t)test_setting("DPUMAP_LIMITS", CHEAP);
	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_QUERY_DEVICE, NULL, 8, &r, sizeof(r)),
			 0);
	close(fd);
	assert_int_equal(fixture_recount(NULL), 0);
	sweep("pds", make_pd, r.max_pd, 1);
	sweep("ahs", make_ah, r.max_ah, 0);
	sweep("mws", make_mw, r.max_mw, 0);
	sweep("mrs", make_mr, r.max_mr, 0);
	if (r.max_ah <= cheap) /* once is enough: no capability changes their number */
		sweep("srqs", make_srq, r.max_srq, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(each_number_of_objects_can_be_reached),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
