/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The details of RDMA connections as bytes: no device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/queue/details.h"

static struct dpumap_qp_info ethernet(void)
{
	struct dpumap_qp_info end = {
		.qpn = 0x123456,
		.psn = 0xfedcba,
		.log_mtu = 12,
		.max_reads = 16,
	};

	for (size_t i = 0; i < sizeof(end.gid); i++)
		end.gid[i] = (uint8_t)(0xa0 + i);
	return end;
}

static struct dpumap_qp_info infiniband(void)
{
	return (struct dpumap_qp_info){
		.qpn = 1,
		.psn = 0,
		.lid = 0xfffe,
		.log_mtu = 8,
		.max_reads = 1,
		.is_infiniband = true,
	};
}

static doca_error_t pass(const struct dpumap_qp_info *end, struct dpumap_qp_info *got)
{
	uint8_t details[RDMA_DETAILS_SIZE];

	dpumap_rdma_details_encode(end, details);
	return dpumap_rdma_details_decode(details, sizeof(details), got);
}

static void assert_refused(struct dpumap_qp_info end)
{
	struct dpumap_qp_info got;

	assert_int_equal(pass(&end, &got), DOCA_ERROR_INVALID_VALUE);
}

static void encoded_details_decode_to_the_same(void **state)
{
	struct dpumap_qp_info sent[] = {ethernet(), infiniband()}, got;

	for (size_t i = 0; i < 2; i++) {
		memset(&got, 0xee, sizeof(got));
		assert_int_equal(pass(&sent[i], &got), DOCA_SUCCESS);
		assert_int_equal(got.qpn, sent[i].qpn);
		assert_int_equal(got.psn, sent[i].psn);
		assert_int_equal(got.lid, sent[i].lid);
		assert_int_equal(got.log_mtu, sent[i].log_mtu);
		assert_int_equal(got.max_reads, sent[i].max_reads);
		assert_int_equal(got.is_infiniband, sent[i].is_infiniband);
		assert_memory_equal(got.gid, sent[i].gid, sizeof(got.gid));
	}
}

/* The bytes that the header of the codec specifies, with a checksum that another program made. */
static void the_bytes_are_those_specified(void **state)
{
	static const uint8_t wanted[RDMA_DETAILS_SIZE] = {
		0x44, 0x50, 0x52, 0x43, 0x01, 0x00, 0x02, 0x00, 0x30, 0x00, 0x00, 0x00,
		0x0a, 0x11, 0xb6, 0x84, 0x56, 0x34, 0x12, 0x00, 0xba, 0xdc, 0xfe, 0x00,
		0x00, 0x00, 0x0c, 0x10, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
		0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0x00, 0x00, 0x00, 0x00,
	};
	struct dpumap_qp_info end = ethernet();
	uint8_t details[RDMA_DETAILS_SIZE];

	dpumap_rdma_details_encode(&end, details);
	assert_memory_equal(details, wanted, sizeof(wanted));
}

static void fields_out_of_range_are_refused(void **state)
{
	struct dpumap_qp_info end;

#define REFUSED(base, field, value) \
	end = base();               \
	end.field = (value);        \
	assert_refused(end)
	REFUSED(ethernet, qpn, 0);
	REFUSED(ethernet, qpn, 1u << 24);
	REFUSED(ethernet, psn, 1u << 24);
	REFUSED(ethernet, log_mtu, 7);
	REFUSED(ethernet, log_mtu, 13);
	REFUSED(ethernet, max_reads, 0);
	REFUSED(ethernet, lid, 1);
	REFUSED(infiniband, lid, 0);
	REFUSED(infiniband, gid[15], 1);
	end = ethernet();
	memset(end.gid, 0, sizeof(end.gid));
	assert_refused(end);
}

static void outputs_stay_on_refusal(void **state)
{
	struct dpumap_qp_info end = ethernet(), got = infiniband();
	uint8_t details[RDMA_DETAILS_SIZE];

	dpumap_rdma_details_encode(&end, details);
	for (size_t len = 0; len < sizeof(details); len++)
		assert_int_equal(dpumap_rdma_details_decode(details, len, &got),
				 DOCA_ERROR_INVALID_VALUE);
	details[47] = 1;
	assert_int_equal(dpumap_rdma_details_decode(details, sizeof(details), &got),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(got.lid, 0xfffe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoded_details_decode_to_the_same),
		cmocka_unit_test(the_bytes_are_those_specified),
		cmocka_unit_test(fields_out_of_range_are_refused),
		cmocka_unit_test(outputs_stay_on_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
