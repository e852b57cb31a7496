/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that a program took away under a long copy, and the handlers of the program's own faults:
 * the emulated engine lives in its process, and must not be noticed there.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#define LEN   ((size_t)1 << 20)
#define PAGE  ((size_t)4096)
#define CHILD "DPUMAP_TEST_SIGNALS_CHILD"

static struct rig rig;
static struct rig_buf from, to;

static volatile sig_atomic_t num_faults;
static void *volatile fault_addr;
static sigjmp_buf back;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	num_faults++;
	fault_addr = info->si_addr;
	siglongjmp(back, 1);
}

static void handle_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* A page that may not be touched. */
static uint8_t *forbidden;

static void touch_forbidden(void)
{
	if (!sigsetjmp(back, 1))
		*(volatile uint8_t *)forbidden = 1;
}

static int open_rig(void **state)
{
	if (fixture_count(state) || rig_open(&rig) != DOCA_SUCCESS ||
	    rig_buf_create(&rig, LEN, LOCAL_RW, &from) != DOCA_SUCCESS ||
	    rig_buf_create(&rig, LEN, LOCAL_RW, &to) != DOCA_SUCCESS)
		return -1;
	rig_fill(from.bytes, LEN, 1);
	return 0;
}

static int close_rig(void **state)
{
	if (rig_buf_destroy(&from) != DOCA_SUCCESS || rig_buf_destroy(&to) != DOCA_SUCCESS ||
	    rig_close(&rig) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

static doca_error_t copy_all(void)
{
	return rig_copy(&rig, &(struct rig_copy){to.mmap, to.bytes, from.mmap, from.bytes, LEN});
}

static void expect_good_copy(void)
{
	memset(to.bytes, 0, LEN);
	assert_ok(copy_all());
	assert_memory_equal(to.bytes, from.bytes, LEN);
}

/* A failed copy with a hole in one of the buffers, and a good one when it is closed again. */
static void expect_hole_to_fail(struct rig_buf *buf)
{
	uint8_t *page = (uint8_t *)(((uintptr_t)buf->bytes + LEN / 2) & ~(PAGE - 1));
	doca_error_t result;

	assert_int_equal(mprotect(page, PAGE, PROT_NONE), 0);
	result = copy_all();
	assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
	assert_string_not_equal(doca_error_get_name(result), "DOCA_SUCCESS");
	assert_ok(dpumap_dma_reset(rig.dma));
}

static void test_hole_in_the_destination(void **state)
{
	(void)state;
	expect_hole_to_fail(&to);
	expect_good_copy();
}

static void test_hole_in_the_source(void **state)
{
	(void)state;
	expect_hole_to_fail(&from);
	expect_good_copy();
}

/* A handler that comes later has the signals for itself; copies go on without. */
static void test_handler_of_after(void **state)
{
	(void)state;
	num_faults = 0;
	expect_good_copy();
	handle_faults();
	expect_good_copy();
	expect_hole_to_fail(&to);
	expect_hole_to_fail(&from);
	assert_int_equal(num_faults, 0);
	touch_forbidden();
	assert_int_equal(num_faults, 1);
}

static char **arguments;

void __asan_init(void) __attribute__((weak));

/* In a process of its own: CMocka handles these signals as well. */
static int run_child(const char *what)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		setenv(CHILD, what, 1);
		execv(arguments[0], arguments);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* It was there first, and hears of the program's own faults and of nothing else. */
static void test_handler_of_before(void **state)
{
	(void)state;
	assert_int_equal(run_child("handle"), 0);
}

/* Nobody handles it: the program dies of its fault as ever, by itself or of a signal sent to it. */
static void test_no_handler(void **state)
{
	int status;

	(void)state;
	if (__asan_init)
		skip(); /* it makes an abort of them */
	status = run_child("touch");
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	status = run_child("raise");
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

static int be_handler(void)
{
	expect_good_copy();
	expect_hole_to_fail(&to);
	if (num_faults)
		return 3;
	touch_forbidden();
	if (num_faults != 1 || fault_addr != forbidden)
		return 4;
	expect_good_copy();
	return 0;
}

/* With a copy done, so that whatever the engine installs is there. */
static int be_child(const char *what)
{
	void *state = NULL;

	if (strcmp(what, "handle") == 0)
		handle_faults();
	if (open_rig(&state) || copy_all() != DOCA_SUCCESS)
		return 1;
	if (strcmp(what, "handle") == 0)
		return be_handler();
	if (strcmp(what, "touch") == 0)
		*(volatile uint8_t *)forbidden = 1;
	else
		kill(getpid(), SIGBUS);
	sleep(1);
	return 2;
}

#define rig_test(function) cmocka_unit_test_setup_teardown(function, open_rig, close_rig)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rig_test(test_hole_in_the_destination), rig_test(test_hole_in_the_source),
		rig_test(test_handler_of_after),	cmocka_unit_test(test_handler_of_before),
		cmocka_unit_test(test_no_handler),
	};
	const char *child = getenv(CHILD);

	arguments = argv;
	rig_parse(argc, argv);
	forbidden = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (forbidden == MAP_FAILED)
		return 1;
	return child ? be_child(child) : cmocka_run_group_tests(tests, NULL, NULL);
}
