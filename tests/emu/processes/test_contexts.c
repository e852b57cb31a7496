/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Many contexts and many threads in one process: no descriptor outlives its context, only the limit
 * of descriptors limits contexts, and the commands of threads do not wait for each other.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "emulator.h"
#include "fixture.h"
#include "rc.h"

#define MANY	300 /* contexts */
#define THREADS 4
#define ROUNDS	15
#define WAIT_MS 30000

static unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static bool use(struct ibv_context *context)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);

	return pd && !ibv_dealloc_pd(pd);
}

static bool open_use_and_close(void)
{
	struct ibv_context *context = fixture_open_context();
	bool used = context && use(context);

	return context && !ibv_close_device(context) && used;
}

/* --- descriptors ------------------------------------------------------------------------------ */

static void close_leaves_no_descriptor(void **state)
{
	unsigned int before;

	assert_true(open_use_and_close()); /* what libraries open once */
	before = count_fds();
	assert_true(open_use_and_close());
	assert_int_equal(count_fds(), before);
}

static bool is_named(int fd, const char *name)
{
	char path[32], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, name);
}

/* As on Linux; those of the preloaded library are in the upper sixteenth of 1024. */
static void program_sees_the_kernels_files_and_high_helpers(void **state)
{
	const unsigned int before = count_fds();
	struct ibv_context *context = fixture_open_context();
	int cm = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	char device[96];

	assert_true(context && use(context) && cm >= 0);
	snprintf(device, sizeof(device), "/dev/infiniband/%s", context->device->dev_name);
	assert_true(is_named(context->cmd_fd, device));
	assert_true(is_named(context->async_fd, "anon_inode:[infinibandevent]"));
	assert_true(is_named(cm, "/dev/infiniband/rdma_cm"));
	assert_int_equal(count_fds(), before + 3 + 2);
	assert_int_equal(fcntl(960, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(961, F_GETFD), FD_CLOEXEC);
	assert_int_equal(close(cm), 0);
	assert_int_equal(count_fds(), before + 2 + 1); /* those of the device */
	assert_int_equal(ibv_close_device(context), 0);
	assert_int_equal(count_fds(), before);
}

static void use_engine(void)
{
	struct ibv_context *context = fixture_open_context();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	static struct rc rc;

	assert_true(rc_open_loopback(&rc, pd));
	assert_int_equal(rc_read(&rc, rc.mr->rkey, (uintptr_t)rc.bytes + 64, 64), IBV_WC_SUCCESS);
	assert_true(rc_close(&rc));
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(context), 0);
}

/* The engine lives until the process ends. */
static void engine_has_no_descriptor_of_the_program(void **state)
{
	unsigned int before = count_fds();

	use_engine();
	assert_int_equal(count_fds(), before);
}

/* The file lives on, so the process's regions do too. */
static void close_of_a_duplicate_keeps_regions(void **state)
{
	struct ibv_context *context = fixture_open_context();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	static struct rc rc;
	int fd = dup(context->cmd_fd);

	assert_true(rc_open_loopback(&rc, pd));
	assert_int_equal(close(fd), 0);
	assert_int_equal(rc_read(&rc, rc.mr->rkey, (uintptr_t)rc.bytes + 64, 64), IBV_WC_SUCCESS);
	assert_true(use(context));
	assert_true(rc_close(&rc));
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(context), 0);
}

/* Descriptors may also end unseen: the next file may get the inode number of the last one. */
static void file_replaced_by_dup2_is_forgotten(void **state)
{
	unsigned int before = count_fds(), i;

	for (i = 0; i < 50; i++) {
		struct ibv_context *context = fixture_open_context();
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (!context || null < 0) {
			fail_msg("no context or no descriptor");
			return;
		}
		assert_true(use(context));
		assert_true(dup2(null, context->cmd_fd) >= 0);
		close(null);
		assert_false(use(context));
		ibv_close_device(context);
		assert_true(open_use_and_close());
	}
	assert_true(count_fds() < before + 30); /* some wait for a later look */
}

/* Open contexts until it fails, or until there are `max`. */
static unsigned int open_contexts(struct ibv_context **contexts, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && (contexts[n] = fixture_open_context()) && use(contexts[n]))
		n++;
	if (n < max && contexts[n])
		ibv_close_device(contexts[n]);
	return n;
}

