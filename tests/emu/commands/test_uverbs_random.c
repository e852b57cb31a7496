/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random commands to the kernel's interface, most of them almost valid. The emulated kernel must
 * answer them all, and no object may be left when the context is closed. DPUMAP_RANDOM_MS sets the
 * duration, DPUMAP_RANDOM_SEED the sequence.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "prm.h"

#define DEVICE_PATH "/dev/infiniband/uverbs0"
#define MAX_ATTRS   12
#define SCRATCH	    8192

union command {
	struct ib_uverbs_ioctl_hdr hdr; /* ends with the attributes */
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
		     MAX_ATTRS * sizeof(struct ib_uverbs_attr)];
};

enum kind { END, HANDLE, VALUE, BUFFER, COMMAND };

struct attr {
	uint16_t id;
	uint16_t len;
	enum kind kind;
};

/* Valid commands; each attribute is then corrupted now and then. */
static const struct template
{
	uint16_t object, method;
	struct attr attr[8];
}
templates[] = {
#define WRITE(command, in, out)                                               \
	{                                                                     \
		UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,             \
		{                                                             \
			{UVERBS_ATTR_CORE_IN, in, (in) > 8 ? BUFFER : VALUE}, \
				{UVERBS_ATTR_CORE_OUT, out, BUFFER},          \
				{UVERBS_ATTR_UHW_OUT, 4, BUFFER},             \
				{UVERBS_ATTR_WRITE_CMD, (command), COMMAND},  \
		}                                                             \
	}
	WRITE(IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 176),
	WRITE(IB_USER_VERBS_CMD_ALLOC_PD, 8, 4),
	WRITE(IB_USER_VERBS_CMD_REG_MR, 40, 12),
	WRITE(IB_USER_VERBS_CMD_REREG_MR, 48, 8),
	WRITE(IB_USER_VERBS_CMD_QUERY_QP, 16, 128),
	WRITE(IB_USER_VERBS_CMD_MODIFY_QP, 112, 0),
	WRITE(IB_USER_VERBS_CMD_OPEN_XRCD, 16, 4),
	WRITE(IB_USER_VERBS_CMD_OPEN_QP, 32, 32),
	{UVERBS_OBJECT_DEVICE,
	 UVERBS_METHOD_QUERY_PORT,
	 {{UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, VALUE}, {UVERBS_ATTR_QUERY_PORT_RESP, 48, BUFFER}}},
	{UVERBS_OBJECT_DEVICE,
	 UVERBS_METHOD_QUERY_GID_TABLE,
	 {{0, 8, VALUE}, {1, 4, VALUE}, {2, 128, BUFFER}, {3, 8, BUFFER}}},
	{UVERBS_OBJECT_DEVICE,
	 UVERBS_METHOD_QUERY_GID_ENTRY,
	 {{0, 4, VALUE}, {1, 4, VALUE}, {2, 4, VALUE}, {3, 32, BUFFER}}},
	{UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, {{0, 0, HANDLE}}},
	{UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, {{0x1000, 0, HANDLE}, {0x1001, 4, BUFFER}}},
	{UVERBS_OBJECT_MR,
	 UVERBS_METHOD_DM_MR_REG,
	 {{0, 0, HANDLE},
	  {1, 8, VALUE},
	  {2, 8, VALUE},
	  {3, 0, HANDLE},
	  {4, 4, VALUE},
	  {5, 0, HANDLE},
	  {6, 4, BUFFER},
	  {7, 4, BUFFER}}},
	{UVERBS_OBJECT_MR,
	 UVERBS_METHOD_QUERY_MR,
	 {{0, 0, HANDLE}, {1, 4, BUFFER}, {2, 4, BUFFER}, {3, 8, BUFFER}, {4, 8, BUFFER}}},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, {{0, 0, HANDLE}}},
	{UVERBS_OBJECT_DM,
	 UVERBS_METHOD_DM_ALLOC,
	 {{0, 0, HANDLE}, {1, 8, VALUE}, {2, 4, VALUE}, {0x1000, 8, BUFFER}, {0x1001, 2, BUFFER}}},
	{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, {{0, 0, HANDLE}}},
	{UVERBS_OBJECT_DM,
	 MLX5_IB_METHOD_DM_QUERY,
	 {{0x1000, 0, HANDLE}, {0x1001, 8, BUFFER}, {0x1002, 2, BUFFER}, {0x1003, 8, BUFFER}}},
	{MLX5_IB_OBJECT_UAR,
	 MLX5_IB_METHOD_UAR_OBJ_ALLOC,
	 {{0x1000, 0, HANDLE},
	  {0x1001, 8, VALUE},
	  {0x1002, 8, BUFFER},
	  {0x1003, 4, BUFFER},
	  {0x1004, 4, BUFFER}}},
	{MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, {{0x1000, 0, HANDLE}}},
	{MLX5_IB_OBJECT_DEVX,
	 MLX5_IB_METHOD_DEVX_OTHER,
	 {{0x1000, 0x40, BUFFER}, {0x1001, 4112, BUFFER}}},
	{MLX5_IB_OBJECT_DEVX_OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_CREATE,
	 {{0x1000, 0, HANDLE}, {0x1001, 0x140, BUFFER}, {0x1002, 0x50, BUFFER}}},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, {{0x1000, 0, HANDLE}}},
	{MLX5_IB_OBJECT_DEVX_OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_QUERY,
	 {{0x1000, 0, HANDLE}, {0x1001, 16, BUFFER}, {0x1002, 0x50, BUFFER}}},
	{MLX5_IB_OBJECT_DEVX_UMEM,
	 MLX5_IB_METHOD_DEVX_UMEM_REG,
	 {{0x1000, 0, HANDLE},
	  {0x1001, 8, VALUE},
	  {0x1002, 8, VALUE},
	  {0x1003, 4, VALUE},
	  {0x1004, 4, BUFFER}}},
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, {{0x1000, 0, HANDLE}}},
};

