/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that a program unmapped during a long copy, and the program's own fault handlers: the
 * emulated engine lives in the process of the program, and must not interfere.
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

static struct fixture_buf from, to;

static volatile sig_atomic_t num_faults;
static void *volatile fault_addr;
static sigjmp_buf back;

static void on_fault(int number, siginfo_t *info, void *context)
{
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

/* An inaccessible page. */
static uint8_t *forbidden;

static void touch_forbidden(void)
{
	if (!sigsetjmp(back, 1))
		*(volatile uint8_t *)forbidden = 1;
}

static int open_all(void **state)
{
	return fixture_setup(state) || !fixture_open_bufs(LEN, &from, &to) ? -1 : 0;
}

static int close_all(void **state)
{
	return !fixture_close_bufs(&from, &to) || fixture_teardown(state) ? -1 : 0;
}

static doca_error_t copy_all(void)
{
	return fixture_copy(&fixture,
			    &(struct fixture_copy){to.mmap, to.bytes, from.mmap, from.bytes, LEN});
}

static void expect_good_copy(void)
{
	memset(to.bytes, 0, LEN);
	assert_ok(copy_all());
	assert_memory_equal(to.bytes, from.bytes, LEN);
}

/* A copy fails while one buffer has a hole, and succeeds once the hole is filled. */
static void expect_hole_to_fail(struct fixture_buf *buf)
{
	uint8_t *page = (uint8_t *)(((uintptr_t)buf->bytes + LEN / 2) & ~(PAGE - 1));
	doca_error_t result;

	assert_int_equal(mprotect(page, PAGE, PROT_NONE), 0);
	result = copy_all();
	assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
	assert_string_not_equal(doca_error_get_name(result), "DOCA_SUCCESS");
	assert_ok(dpumap_dma_reset(fixture.dma));
}

static void a_hole_in_the_destination_fails_the_copy(void **state)
{
	expect_hole_to_fail(&to);
	expect_good_copy();
}

static void a_hole_in_the_source_fails_the_copy(void **state)
{
	expect_hole_to_fail(&from);
	expect_good_copy();
}

/* A handler that is installed later receives the signals alone; copies go on. */
static void a_handler_that_is_installed_later_gets_only_its_own_faults(void **state)
{
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
	pid_t pid;

	setenv(CHILD, what, 1);
	pid = process_spawn((const char *const *)arguments, NULL, NULL);
	unsetenv(CHILD);
	assert_true(pid > 0);
	return process_reap(pid);
}

/* This handler was installed first, and is called for the program's own faults only. */
static void a_handler_that_was_installed_before_gets_only_its_own_faults(void **state)
{
	assert_int_equal(run_child("handle"), 0);
}

/*
 * The first copy after a pause may be made by another thread than those after it: each thread of the
 * engine gets the signals.
 */
static void a_hole_after_a_pause_fails_the_copy(void **state)
{
	for (int i = 0; i < 20; i++)
		assert_int_equal(run_child("pause"), 0);
}

/* Without a handler the program dies of its own fault, or of a signal sent to it. */
static void fault_of_the_program_without_handler_kills_it(void **state)
{
	int status;

	if (__asan_init)
		skip(); /* AddressSanitizer turns the signal into an abort */
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

static int be_paused(void)
{
	usleep(30000);
	expect_good_copy();
	expect_hole_to_fail(&to);
	return 0;
}

/* After a copy, so that the engine has installed its handlers. */
static int be_child(const char *what)
{
	void *state = NULL;

	if (strcmp(what, "handle") == 0)
		handle_faults();
	if (open_all(&state))
		return 1;
	if (strcmp(what, "pause") == 0)
		return be_paused();
	if (copy_all() != DOCA_SUCCESS)
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

#define signals_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		signals_test(a_hole_in_the_destination_fails_the_copy),
		signals_test(a_hole_in_the_source_fails_the_copy),
		signals_test(a_handler_that_is_installed_later_gets_only_its_own_faults),
		cmocka_unit_test(a_handler_that_was_installed_before_gets_only_its_own_faults),
		cmocka_unit_test(a_hole_after_a_pause_fails_the_copy),
		cmocka_unit_test(fault_of_the_program_without_handler_kills_it),
	};
	const char *child = getenv(CHILD);

	arguments = argv;
	test_parse_options(argc, argv);
	forbidden = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (forbidden == MAP_FAILED)
		return 1;
	return child ? be_child(child) : cmocka_run_group_tests(tests, NULL, NULL);
}
