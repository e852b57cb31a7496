/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumap_emu_count() of dpumap-emu.h reads the text of `dpumap-emu status`: it finds each number there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <json-c/json.h>

#include <dpumap-emu.h>

#include "base/array.h"
#include "fixture.h"

#define BYTES 64u

/* The numbers that programs may ask for. */
static const char *const numbers[] = {
	"nodes",	 "cards",    "functions", "clients",	    "contexts",	   "pds",
	"mrs",		 "mws",	     "mkeys",	  "aliases",	    "dms",	   "umems",
	"cqs",		 "qps",	     "srqs",	  "xrcds",	    "ahs",	   "dmahs",
	"uars",		 "dm_bytes", "cm_ids",	  "cm_connections", "attachments", "channels",
	"flow_counters", "commands", "copies",	  "command_errors", "bytes",	   "errors",
	"deks",
};

static struct json_object *read_status(void)
{
	const char *const argv[] = {test_options.emu, "status", "--json", NULL};
	struct json_object *status;
	int from;
	pid_t pid = process_spawn(argv, NULL, &from);

	assert_true(pid > 0);
	status = json_object_from_fd(from);
	close(from);
	assert_int_equal(process_exit_code(pid), 0);
	assert_non_null(status);
	return status;
}

static bool is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(numbers[i], name))
			return true;
	return false;
}

/* The number of a member; that of a list is its length. Returns whether it has one. */
static bool number_of(struct json_object *member, int64_t *number)
{
	*number = json_object_is_type(member, json_type_array)
			  ? (int64_t)json_object_array_length(member)
			  : json_object_get_int64(member);
	return json_object_is_type(member, json_type_array) ||
	       json_object_is_type(member, json_type_int);
}

static size_t compare(struct json_object *object)
{
	int64_t number;
	size_t compared = 0;

	json_object_object_foreach(object, name, member)
	{
		if (!number_of(member, &number))
			continue;
		if (json_object_is_type(member, json_type_int) && !is_known(name))
			fail_msg("%s is not in the list of this test", name);
		if (!is_known(name))
			continue;
		if (dpumap_emu_count(name) != number)
			fail_msg("%s: %lld instead of %lld", name, dpumap_emu_count(name),
				 (long long)number);
		compared++;
	}
	return compared;
}

static void each_number_of_the_status_is_found(void **state)
{
	struct json_object *status = read_status();

	(void)state;
	assert_int_equal(compare(status) + compare(json_object_object_get(status, "objects")),
			 ARRAY_SIZE(numbers) - 2);
	/* Sums in the text only. */
	assert_int_equal(dpumap_emu_count("cm_ids"), 0);
	assert_int_equal(dpumap_emu_count("cm_connections"), 0);
	json_object_put(status);
}

static void name_without_a_number_is_not_found(void **state)
{
	(void)state;
	assert_int_equal(dpumap_emu_count("frobs"), -1);
	assert_int_equal(dpumap_emu_count(""), -1);
}

/* What was counted before an object is created, and the difference that it makes. */
static struct change {
	const char *name;
	long long by, before;
} changes[] = {{"contexts", 1, 0}, {"mrs", 1, 0}, {"dm_bytes", BYTES, 0}};

static void assert_changes(bool created)
{
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		assert_int_equal(dpumap_emu_count(changes[i].name),
				 changes[i].before + (created ? changes[i].by : 0));
}

static void live_objects_are_counted(void **state)
{
	struct ibv_alloc_dm_attr attr = {.length = BYTES};
	static uint8_t memory[BYTES];
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_dm *dm;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		changes[i].before = dpumap_emu_count(changes[i].name);
	context = fixture_open_context();
	assert_non_null(context);
	pd = ibv_alloc_pd(context);
	assert_non_null(pd);
	mr = ibv_reg_mr(pd, memory, BYTES, 0);
	dm = ibv_alloc_dm(context, &attr);
	assert_true(mr && dm);
	assert_changes(true);
	assert_int_equal(ibv_free_dm(dm), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(context), 0);
	assert_changes(false);
}

static void refuse_no_descriptor(struct ibv_pd *pd, uint64_t iova)
{
	assert_null(ibv_reg_dmabuf_mr(pd, 0, 4096, iova, -1, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(errno, EBADF);
}

/* UCX asks for dma-bufs so; with an address it is a mistake. */
static void error_that_answers_a_question_is_not_counted(void **state)
{
	struct ibv_context *context = fixture_open_context();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	long long before = dpumap_emu_count("command_errors");

	(void)state;
	refuse_no_descriptor(pd, 0);
	assert_int_equal(dpumap_emu_count("command_errors"), before);
	refuse_no_descriptor(pd, 4096);
	assert_int_equal(dpumap_emu_count("command_errors"), before + 1);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(context), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(each_number_of_the_status_is_found),
		counted_test(name_without_a_number_is_not_found),
		counted_test(live_objects_are_counted),
		counted_test(error_that_answers_a_question_is_not_counted),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
