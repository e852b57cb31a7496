/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu fault`: the device fails the commands that it was told to fail, and no others. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/array.h"
#include "uverbs.h"

#define QUERY_CAPS_OUT	0x1010
#define MMAP_DEVICE_MEM 8u

struct rule {
	const char *method, *nth, *count, *errnum, *role, *status, *syndrome;
};

/* Run `dpumap-emu fault` with these arguments; returns its exit code. */
static int fault(const char *const words[])
{
	const char *argv[16] = {test_options.emu, "fault"};

	for (int n = 2; words[n - 2]; n++)
		argv[n] = words[n - 2];
	return process_run(argv);
}

static int arm(const struct rule *r)
{
	const char *argv[20] = {test_options.emu, "fault", "command"};
	const char *const options[] = {"--method", r->method, "--nth",	    r->nth,	"--count",
				       r->count,   "--errno", r->errnum,    "--as",	r->role,
				       "--status", r->status, "--syndrome", r->syndrome};
	int n = 3;

	for (size_t i = 0; i < ARRAY_SIZE(options); i += 2) {
		if (!options[i + 1])
			continue;
		argv[n++] = options[i];
		argv[n++] = options[i + 1];
	}
	return process_run(argv);
}

static void assert_cleared(unsigned long seen, unsigned long failed)
{
	const char *const argv[] = {test_options.emu, "fault", "clear", NULL};
	unsigned long n[2] = {~0ul, ~0ul};
	FILE *stream;
	pid_t pid;
	int from;

	pid = process_spawn(argv, NULL, &from);
	assert_true(pid > 0);
	stream = fdopen(from, "r");
	assert_non_null(stream);
	assert_int_equal(fscanf(stream, "seen %lu\nfailed %lu\n", &n[0], &n[1]), 2); // NOLINT
	fclose(stream);
	assert_int_equal(process_exit_code(pid), 0);
	assert_int_equal(n[0], seen);
	assert_int_equal(n[1], failed);
}

static void a_rule_fails_the_nth_command_and_those_after_it(void **state)
{
	const struct rule rule = {
		.method = "pd.create", .nth = "2", .count = "3", .errnum = "EBUSY"};
	static const int wanted[] = {0, EBUSY, EBUSY, EBUSY, 0, 0};
	int fd = open_context();
	uint32_t pd;

	assert_int_equal(arm(&rule), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(alloc_pd(fd, &pd), wanted[i]);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	assert_cleared(6, 3);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	close(fd);
}

/* The next command fails once with ENOMEM. */
static void fault_of_commands_without_options_fails_the_next_one(void **state)
{
	const struct rule rule = {0};
	int fd = open_cdev();

	assert_int_equal(arm(&rule), 0);
	assert_int_equal(get_context(fd), ENOMEM);
	assert_int_equal(get_context(fd), 0);
	assert_cleared(2, 1);
	assert_cleared(0, 0);
	close(fd);
}

/* Runs the tool; its output is to be read to the end. */
static FILE *output_of(const char *const words[], pid_t *pid)
{
	const char *argv[16] = {test_options.emu};
	FILE *stream;
	int from;

	for (int n = 1; words[n - 1]; n++)
		argv[n] = words[n - 1];
	*pid = process_spawn(argv, NULL, &from);
	assert_true(*pid > 0);
	stream = fdopen(from, "r");
	assert_non_null(stream);
	return stream;
}

static void assert_prints(const char *const words[], const char *wanted)
{
	char text[4096];
	size_t len;
	pid_t pid;
	FILE *stream = output_of(words, &pid);

	len = fread(text, 1, sizeof(text) - 1, stream);
	text[len] = '\0';
	fclose(stream);
	assert_int_equal(process_exit_code(pid), 0);
	if (!strstr(text, wanted))
		fail_msg("'%s' is not in '%s'", wanted, text);
}

#define WORDS(...)  ((const char *const[]){__VA_ARGS__, NULL})
#define LIST	    WORDS("fault")
#define STATUS	    WORDS("status")
#define INJECT(...) assert_int_equal(fault(WORDS(__VA_ARGS__)), 0)

static void assert_status_lists(const char *wanted)
{
	pid_t pid;
	FILE *stream = output_of(WORDS("status", "--json"), &pid);
	struct json_object *status = json_object_from_fd(fileno(stream)), *faults;
	const char *text;

	fclose(stream);
	assert_int_equal(process_exit_code(pid), 0);
	assert_true(json_object_object_get_ex(status, "faults", &faults));
	text = json_object_to_json_string_ext(faults, JSON_C_TO_STRING_PLAIN);
	if (!strstr(text, wanted))
		fail_msg("'%s' is not in '%s'", wanted, text);
	json_object_put(status);
}

static void fault_without_options_lists_the_active_ones(void **state)
{
	int fd = open_cdev();

	assert_prints(LIST, "no fault is active\n");
	assert_int_equal(get_context(fd), 0); /* listing injects nothing */
	assert_status_lists("[]");
	INJECT("--method", "pd.create", "--nth", "2");
	INJECT("completion", "--lose", "--count", "all");
	INJECT("device", "--as", "host");
	INJECT("port", "--as", "host");
	INJECT("gid", "--as", "host");
	INJECT("neighbour", "--as", "host");
	INJECT("data", "--nth", "5", "--count", "2");
	INJECT("memory", "--left", "4096");
	INJECT("partition", "--as", "dpu", "--peer", "host");
	assert_prints(LIST, "command --method pd.create --nth 2 (matched 0, failed 0)\n"
			    "completion --lose --count all (matched 0, failed 0)\n"
			    "data --nth 5 --count 2 (matched 0, failed 0)\n"
			    "memory --as dpu --left 4096\n"
			    "device --as host\nport --as host\ngid --as host\n"
			    "neighbour --as host\n"
			    "partition --as dpu --peer host\n");
	assert_prints(STATUS, "\nfault device --as host\n");
	assert_status_lists("{\"fault\":\"device --as host\"},{\"fault\":\"port");
	INJECT("clear");
	assert_prints(LIST, "no fault is active\n");
	close(fd);
}

/* A fault that has failed its number of commands is not listed, nor one of a queue pair that has ended. */
static void fault_that_has_ended_is_not_listed(void **state)
{
	int fd = open_context();
	uint32_t pd;

	INJECT("--method", "pd.create", "--count", "2");
	assert_int_equal(alloc_pd(fd, &pd), ENOMEM);
	assert_prints(LIST, "command --method pd.create --count 2 (matched 1, failed 1)\n");
	assert_int_equal(alloc_pd(fd, &pd), ENOMEM);
	assert_prints(LIST, "no fault is active\n");
	assert_cleared(2, 2);
	close(fd);
}

/* An object whose destruction failed still exists. */
static void a_command_that_fails_is_not_executed(void **state)
{
	const struct rule rule = {.method = "*.destroy", .errnum = "EIO"};
	int fd = open_context();
	uint32_t pd;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(dealloc_pd(fd, pd), EIO);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	assert_int_equal(dealloc_pd(fd, pd), ENOENT);
	assert_cleared(2, 1);
	close(fd);
}

static void a_rule_may_exclude_commands(void **state)
{
	const struct rule rule = {.method = "!(*.destroy)"};
	int fd = open_context();
	uint32_t pd;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	assert_int_equal(alloc_pd(fd, &pd), ENOMEM);
	assert_cleared(1, 1);
	close(fd);
}

static uint8_t caps_out[QUERY_CAPS_OUT];

static int query_caps(int fd)
{
	uint8_t *out = caps_out;
	uint8_t in[16] = {0x01, 0x00};
	union command c;

	begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, sizeof(in));
	add_buf(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, sizeof(caps_out));
	return issue(fd, &c);
}

static void a_rule_names_commands_in_mailboxes(void **state)
{
	const struct rule other = {.method = "devx.allow-access"};
	const struct rule rule = {.method = "devx.query-caps", .errnum = "EINTR"};
	int fd = open_context();

	assert_int_equal(arm(&other), 0);
	assert_int_equal(query_caps(fd), 0);
	assert_int_equal(arm(&rule), 0);
	assert_int_equal(query_caps(fd), EINTR);
	assert_int_equal(query_caps(fd), 0);
	assert_cleared(2, 1);
	close(fd);
}

/* The firmware's status is in the output if the command has one; else the kernel translates it. */
static void firmware_status_is_in_the_output_or_an_errno(void **state)
{
	const struct rule rule = {.method = "devx.query-caps|pd.create",
				  .count = "2",
				  .status = "LIM",
				  .syndrome = "0x12345678"};
	const struct rule either = {.method = "@(devx.query-caps|pd.create)",
				    .count = "2",
				    .status = "LIM",
				    .syndrome = "0x12345678"};
	static const uint8_t wanted[8] = {0x08, 0, 0, 0, 0x12, 0x34, 0x56, 0x78};
	int fd = open_context();
	uint32_t pd;

	assert_int_equal(arm(&rule), 2);
	assert_int_equal(arm(&either), 0);
	memset(caps_out, 0xff, sizeof(caps_out));
	assert_int_equal(query_caps(fd), EREMOTEIO);
	assert_memory_equal(caps_out, wanted, sizeof(wanted));
	assert_int_equal(alloc_pd(fd, &pd), ENOMEM);
	assert_int_equal(query_caps(fd), 0);
	assert_cleared(3, 2);
	close(fd);
}

static int alloc_memory(int fd, uint64_t len, uint16_t *page)
{
	uint32_t handle;

	return alloc_dm(fd, len, &handle, page);
}

static void device_memory_runs_out(void **state)
{
	const char *const left[] = {"memory", "--left", "8192", NULL};
	const char *const none[] = {"memory", NULL};
	int fd = open_context();
	uint16_t page;

	assert_int_equal(fault(left), 0);
	assert_int_equal(alloc_memory(fd, 8193, &page), ENOMEM);
	assert_int_equal(alloc_memory(fd, 4096, &page), 0);
	assert_int_equal(alloc_memory(fd, 4096, &page), 0);
	assert_int_equal(alloc_memory(fd, 64, &page), ENOMEM);
	assert_int_equal(fault(none), 0);
	assert_int_equal(alloc_memory(fd, 64, &page), ENOMEM);
	assert_cleared(0, 0);
	assert_int_equal(alloc_memory(fd, 65536, &page), 0);
	close(fd);
}

/* Its contexts are lost, and new ones refused until the fault is cleared; other devices work. */
static void a_device_can_be_made_to_die(void **state)
{
	const char *const host[] = {"device", "--as", "host", NULL};
	const char *const dpu[] = {"device", "--as", "dpu", NULL};
	int fd = open_context(), other;
	struct objects before;
	uint16_t page;
	uint32_t pd;

	assert_int_equal(fault(host), 0);
	assert_true(objects_read(&before));
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(fault(dpu), 0);
	assert_int_equal(alloc_pd(fd, &pd), EIO);
	assert_int_equal(dealloc_pd(fd, pd), EIO);
	assert_true(objects_wait(&before)); /* a program would free its memory now */
	assert_int_equal(alloc_memory(fd, 64, &page), EIO);
	assert_ptr_equal(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	assert_int_equal(errno, EIO);
	other = open_cdev();
	assert_int_equal(get_context(other), EIO);
	assert_cleared(0, 0);
	assert_int_equal(get_context(other), 0);
	assert_int_equal(alloc_pd(other, &pd), 0);
	assert_int_equal(alloc_pd(fd, &pd), EIO);
	close(other);
	close(fd);
}

static int map_dm(int fd)
{
	uint16_t page = 0;
	uint64_t offset;
	void *p;

	assert_int_equal(alloc_memory(fd, 4096, &page), 0);
	offset = (uint64_t)(page >> 8) << 16 | MMAP_DEVICE_MEM << 8 | (page & 0xff);
	p = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, (off_t)(offset * 4096));
	if (p == MAP_FAILED)
		return errno;
	munmap(p, 4096);
	return 0;
}

static void fault_fails_the_nth_mapping(void **state)
{
	const struct rule rule = {.method = "file.mmap", .nth = "2", .errnum = "EAGAIN"};
	int fd = open_context();

	assert_int_equal(arm(&rule), 0);
	assert_int_equal(map_dm(fd), 0);
	assert_int_equal(map_dm(fd), EAGAIN);
	assert_int_equal(map_dm(fd), 0);
	assert_cleared(3, 1);
	close(fd);
}

static void a_rule_of_one_function_spares_the_other(void **state)
{
	const struct rule host = {.method = "pd.create", .role = "host"};
	const struct rule dpu = {.method = "pd.create", .role = "dpu"};
	int fd = open_context();
	uint32_t pd;

	assert_int_equal(arm(&host), 0);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_cleared(0, 0);
	assert_int_equal(arm(&dpu), 0);
	assert_int_equal(alloc_pd(fd, &pd), ENOMEM);
	assert_cleared(1, 1);
	close(fd);
}

static void rules_without_sense_are_refused(void **state)
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
		{.errnum = "EIO", .status = "LIM"},
		{.status = "FROB"},
		{.syndrome = "0x1"},
		{.status = "LIM", .syndrome = "0"},
	};
	static const char *const nonsense[][6] = {
		{"frob"},
		{"completion"},
		{"completion", "--lose", "--delay", "5"},
		{"completion", "--lose", "--syndrome", "REM_OP_ERR"},
		{"completion", "--syndrome", "0x100"},
		{"data", "--lose"},
		{"data", "--nth", "0"},
		{"memory", "--lose"},
		{"memory", "--left", "much"},
		{"clear", "now"},
	};
	const struct rule unknown_role = {.role = "guest"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(arm(&bad[i]), 2);
	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++)
		assert_int_equal(fault(nonsense[i]), 2);
	assert_int_equal(arm(&unknown_role), 1);
	assert_cleared(0, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(a_rule_fails_the_nth_command_and_those_after_it),
		counted_test(fault_of_commands_without_options_fails_the_next_one),
		counted_test(fault_without_options_lists_the_active_ones),
		counted_test(fault_that_has_ended_is_not_listed),
		counted_test(a_command_that_fails_is_not_executed),
		counted_test(a_rule_may_exclude_commands),
		counted_test(a_rule_names_commands_in_mailboxes),
		counted_test(fault_fails_the_nth_mapping),
		counted_test(firmware_status_is_in_the_output_or_an_errno),
		counted_test(device_memory_runs_out),
		counted_test(a_device_can_be_made_to_die),
		counted_test(a_rule_of_one_function_spares_the_other),
		counted_test(rules_without_sense_are_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
