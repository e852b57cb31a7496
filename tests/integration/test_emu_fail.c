/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu fail': the device refuses the commands that it was told to refuse, and no others. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uverbs.h"

#define QUERY_CAPS_OUT	0x1010
#define MMAP_DEVICE_MEM 8u

static int exit_code(pid_t pid)
{
	int status = rig_reap(pid);

	assert_true(status >= 0 && WIFEXITED(status));
	return WEXITSTATUS(status);
}

struct rule {
	const char *method, *nth, *count, *errnum, *role;
};

static int arm(const struct rule *r)
{
	const char *argv[16] = {rig_options.emu, "fail"};
	const char *const options[] = {"--method", r->method, "--nth",	 r->nth, "--count",
				       r->count,   "--errno", r->errnum, "--as", r->role};
	int n = 2;
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i += 2) {
		if (!options[i + 1])
			continue;
		argv[n++] = options[i];
		argv[n++] = options[i + 1];
	}
	return exit_code(rig_spawn(argv, NULL, NULL));
}

static void assert_cleared(unsigned long seen, unsigned long failed)
{
	const char *const argv[] = {rig_options.emu, "fail", "--clear", NULL};
	unsigned long n[2] = {~0ul, ~0ul};
	FILE *stream;
	pid_t pid;
	int from;

	pid = rig_spawn(argv, NULL, &from);
	assert_true(pid > 0);
	stream = fdopen(from, "r");
	assert_non_null(stream);
	assert_int_equal(fscanf(stream, "seen %lu\nfailed %lu\n", &n[0], &n[1]), 2); // NOLINT
	fclose(stream);
	assert_int_equal(exit_code(pid), 0);
	assert_int_equal(n[0], seen);
	assert_int_equal(n[1], failed);
}

static void test_the_nth_and_those_after_it(void **state)
{
	const struct rule rule = {
		.method = "pd.create", .nth = "2", .count = "3", .errnum = "EBUSY"};
	static const int wanted[] = {0, EBUSY, EBUSY, EBUSY, 0, 0};
	int fd = open_context();
	uint32_t pd;
	size_t i;

	(void)state;
	assert_int_equal(arm(&rule), 0);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(alloc_pd(fd, &pd), wanted[i]);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	assert_cleared(6, 3);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	close(fd);
}

/* The next command, once, for want of memory. */
static void test_defaults(void **state)
{
	const struct rule rule = {0};
	int fd = open_cdev();

	(void)state;
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(get_context(fd), ENOMEM);
	assert_int_equal(get_context(fd), 0);
	assert_cleared(2, 1);
	assert_cleared(0, 0);
	close(fd);
}

/* An object whose destruction failed is still there. */
static void test_refused_before_it_is_executed(void **state)
{
	const struct rule rule = {.method = "*.destroy", .errnum = "EIO"};
	int fd = open_context();
	uint32_t pd;

	(void)state;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(dealloc_pd(fd, pd), EIO);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	assert_int_equal(dealloc_pd(fd, pd), ENOENT);
	assert_cleared(2, 1);
	close(fd);
}

static void test_all_but_some(void **state)
{
	const struct rule rule = {.method = "!(*.destroy)"};
	int fd = open_context();
	uint32_t pd;

	(void)state;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	assert_int_equal(alloc_pd(fd, &pd), ENOMEM);
	assert_cleared(1, 1);
	close(fd);
}

static int query_caps(int fd)
{
	static uint8_t out[QUERY_CAPS_OUT];
	uint8_t in[16] = {0x01, 0x00};
	union command c;

	begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, sizeof(in));
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, sizeof(out));
	return issue(fd, &c);
}

static void test_commands_in_mailboxes(void **state)
{
	const struct rule other = {.method = "devx.allow-access"};
	const struct rule rule = {.method = "devx.query-caps", .errnum = "EINTR"};
	int fd = open_context();

	(void)state;
	assert_int_equal(arm(&other), 0);
	assert_int_equal(query_caps(fd), 0);
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(query_caps(fd), EINTR);
	assert_int_equal(query_caps(fd), 0);
	assert_cleared(2, 1);
	close(fd);
}

static int map_dm(int fd)
{
	uint16_t page = 0;
	uint64_t offset = 0;
	union command c;
	void *p;

	begin(&c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	add(&c, UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_ALLOC_DM_LENGTH, 8, 4096);
	add(&c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, 0);
	add_buf(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset, sizeof(offset));
	add_buf(&c, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &page, sizeof(page));
	assert_int_equal(issue(fd, &c), 0);
	offset = (uint64_t)(page >> 8) << 16 | MMAP_DEVICE_MEM << 8 | (page & 0xff);
	p = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, (off_t)(offset * 4096));
	if (p == MAP_FAILED)
		return errno;
	munmap(p, 4096);
	return 0;
}

static void test_mappings(void **state)
{
	const struct rule rule = {.method = "file.mmap", .nth = "2", .errnum = "EAGAIN"};
	int fd = open_context();

	(void)state;
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(map_dm(fd), 0);
	assert_int_equal(map_dm(fd), EAGAIN);
	assert_int_equal(map_dm(fd), 0);
	assert_cleared(3, 1);
	close(fd);
}

static void test_one_function_only(void **state)
{
	const struct rule host = {.method = "pd.create", .role = "host"};
	const struct rule dpu = {.method = "pd.create", .role = "dpu"};
	int fd = open_context();
	uint32_t pd;

	(void)state;
	assert_int_equal(arm(&host), 0);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_cleared(0, 0);
	assert_int_equal(arm(&dpu), 0);
	assert_int_equal(alloc_pd(fd, &pd), ENOMEM);
	assert_cleared(1, 1);
	close(fd);
}

static void test_rules_without_sense(void **state)
{
	static const struct rule bad[] = {
		{.method = "pd.frobnicate"},
		{.nth = "0"},
		{.nth = "-1"},
		{.count = "0"},
		{.count = "2x"},
		{.errnum = "EFROB"},
		{.errnum = "12"},
		{.role = "../host"},
	};
	const struct rule nobody = {.role = "guest"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(arm(&bad[i]), 2);
	assert_int_equal(arm(&nobody), 1);
	assert_cleared(0, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(test_the_nth_and_those_after_it),
		counted_test(test_defaults),
		counted_test(test_refused_before_it_is_executed),
		counted_test(test_all_but_some),
		counted_test(test_commands_in_mailboxes),
		counted_test(test_mappings),
		counted_test(test_one_function_only),
		counted_test(test_rules_without_sense),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