static const uint16_t opcodes[] = {CMD_QUERY_HCA_CAP,
				   CMD_CREATE_MKEY,
				   CMD_QUERY_MKEY,
				   CMD_INIT2INIT_QP,
				   CMD_CREATE_GENERAL_OBJECT,
				   CMD_QUERY_GENERAL_OBJECT,
				   CMD_ALLOW_OTHER_VHCA_ACCESS,
				   CMD_ALLOW_OTHER_VHCA_ACCESS + 1,
				   0x777};

static uint8_t scratch[SCRATCH] __attribute__((aligned(4096)));
static uint64_t state_of_random;

static uint32_t draw(uint32_t below)
{
	return test_draw(&state_of_random, below);
}

static uint64_t draw_value(void)
{
	switch (draw(6)) {
	case 0:
		return (uintptr_t)scratch + draw(64);
	case 1:
		return draw(4096);
	case 2:
		return UINT64_MAX - draw(8);
	case 3:
		return (uint64_t)draw(UINT32_MAX) << 32;
	default:
		return draw(12);
	}
}

static void draw_scratch(void)
{
	uint16_t op = opcodes[draw(ARRAY_SIZE(opcodes))];
	size_t i, n = 8 + draw(80);
	uint64_t v;

	memset(scratch, 0, 0x400);
	for (i = 0; i < n; i++) {
		v = draw_value();
		memcpy(scratch + 8 * (size_t)draw(0x400 / 8), &v, sizeof(v));
	}
	scratch[0] = (uint8_t)(op >> 8);
	scratch[1] = (uint8_t)op;
}

static void draw_attr(struct ib_uverbs_attr *a, const struct attr *t)
{
	a->attr_id = t->id;
	a->flags = UVERBS_ATTR_F_MANDATORY;
	a->len = t->kind == COMMAND ? 8 : t->len;
	if (t->kind == COMMAND)
		a->data = t->len;
	else if (t->kind == BUFFER)
		a->data = (uintptr_t)scratch;
	else
		a->data = t->kind == HANDLE ? draw(6) : draw_value();
}

static void spoil_attr(struct ib_uverbs_attr *a)
{
	switch (draw(4)) {
	case 0:
		a->attr_id = (uint16_t)(draw(2) * 0x1000 + draw(8));
		break;
	case 1:
		a->len = (uint16_t)draw(0x200);
		break;
	case 2:
		a->flags = (uint16_t)draw(4);
		break;
	default:
		a->data = draw_value();
		break;
	}
}

/* Returns true if the command succeeded. */
static bool issue_random(int fd)
{
	const struct template *t = &templates[draw(ARRAY_SIZE(templates))];
	union command c;
	uint16_t n;

	memset(&c, 0, sizeof(c));
	draw_scratch();
	c.hdr.object_id = t->object;
	c.hdr.method_id = t->method;
	c.hdr.driver_id = RDMA_DRIVER_MLX5;
	for (n = 0; n < ARRAY_SIZE(t->attr) && t->attr[n].kind != END; n++) {
		draw_attr(&c.hdr.attrs[n], &t->attr[n]);
		if (!draw(20))
			spoil_attr(&c.hdr.attrs[n]);
	}
	c.hdr.num_attrs = n;
	c.hdr.length = (uint16_t)(sizeof(c.hdr) + n * sizeof(c.hdr.attrs[0]));
	if (!ioctl(fd, RDMA_VERBS_IOCTL, &c.hdr))
		return true;
	assert_int_not_equal(errno, EIO); /* what a dead server would look like */
	return false;
}

static int open_context(void)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.flags = MLX5_IB_ALLOC_UCTX_DEVX,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
	struct mlx5_ib_alloc_ucontext_resp resp;
	union command c;
	int fd = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	memset(&c, 0, sizeof(c));
	c.hdr.object_id = UVERBS_OBJECT_DEVICE;
	c.hdr.method_id = UVERBS_METHOD_GET_CONTEXT;
	c.hdr.driver_id = RDMA_DRIVER_MLX5;
	c.hdr.num_attrs = 2;
	c.hdr.length = sizeof(c.hdr) + 2 * sizeof(c.hdr.attrs[0]);
	c.hdr.attrs[0] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_UHW_IN,
						 .len = sizeof(req),
						 .flags = UVERBS_ATTR_F_MANDATORY,
						 .data = (uintptr_t)&req};
	c.hdr.attrs[1] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_UHW_OUT,
						 .len = sizeof(resp),
						 .flags = UVERBS_ATTR_F_MANDATORY,
						 .data = (uintptr_t)&resp};
	assert_int_equal(ioctl(fd, RDMA_VERBS_IOCTL, &c.hdr), 0);
	return fd;
}

static void random_commands_do_not_stop_the_kernel(void **state)
{
	uint64_t seed = test_setting("DPUMAP_RANDOM_SEED", (unsigned long)monotonic_ms());
	uint64_t end = monotonic_ms() + test_setting("DPUMAP_RANDOM_MS", 1500);
	unsigned long contexts = 0, commands = 0, done = 0;
	int fd;

	state_of_random = seed;
	printf("seed %llu\n", (unsigned long long)seed);
	while (monotonic_ms() < end) {
		fd = open_context();
		for (int i = 0; i < 500; i++, commands++)
			done += issue_random(fd);
		close(fd);
		contexts++;
	}
	printf("%lu commands, %lu of them carried out, in %lu contexts\n", commands, done,
	       contexts);
	assert_true(done > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_commands_do_not_stop_the_kernel,
						fixture_count, fixture_recount),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
