/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The processors of the emulated device's threads in a program that has bound its own threads. */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "fixture.h"

#define CPUS_ENV "DPUMAP_EMU_CPUS"

static cpu_set_t machine, first; /* all processors that there are, and the first of them */

static bool find_processors(void)
{
	int cpu = 0;

	memset(&machine, 0xff, sizeof(machine));
	if (sched_setaffinity(0, sizeof(machine), &machine) ||
	    sched_getaffinity(0, sizeof(machine), &machine))
		return false;
	while (!CPU_ISSET(cpu, &machine))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	return true;
}

/* The emulator's threads have names of their own. */
static bool is_of_emulator(const char *tid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", tid);
	file = fopen(path, "re");
	if (file) {
		(void)!fgets(name, sizeof(name), file);
		fclose(file);
	}
	return !strncmp(name, "emu-", 4);
}

static bool threads_have(const cpu_set_t *wanted)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	unsigned int found = 0;
	bool right = true;
	cpu_set_t has;

	while (tasks && (task = readdir(tasks))) {
		if (*task->d_name == '.' || !is_of_emulator(task->d_name))
			continue;
		found++;
		right &= !sched_getaffinity(atoi(task->d_name), sizeof(has), &has) &&
			 CPU_EQUAL(&has, wanted);
	}
	if (tasks)
		closedir(tasks);
	return found && right;
}

/* A program that binds itself to a processor and opens the device; with a list for the emulator's threads. */
static int open_bound(bool with_list)
{
	struct ibv_context *context;
	struct ibv_cq *cq; /* the first queue starts the threads */
	char list[16];
	cpu_set_t own;
	bool right;
	int cpu = 0;

	if (!find_processors())
		return 2;
	while (!CPU_ISSET(cpu, &first))
		cpu++;
	snprintf(list, sizeof(list), "%d", cpu);
	if ((with_list && setenv(CPUS_ENV, list, 1)) || sched_setaffinity(0, sizeof(first), &first))
		return 3;
	context = fixture_open_context();
	cq = context ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	if (!cq)
		return 4;
	right = threads_have(with_list ? &first : &machine) &&
		!sched_getaffinity(0, sizeof(own), &own) && CPU_EQUAL(&own, &first);
	return ibv_destroy_cq(cq) || ibv_close_device(context) || !right;
}

static int run_in_child(bool with_list)
{
	pid_t pid = fork();

	if (!pid)
		_exit(open_bound(with_list));
	return process_exit_code(pid);
}

static void threads_do_not_inherit_the_processor_of_the_program(void **state)
{
	assert_int_equal(run_in_child(false), 0);
}

static void threads_take_the_processors_of_the_list(void **state)
{
	assert_int_equal(run_in_child(true), 0);
}

/* Run `true' by the tool with this list. */
static int run_with(const char *list)
{
	const char *const argv[] = {test_options.emu, "run", "--as", "dpu",
				    "--cpus",	      list,  "true", NULL};

	return process_run(argv);
}

static void list_that_is_not_valid_is_refused(void **state)
{
	static const char *const bad[] = {"", "x", "1-", "3-1", "0,", ",0", "0-", "9999", "8191"};

	assert_int_equal(run_with("0-8191"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(run_with(bad[i]), 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_do_not_inherit_the_processor_of_the_program),
		cmocka_unit_test(threads_take_the_processors_of_the_list),
		cmocka_unit_test(list_that_is_not_valid_is_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