static void close_contexts(struct ibv_context **contexts, unsigned int n)
{
	while (n)
		assert_int_equal(ibv_close_device(contexts[--n]), 0);
}

static void limit_descriptors(rlim_t most)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void process_has_more_than_256_contexts(void **state)
{
	static struct ibv_context *contexts[MANY];
	unsigned int before = count_fds(), n, i;

	limit_descriptors(16384);
	n = open_contexts(contexts, MANY);
	assert_int_equal(n, MANY);
	for (i = 0; i < n; i++)
		assert_true(use(contexts[i]));
	close_contexts(contexts, n);
	assert_int_equal(count_fds(), before);
}

static void context_without_a_free_descriptor_is_refused(void **state)
{
	static struct ibv_context *contexts[MANY];
	unsigned int before = count_fds(), n;

	limit_descriptors(before + 20);
	n = open_contexts(contexts, MANY);
	assert_in_range(n, 1, 20);
	assert_true(use(contexts[0]));
	close_contexts(contexts, n);
	limit_descriptors(16384);
	assert_int_equal(count_fds(), before);
	assert_true(open_use_and_close());
}

/* --- threads ---------------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	struct ibv_context *context;
	bool ok;
	atomic_bool done;
};

static void *use_once(void *arg)
{
	struct worker *w = arg;

	w->ok = use(w->context);
	atomic_store(&w->done, true);
	return NULL;
}

static pid_t the_server(void)
{
	return emulator_server_of(getenv("DPUMAP_EMU_DIR"));
}

/* Stop the server until the pipe is closed: by the test, or by its end. */
static int stop_server(pid_t *guard)
{
	pid_t server = the_server(), pid;
	int pipe_fd[2], stopped[2];
	char c = 0;

	if (server <= 0 || pipe(pipe_fd) || pipe(stopped)) {
		fail_msg("no server or no pipes");
		return -1;
	}
	pid = fork();
	if (!pid) {
		close(pipe_fd[1]);
		if (!kill(server, SIGSTOP) && write(stopped[1], &c, 1) == 1)
			_exit(read(pipe_fd[0], &c, 1) != 0 || kill(server, SIGCONT));
		_exit(1);
	}
	assert_true(pid > 0);
	*guard = pid;
	assert_int_equal(read(stopped[0], &c, 1), 1);
	close(pipe_fd[0]);
	close(stopped[0]);
	close(stopped[1]);
	return pipe_fd[1];
}

/* The guard holds the context too. */
static bool resume_server(int stopped, pid_t guard)
{
	close(stopped);
	return process_exit_code(guard) == 0;
}

static void start(struct worker *w, void *(*run)(void *arg), struct ibv_context *context)
{
	w->context = context;
	atomic_store(&w->done, false);
	assert_int_equal(pthread_create(&w->thread, NULL, run, w), 0);
}

/* A request that begins has two descriptors for a moment: look for the number that stays. */
static bool wait_for_fds(unsigned int n)
{
	uint64_t end = monotonic_ms() + WAIT_MS;
	bool equal;

	while (!(equal = count_fds() == n) && monotonic_ms() < end)
		usleep(1000);
	return equal;
}

/* While the server is stopped, each thread has a request of its own underway, by a descriptor each. */
static void commands_of_threads_wait_side_by_side(void **state)
{
	struct ibv_context *context = fixture_open_context();
	struct worker workers[THREADS] = {{0}};
	unsigned int before;
	bool together;
	pid_t guard = -1;
	int stopped;

	assert_true(context && use(context));
	before = count_fds();
	stopped = stop_server(&guard);
	for (unsigned int i = 0; i < THREADS; i++)
		start(&workers[i], use_once, context);
	together = wait_for_fds(before + 1 + THREADS - 1); /* with the guard's pipe */
	assert_true(resume_server(stopped, guard));
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_true(workers[i].ok);
	}
	assert_true(together);
	assert_int_equal(count_fds(), before);
	assert_int_equal(ibv_close_device(context), 0);
}

