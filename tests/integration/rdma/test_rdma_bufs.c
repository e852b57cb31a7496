/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tasks whose bufs are too short, too long or missing, and those that are just right. */
#include "side.h"

#include "base/array.h"

#define NONE (-1)
#define FAR  65536u

struct row {
	const char *name;
	enum side_kind kind;
	int src, dst, result; /* their lengths; NONE: NULL */
	size_t skew;	      /* of the remote address */
	doca_error_t status;
};

static const struct row rows[] = {
	{"a write without source", SIDE_WRITE, NONE, 64, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"a write without destination", SIDE_WRITE, 64, NONE, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"a write of nothing", SIDE_WRITE, 0, 64, NONE, 0, DOCA_ERROR_IO_FAILED},
	{"a write into a short buf", SIDE_WRITE, 64, 63, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"a write that fits", SIDE_WRITE, 64, 64, NONE, 0, DOCA_SUCCESS},
	{"a write of one byte", SIDE_WRITE, 1, 1, NONE, 0, DOCA_SUCCESS},
	{"a write with immediate data without source", SIDE_WRITE_IMM, NONE, 64, NONE, 0,
	 DOCA_ERROR_INVALID_VALUE},
	{"a write with immediate data without destination", SIDE_WRITE_IMM, 64, NONE, NONE, 0,
	 DOCA_ERROR_INVALID_VALUE},
	{"a write with immediate data into a short buf", SIDE_WRITE_IMM, 64, 63, NONE, 0,
	 DOCA_ERROR_INVALID_VALUE},
	{"a read without source", SIDE_READ, NONE, 64, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"a read without destination", SIDE_READ, 64, NONE, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"a read of nothing", SIDE_READ, 0, 64, NONE, 0, DOCA_ERROR_IO_FAILED},
	{"a read into a short buf", SIDE_READ, 64, 63, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"a read that fits", SIDE_READ, 64, 64, NONE, 0, DOCA_SUCCESS},
	{"a swap without result", SIDE_CMP_SWP, NONE, 8, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"a swap without destination", SIDE_CMP_SWP, NONE, NONE, 8, 0, DOCA_ERROR_INVALID_VALUE},
	{"a swap with a short result", SIDE_CMP_SWP, NONE, 8, 7, 0, DOCA_ERROR_INVALID_VALUE},
	{"a swap in a short destination", SIDE_CMP_SWP, NONE, 7, 8, 0, DOCA_ERROR_INVALID_VALUE},
	{"a swap that fits", SIDE_CMP_SWP, NONE, 8, 8, 0, DOCA_SUCCESS},
	{"an addition without result", SIDE_FETCH_ADD, NONE, 8, NONE, 0, DOCA_ERROR_INVALID_VALUE},
	{"an addition without destination", SIDE_FETCH_ADD, NONE, NONE, 8, 0,
	 DOCA_ERROR_INVALID_VALUE},
	{"an addition to a misaligned address", SIDE_FETCH_ADD, NONE, 8, 8, 4,
	 DOCA_ERROR_INVALID_VALUE},
	{"an addition that fits", SIDE_FETCH_ADD, NONE, 8, 8, 0, DOCA_SUCCESS},
};

static struct doca_buf *buf_of(int len, bool is_peer, bool is_data, size_t at)
{
	if (len == NONE)
		return NULL;
	if (is_peer)
		return is_data ? side_peer_data(&here, at, (size_t)len)
			       : side_peer_room(&here, at, (size_t)len);
	return is_data ? side_data(&here, at, (size_t)len) : side_room(&here, at, (size_t)len);
}

static doca_error_t do_row(const struct row *row)
{
	bool is_read = row->kind == SIDE_READ, is_atomic = row->kind >= SIDE_CMP_SWP;
	const struct side_work work = {
		.kind = row->kind,
		.src = buf_of(row->src, is_read, true, row->skew),
		.dst = buf_of(row->dst, !is_read, is_atomic, FAR + row->skew),
		.result = buf_of(row->result, false, false, 2 * (size_t)FAR),
		.add = 1,
	};

	return side_do(&here, &work);
}

static void connect_anew(void)
{
	assert_ok(doca_rdma_connection_disconnect(there.connections[0]));
	here.n_connections = there.n_connections = 0;
	assert_true(side_wait_state(&here, DOCA_CTX_STATE_IDLE));
	assert_ok(side_start(&here));
	assert_ok(side_connect());
}

/* rule: X-1, RT-4, RT-8c, RT-10b */
static void a_task_with_wrong_bufs_fails_before_it_reaches_the_device(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		doca_error_t result = do_row(&rows[i]);

		if (result != rows[i].status)
			fail_msg("%s: %s", rows[i].name, doca_error_get_name(result));
		if (result != DOCA_SUCCESS)
			connect_anew();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		connected_test(a_task_with_wrong_bufs_fails_before_it_reaches_the_device),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
