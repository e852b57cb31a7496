/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The log in processes with threads, forks, cancellation and signal handlers. */
#include "unit/log_process.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

DOCA_LOG_REGISTER(TEST::LIFE);

#define THREADS	 8
#define MESSAGES 500
#define FORKS	 40

static void create_two(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend));
	CHECK_OK(doca_log_backend_create_with_file(stderr, &backend));
}

static void *chatter(void *arg)
{
	int me = *(int *)arg, source;

	for (int i = 0; i < MESSAGES; i++) {
		DOCA_LOG_INFO("<%d %d>%*s", me, i, i % 7 ? 10 : 2000, "");
		if (i % 16)
			continue;
		CHECK_OK(doca_log_level_set_global_lower_limit(i % 32 ? DOCA_LOG_LEVEL_DEBUG
								      : DOCA_LOG_LEVEL_INFO));
		CHECK_OK(doca_log_register_source("MORE", &source));
		doca_log(DOCA_LOG_LEVEL_INFO, source, NULL, 1, "f", "<more>");
		CHECK_OK(doca_log_unregister_source(source));
	}
	return NULL;
}

static void log_in_threads(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	create_two();
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK(!pthread_create(&threads[i], NULL, chatter, &numbers[i]));
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

/* Each line is whole, and those of a thread are in order. */
static void check_chatter(const char *text)
{
	int next[THREADS] = {0}, thread, number, len, more = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		const char *word = strchr(line, '<'), *end = strchr(line, '\n');

		assert_non_null(word);
		assert_non_null(end);
		assert_int_equal(line[0], '[');
		if (!strncmp(word, "<more>\n", 7)) {
			more++;
			continue;
		}
		assert_int_equal(sscanf(word, "<%d %d>%n", &thread, &number, &len), 2);
		assert_in_range(thread, 0, THREADS - 1);
		assert_int_equal(number, next[thread]++);
		assert_int_equal(end - word - len, number % 7 ? 10 : 2000);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(next[i], MESSAGES);
	assert_int_equal(more, THREADS * ((MESSAGES + 15) / 16));
}

static void lines_of_threads_are_whole_and_in_one_order(void **state)
{
	struct log_output output;

	log_process_run(&output, log_in_threads);
	check_chatter(output.out);
	assert_true(!strcmp(output.out, output.err));
	log_output_clear(&output);
}

/* --- Forks ------------------------------------------------------------------------------------ */

static atomic_bool enough;

static void *chatter_on(void *arg)
{
	while (!atomic_load(&enough))
		DOCA_LOG_INFO("parent");
	return NULL;
}

static void log_in_children(void)
{
	pthread_t thread;
	int status;
	pid_t pid;

	create_two();
	CHECK(!pthread_create(&thread, NULL, chatter_on, NULL));
	for (int i = 0; i < FORKS; i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			DOCA_LOG_INFO("child");
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && !status);
	}
	atomic_store(&enough, true);
	CHECK(!pthread_join(thread, NULL));
}

static void child_of_a_fork_can_log(void **state)
{
	struct log_output output;

	log_process_run(&output, log_in_children);
	assert_int_equal(occurrences(output.out, "] child\n"), FORKS);
	assert_int_equal(occurrences(output.err, "] child\n"), FORKS);
	log_output_clear(&output);
}

/* --- Cancellation ----------------------------------------------------------------------------- */

static atomic_int blocked;

static void *log_until_blocked(void *arg)
{
	for (;;) {
		DOCA_LOG_INFO("%4000s", "");
		atomic_fetch_add(&blocked, 1);
		pthread_testcancel();
	}
	return NULL;
}

/* A thread that blocks in write() looks like one that is about to: wait until it stands still. */
static void wait_until_blocked(void)
{
	int before;

	do {
		before = atomic_load(&blocked);
		usleep(100000);
	} while (before == 0 || before != atomic_load(&blocked));
}

static void cancel_a_writer(void)
{
	struct doca_log_backend *backend;
	char drain[65536];
	pthread_t thread;
	int ends[2];

	CHECK(!pipe(ends));
	CHECK_OK(doca_log_backend_create_with_fd(ends[1], &backend));
	CHECK(!pthread_create(&thread, NULL, log_until_blocked, NULL));
	wait_until_blocked();
	CHECK(!pthread_cancel(thread));
	CHECK(read(ends[0], drain, sizeof(drain)) > 0);
	CHECK(!pthread_join(thread, NULL));
	DOCA_LOG_INFO("it is over");
	printf("over\n");
}

static void cancelled_thread_leaves_no_lock(void **state)
{
	struct log_output output;

	log_process_run(&output, cancel_a_writer);
	assert_string_equal(output.out, "over\n");
	log_output_clear(&output);
}

/* --- Signals ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void log_signal(int number)
{
	signals++;
	DOCA_LOG_WARN("signal %d", number);
}

static void log_with_signals(void)
{
	const struct itimerval often = {.it_interval.tv_usec = 200, .it_value.tv_usec = 200};
	struct sigaction action = {.sa_handler = log_signal, .sa_flags = SA_RESTART};
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend));
	CHECK(!sigaction(SIGALRM, &action, NULL));
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	while (signals < 300)
		DOCA_LOG_INFO("going on");
	CHECK(!setitimer(ITIMER_REAL, &(const struct itimerval){0}, NULL));
	DOCA_LOG_INFO("the end");
}

static void signal_handler_that_logs_stops_nothing(void **state)
{
	struct log_output output;
	size_t lines;

	log_process_run(&output, log_with_signals);
	lines = occurrences(output.out, "\n");
	assert_int_equal(occurrences(output.out, "] going on\n") +
				 occurrences(output.out, "] signal ") +
				 occurrences(output.out, "] the end\n"),
			 lines);
	assert_int_equal(occurrences(output.out, "] the end\n"), 1);
	log_output_clear(&output);
}

/* As the handler must that interrupts malloc(). */
static void log_without_allocation(void)
{
	struct doca_log_backend *backend;
	size_t before;

	CHECK_OK(doca_log_backend_create_with_fd(STDOUT_FILENO, &backend));
	before = mallinfo2().uordblks;
	DOCA_LOG_INFO("the first message");
	CHECK(mallinfo2().uordblks == before);
}

static void first_message_allocates_nothing(void **state)
{
	struct log_output output;

	log_process_run(&output, log_without_allocation);
	assert_int_equal(occurrences(output.out, "] the first message\n"), 1);
	log_output_clear(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_threads_are_whole_and_in_one_order),
		cmocka_unit_test(child_of_a_fork_can_log),
		cmocka_unit_test(cancelled_thread_leaves_no_lock),
		cmocka_unit_test(signal_handler_that_logs_stops_nothing),
		cmocka_unit_test(first_message_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