/* Wait for it to write to standard error. */
static void read_errors_of(struct worker *w, struct ibv_context *context, char *text, size_t len)
{
	const int before = dup(STDERR_FILENO);
	int pipe_fd[2];
	ssize_t n;

	assert_int_equal(pipe(pipe_fd), 0);
	assert_true(before >= 0 && dup2(pipe_fd[1], STDERR_FILENO) >= 0);
	start(w, use_once, context);
	n = read(pipe_fd[0], text, len - 1);
	text[n > 0 ? n : 0] = '\0';
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static void command_that_waits_names_both_processes(void **state)
{
	struct ibv_context *context = fixture_open_context();
	struct worker worker = {0};
	char said[256], expected[128];
	pid_t guard = -1;
	int stopped;

	snprintf(expected, sizeof(expected), "process %d waits for the emulator, process %d,",
		 (int)getpid(), (int)the_server());
	assert_true(context && use(context));
	stopped = stop_server(&guard);
	read_errors_of(&worker, context, said, sizeof(said));
	assert_true(resume_server(stopped, guard));
	pthread_join(worker.thread, NULL);
	assert_true(worker.ok);
	assert_non_null(strstr(said, expected));
	assert_int_equal(ibv_close_device(context), 0);
}

static unsigned int parents_fds;

/* The child has none of the parent's channels: not the idle one, and not the ones in use. */
static void *fork_once(void *arg)
{
	struct worker *w = arg;
	pid_t pid = fork();

	if (!pid)
		_exit(count_fds() != parents_fds - 1);
	w->ok = process_exit_code(pid) == 0;
	atomic_store(&w->done, true);
	return NULL;
}

static void fork_does_not_wait_for_commands(void **state)
{
	struct ibv_context *context = fixture_open_context();
	struct worker user[2] = {{0}}, forker = {0};
	uint64_t end = monotonic_ms() + WAIT_MS;
	bool underway, forked;
	pid_t guard = -1;
	int stopped;

	assert_true(context && use(context));
	stopped = stop_server(&guard);
	parents_fds = count_fds();
	start(&user[0], use_once, context);
	start(&user[1], use_once, context);
	underway = wait_for_fds(parents_fds + 1);
	start(&forker, fork_once, context);
	while (!atomic_load(&forker.done) && monotonic_ms() < end)
		usleep(1000);
	forked = atomic_load(&forker.done);
	assert_true(resume_server(stopped, guard));
	pthread_join(forker.thread, NULL);
	pthread_join(user[0].thread, NULL);
	pthread_join(user[1].thread, NULL);
	assert_true(underway && forked && forker.ok && user[0].ok && user[1].ok);
	assert_int_equal(ibv_close_device(context), 0);
}

/* A shared context, and contexts of their own. */
static void *work(void *arg)
{
	struct worker *w = arg;

	w->ok = true;
	for (unsigned int i = 0; i < ROUNDS && w->ok; i++)
		w->ok = use(w->context) && open_use_and_close();
	return NULL;
}

static void *fork_often(void *arg)
{
	struct worker *w = arg;

	w->ok = true;
	for (unsigned int i = 0; i < ROUNDS && w->ok; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		w->ok = process_exit_code(pid) == 0;
	}
	return NULL;
}

static void threads_open_use_close_and_fork(void **state)
{
	bool used = open_use_and_close();
	unsigned int before = count_fds(), i;
	struct ibv_context *context = fixture_open_context();
	struct worker workers[2 * THREADS + 1] = {{0}};

	assert_true(used && context);
	for (i = 0; i < 2 * THREADS; i++)
		start(&workers[i], work, context);
	start(&workers[i], fork_often, context);
	for (i = 0; i <= 2 * THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_true(workers[i].ok);
	}
	assert_int_equal(ibv_close_device(context), 0);
	/* A child may have been the last user of a closed context; this notices it. */
	assert_true(open_use_and_close());
	assert_int_equal(count_fds(), before);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(close_leaves_no_descriptor),
		counted_test(program_sees_the_kernels_files_and_high_helpers),
		counted_test(engine_has_no_descriptor_of_the_program),
		counted_test(close_of_a_duplicate_keeps_regions),
		counted_test(process_has_more_than_256_contexts),
		counted_test(context_without_a_free_descriptor_is_refused),
		counted_test(commands_of_threads_wait_side_by_side),
		counted_test(command_that_waits_names_both_processes),
		counted_test(fork_does_not_wait_for_commands),
		counted_test(threads_open_use_close_and_fork),
		/* The last one: it leaves channels that are closed later. */
		counted_test(file_replaced_by_dup2_is_forgotten),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
