/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Loggers: levels of log sources, by name. */
#include "unit/log_process.h"

#include <string.h>

/* Two sources have the name "A". */
static struct {
	int a, a_too, ab, abc, other;
} source;

static void register_all(void)
{
	CHECK_OK(doca_log_register_source("A", &source.a));
	CHECK_OK(doca_log_register_source("A::B", &source.ab));
	CHECK_OK(doca_log_register_source("A", &source.a_too));
	CHECK_OK(doca_log_register_source("A::B::C", &source.abc));
	CHECK_OK(doca_log_register_source("AB", &source.other));
}

static struct doca_logger **list_all(void)
{
	struct doca_logger **list;
	uint32_t n;

	CHECK_OK(doca_logger_create_list(NULL, 0, &list, &n));
	return list;
}

static void run_silently(void (*experiment)(void))
{
	struct log_output output;

	log_process_run(&output, experiment);
	assert_string_equal(output.err, "");
	log_output_clear(&output);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* The names of the list, each followed by a space. */
static void check_names(const struct doca_logger *parent, uint8_t depth, const char *wanted)
{
	char name[DOCA_LOGGER_NAME_SIZE], all[256] = "";
	struct doca_logger **list;
	uint32_t n = 77;
	int len = 0;

	CHECK_OK(doca_logger_create_list(parent, depth, &list, &n));
	for (uint32_t i = 0; i < n; i++) {
		CHECK_OK(doca_logger_get_name(list[i], name));
		len += snprintf(all + len, sizeof(all) - (size_t)len, "%s ", name);
	}
	CHECK(!list[n]);
	CHECK(!strcmp(all, wanted));
	CHECK_OK(doca_logger_destroy_list(list));
}

static void list_names(void)
{
	struct doca_logger **list;

	check_names(NULL, 0, "");
	register_all();
	list = list_all();
	check_names(NULL, 0, "A A::B A::B::C AB ");
	check_names(NULL, 1, "A AB ");
	check_names(NULL, 2, "A A::B AB ");
	check_names(NULL, 255, "A A::B A::B::C AB ");
	check_names(doca_logger_find_by_name(list, "A"), 0, "A::B A::B::C ");
	check_names(doca_logger_find_by_name(list, "A"), 1, "A::B ");
	check_names(doca_logger_find_by_name(list, "A::B"), 1, "A::B::C ");
	check_names(doca_logger_find_by_name(list, "AB"), 0, "");
	CHECK_OK(doca_log_unregister_source(source.a));
	CHECK_OK(doca_log_unregister_source(source.ab));
	check_names(NULL, 0, "A A::B::C AB ");
	CHECK_OK(doca_logger_destroy_list(list));
}

static void list_has_each_name_once(void **state)
{
	run_silently(list_names);
}

static void find_names(void)
{
	struct doca_logger **list;

	register_all();
	list = list_all();
	CHECK(doca_logger_find_by_name(list, "A") == list[0]);
	CHECK(doca_logger_find_by_name(list, "AB") == list[3]);
	CHECK(!doca_logger_find_by_name(list, "B"));
	CHECK(!doca_logger_find_by_name(list, ""));
	CHECK(!doca_logger_find_by_name(list, NULL));
	CHECK(!doca_logger_find_by_name(NULL, "A"));
	CHECK_OK(doca_logger_destroy_list(list));
}

static void logger_is_found_by_its_whole_name(void **state)
{
	run_silently(find_names);
}

static void get_long_name(void)
{
	char longest[DOCA_LOGGER_NAME_SIZE + 10], name[DOCA_LOGGER_NAME_SIZE];
	struct doca_logger **list;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CHECK_OK(doca_log_register_source(longest, &source.a));
	list = list_all();
	CHECK(doca_logger_find_by_name(list, longest) == list[0]);
	CHECK_OK(doca_logger_get_name(list[0], name));
	CHECK(strlen(name) == sizeof(name) - 1 && !strncmp(name, longest, sizeof(name) - 1));
	CHECK_OK(doca_logger_set_level(list[0], DOCA_LOG_LEVEL_ERROR, 0));
	CHECK_OK(doca_logger_destroy_list(list));
}

static void long_name_is_cut(void **state)
{
	run_silently(get_long_name);
}

/* --- levels ----------------------------------------------------------------------------------- */

static int level_of(struct doca_logger **list, const char *name)
{
	int level = 0;

	CHECK_OK(doca_logger_get_level(doca_logger_find_by_name(list, name), &level));
	return level;
}

static void log_from_each(uint32_t level)
{
	doca_log(level, source.a, NULL, 1, "f", "message");
	doca_log(level, source.a_too, NULL, 2, "f", "message");
	doca_log(level, source.ab, NULL, 3, "f", "message");
	doca_log(level, source.abc, NULL, 4, "f", "message");
	doca_log(level, source.other, NULL, 5, "f", "message");
}

static void set_one_level(void)
{
	struct doca_logger **list;

	register_all();
	list = list_all();
	log_to_stdout();
	CHECK(level_of(list, "A") == DOCA_LOG_LEVEL_TRACE);
	CHECK_OK(doca_logger_set_level(doca_logger_find_by_name(list, "A"), DOCA_LOG_LEVEL_ERROR,
				       0));
	CHECK(level_of(list, "A") == DOCA_LOG_LEVEL_ERROR);
	CHECK(level_of(list, "A::B") == DOCA_LOG_LEVEL_TRACE);
	CHECK_OK(doca_logger_destroy_list(list));
	log_from_each(DOCA_LOG_LEVEL_INFO);
	log_from_each(DOCA_LOG_LEVEL_ERROR);
}

static void level_restricts_all_sources_of_the_name(void **state)
{
	struct log_output output;

	log_process_run(&output, set_one_level);
	assert_lines(output.out, 8);
	assert_int_equal(occurrences(output.out, "[INF]"), 3);
	assert_int_equal(occurrences(output.out, "[INF][A:1]"), 0);
	assert_int_equal(occurrences(output.out, "[INF][A:2]"), 0);
	assert_int_equal(occurrences(output.out, "[ERR]"), 5);
	log_output_clear(&output);
}

static void set_levels_below(void)
{
	struct doca_logger **list;

	register_all();
	list = list_all();
	log_to_stdout();
	CHECK_OK(doca_logger_set_level(doca_logger_find_by_name(list, "A"), DOCA_LOG_LEVEL_DISABLE,
				       1));
	CHECK(level_of(list, "A::B::C") == DOCA_LOG_LEVEL_DISABLE);
	CHECK(level_of(list, "AB") == DOCA_LOG_LEVEL_TRACE);
	log_from_each(DOCA_LOG_LEVEL_CRIT);
	CHECK_OK(doca_logger_set_level(doca_logger_find_by_name(list, "A::B"), DOCA_LOG_LEVEL_DEBUG,
				       0));
	/* The backend shows levels up to INFO. */
	log_from_each(DOCA_LOG_LEVEL_INFO);
	log_from_each(DOCA_LOG_LEVEL_DEBUG);
	CHECK_OK(doca_logger_destroy_list(list));
}

static void level_propagates_to_names_below(void **state)
{
	struct log_output output;

	log_process_run(&output, set_levels_below);
	assert_lines(output.out, 3);
	assert_int_equal(occurrences(output.out, "[CRT][AB:"), 1);
	assert_int_equal(occurrences(output.out, "[INF][AB:"), 1);
	assert_int_equal(occurrences(output.out, "[INF][A::B:"), 1);
	log_output_clear(&output);
}

static void register_again(void)
{
	struct doca_logger **list;
	int level = 77;

	register_all();
	list = list_all();
	CHECK_OK(doca_logger_set_level(list[3], DOCA_LOG_LEVEL_CRIT, 0));
	CHECK_OK(doca_log_unregister_source(source.other));
	CHECK(doca_logger_set_level(list[3], DOCA_LOG_LEVEL_INFO, 1) == DOCA_ERROR_NOT_FOUND);
	CHECK(doca_logger_get_level(list[3], &level) == DOCA_ERROR_NOT_FOUND && level == 77);
	CHECK_OK(doca_log_register_source("AB", &source.other));
	CHECK(level_of(list, "AB") == DOCA_LOG_LEVEL_TRACE);
	CHECK_OK(doca_logger_destroy_list(list));
}

static void logger_of_an_unregistered_source_is_not_found(void **state)
{
	struct log_output output;

	log_process_run(&output, register_again);
	assert_lines(output.err, 2);
	assert_int_equal(occurrences(output.err, "\"AB\""), 2);
	log_output_clear(&output);
}

/* --- invalid arguments ------------------------------------------------------------------------ */

static void call_badly(void)
{
	struct doca_logger **list = NULL, **all;
	char name[DOCA_LOGGER_NAME_SIZE];
	uint32_t n = 77;
	int level = 77;

	register_all();
	all = list_all();
	CHECK_INVALID(doca_logger_create_list(NULL, 0, NULL, &n));
	CHECK_INVALID(doca_logger_create_list(NULL, 0, &list, NULL));
	CHECK(!list && n == 77);
	CHECK_INVALID(doca_logger_destroy_list(NULL));
	CHECK_INVALID(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_INFO, 0));
	CHECK_INVALID(doca_logger_set_level(all[0], 55, 0));
	CHECK_INVALID(doca_logger_set_level(all[0], -10, 0));
	CHECK_INVALID(doca_logger_set_level(all[0], 80, 0));
	CHECK_INVALID(doca_logger_get_level(NULL, &level));
	CHECK_INVALID(doca_logger_get_level(all[0], NULL));
	CHECK_INVALID(doca_logger_get_name(NULL, name));
	CHECK_INVALID(doca_logger_get_name(all[0], NULL));
	CHECK(level == 77 && level_of(all, "A") == DOCA_LOG_LEVEL_TRACE);
	CHECK_OK(doca_logger_destroy_list(all));
}

static void bad_arguments_are_refused(void **state)
{
	struct log_output output;

	log_process_run(&output, call_badly);
	assert_lines(output.err, 11);
	assert_int_equal(occurrences(output.err, ": DOCA_ERROR_INVALID_VALUE\n"), 11);
	log_output_clear(&output);
}

static void number_of_backends_has_no_limit(void **state)
{
	assert_int_equal(doca_log_get_max_num_backends(), UINT32_MAX);
	assert_int_equal(doca_log_get_max_num_backends_sdk(), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_has_each_name_once),
		cmocka_unit_test(logger_is_found_by_its_whole_name),
		cmocka_unit_test(long_name_is_cut),
		cmocka_unit_test(level_restricts_all_sources_of_the_name),
		cmocka_unit_test(level_propagates_to_names_below),
		cmocka_unit_test(logger_of_an_unregistered_source_is_not_found),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(number_of_backends_has_no_limit),
	};

	unsetenv("DPUMAP_LOG_LEVEL");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
