/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The counters of the port in sysfs, and other files there that programs ask for. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "fixture.h"
#include "rc.h"

#define DEVICE	    "/sys/class/infiniband/mlx5_0/"
#define PORT	    DEVICE "ports/1/"
#define BYTES	    4096u
#define NO_SUCH_KEY 0xdead00u

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct rc rc;

static int open_rc(void **state)
{
	if (fixture_count(state))
		return -1;
	context = fixture_open_context();
	pd = context ? ibv_alloc_pd(context) : NULL;
	return pd && rc_open_loopback(&rc, pd) ? 0 : -1;
}

static int close_rc(void **state)
{
	if (!rc_close(&rc) || ibv_dealloc_pd(pd) || ibv_close_device(context))
		return -1;
	return fixture_recount(state);
}

static bool read_file(const char *path, char *text, size_t len)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(text, (int)len, f);

	if (f)
		fclose(f);
	return got;
}

static uint64_t counter(const char *name)
{
	char path[160], text[32];

	snprintf(path, sizeof(path), PORT "%s", name);
	assert_true(read_file(path, text, sizeof(text)));
	return strtoull(text, NULL, 10);
}

/* The queue pair is connected to itself: what the port sends it also receives. */
static void write_counts_its_bytes_and_packets(void **state)
{
	uint64_t data = counter("counters/port_xmit_data");
	uint64_t packets = counter("counters/port_xmit_packets");
	uint64_t writes = counter("hw_counters/rx_write_requests");

	assert_int_equal(rc_write(&rc, rc.mr->rkey, (uintptr_t)rc.bytes + BYTES, BYTES),
			 IBV_WC_SUCCESS);
	assert_int_equal(counter("hw_counters/rx_write_requests"), writes + 1);
	assert_in_range(counter("counters/port_xmit_packets") - packets, 2, BYTES / 256 + 1);
	assert_in_range(counter("counters/port_xmit_data") - data, BYTES / 4, BYTES / 2);
	assert_int_equal(counter("counters/port_xmit_data"), counter("counters/port_rcv_data"));
	assert_int_equal(counter("counters/port_xmit_packets"),
			 counter("counters/port_rcv_packets"));
	assert_int_equal(counter("counters/multicast_xmit_packets"), 0);
}

static void requests_are_counted_by_kind(void **state)
{
	uint64_t reads = counter("hw_counters/rx_read_requests");
	uint64_t atomics = counter("hw_counters/rx_atomic_requests");
	uint64_t there = (uintptr_t)rc.bytes + BYTES;

	assert_int_equal(rc_read(&rc, rc.mr->rkey, there, 64), IBV_WC_SUCCESS);
	assert_int_equal(rc_access(&rc, IBV_WR_ATOMIC_FETCH_AND_ADD, rc.mr->rkey, there),
			 IBV_WC_SUCCESS);
	assert_int_equal(counter("hw_counters/rx_read_requests"), reads + 1);
	assert_int_equal(counter("hw_counters/rx_atomic_requests"), atomics + 1);
}

static void refused_access_is_counted_on_both_sides(void **state)
{
	uint64_t requester = counter("hw_counters/req_remote_access_errors");
	uint64_t responder = counter("hw_counters/resp_remote_access_errors");
	uint64_t errors = counter("hw_counters/req_cqe_error");

	assert_int_equal(rc_write(&rc, NO_SUCH_KEY, (uintptr_t)rc.bytes, 64),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(counter("hw_counters/req_remote_access_errors"), requester + 1);
	assert_int_equal(counter("hw_counters/resp_remote_access_errors"), responder + 1);
	assert_int_equal(counter("hw_counters/req_cqe_error"), errors + 1);
}

static uint64_t read_again(int fd)
{
	char text[32] = "";

	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return strtoull(text, NULL, 10);
}

/* As perftest -W does: it rewinds the file long before it reads again. */
static void open_file_shows_the_number_of_now(void **state)
{
	int fd = open(PORT "hw_counters/rx_write_requests", O_RDONLY | O_CLOEXEC);
	uint64_t before;

	assert_true(fd >= 0);
	before = read_again(fd);
	assert_int_equal(rc_write(&rc, rc.mr->rkey, (uintptr_t)rc.bytes + BYTES, 64),
			 IBV_WC_SUCCESS);
	assert_int_equal(read_again(fd), before + 1);
	close(fd);
}

/* The counts of an engine that has ended are kept: a child has one of its own. */
static void counts_outlive_their_process(void **state)
{
	uint64_t before = counter("hw_counters/rx_write_requests");
	pid_t pid = fork();

	if (!pid) {
		static struct rc own;
		struct ibv_context *c = fixture_open_context();
		struct ibv_pd *p = c ? ibv_alloc_pd(c) : NULL;

		_exit(!p || !rc_open_loopback(&own, p) ||
		      rc_write(&own, own.mr->rkey, (uintptr_t)own.bytes + BYTES, 64));
	}
	assert_int_equal(process_exit_code(pid), 0);
	assert_int_equal(counter("hw_counters/rx_write_requests"), before + 1);
}

static void place_and_class_are_shown(void **state)
{
	static const char *const files[] = {"device/local_cpus", "device/local_cpulist",
					    "device/current_link_width",
					    "device/current_link_speed", "tc/1/traffic_class"};
	char path[160], text[512];

	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), DEVICE "%s", files[i]);
		assert_true(read_file(path, text, sizeof(text)));
	}
	assert_true(read_file(DEVICE "device/current_link_width", text, sizeof(text)));
	assert_string_equal(text, "16\n");
	assert_true(read_file(DEVICE "device/local_cpus", text, sizeof(text)));
	assert_true(strtoull(text, NULL, 16) != 0);
}

#define rc_test(function) cmocka_unit_test_setup_teardown(function, open_rc, close_rc)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rc_test(write_counts_its_bytes_and_packets),
		rc_test(requests_are_counted_by_kind),
		rc_test(refused_access_is_counted_on_both_sides),
		rc_test(open_file_shows_the_number_of_now),
		rc_test(counts_outlive_their_process),
		counted_test(place_and_class_are_shown),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
