/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The argument parser: flags in a JSON file. */
#include "argp_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STRING	       DOCA_ARGP_TYPE_STRING
#define INT	       DOCA_ARGP_TYPE_INT
#define BOOLEAN	       DOCA_ARGP_TYPE_BOOLEAN
#define DOUBLE	       DOCA_ARGP_TYPE_DOUBLE
#define JSON	       DOCA_ARGP_TYPE_JSON_OBJ

#define PROGRAM(flags) "{\"doca_program_flags\": {" flags "}}"
#define DPDK(flags)    "{\"doca_dpdk_flags\": {" flags "}}"

static void add_some(void)
{
	assert_ok(add("s", "text", STRING, 0));
	assert_ok(add("n", "num", INT, 0));
	assert_ok(add("b", "both", BOOLEAN, 0));
	assert_ok(add(NULL, "rules", JSON, 0));
	assert_ok(add("m", NULL, INT, MULTIPLICITY));
	assert_ok(add("c", "cli", INT, CLI_ONLY));
	assert_ok(add("r", "real", DOUBLE, MULTIPLICITY));
}

static void values_of_each_type_are_read(void **state)
{
	add_some();
	assert_ok(start_json(PROGRAM("\"num\": -5, \"text\": \"a\\u00e9\", \"both\": false,"
				     "\"rules\": {\"x\": [1, null]}")));
	assert_string_equal(config.recorded,
			    "number=-5 text=a\xc3\xa9 on=0 json={\"x\":[1,null]} ");
}

static void doubles_are_numbers_with_or_without_a_fraction(void **state)
{
	add_some();
	assert_ok(start_json(PROGRAM("\"real\": [0.5, -3, 1e3, 9007199254740992, 1e20]")));
	assert_string_equal(config.recorded, "real=0.5 real=-3 real=1000 real=9007199254740992 "
					     "real=1e+20 ");
}

static void an_array_is_for_flags_with_multiplicity(void **state)
{
	add_some();
	assert_error(start_json(PROGRAM("\"num\": [1, 2]")), DOCA_ERROR_INVALID_VALUE);
	assert_error(start_json(PROGRAM("\"m\": [1, \"2\"]")), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	assert_ok(start_json(PROGRAM("\"m\": [1, 2], \"rules\": [3]")));
	assert_string_equal(config.recorded, "number=1 number=2 json=[3] ");
}

static void values_of_the_wrong_type_are_refused(void **state)
{
	static const char *const wrong[] = {
		PROGRAM("\"num\": \"5\""),
		PROGRAM("\"num\": 5.0"),
		PROGRAM("\"num\": null"),
		PROGRAM("\"num\": true"),
		PROGRAM("\"real\": \"0.5\""),
		PROGRAM("\"real\": true"),
		PROGRAM("\"real\": null"),
		PROGRAM("\"real\": 1e999"),
		PROGRAM("\"real\": NaN"),
		PROGRAM("\"real\": -Infinity"),
		PROGRAM("\"real\": 9007199254740993"),
		PROGRAM("\"real\": -99999999999999999999"),
		PROGRAM("\"text\": 5"),
		PROGRAM("\"text\": null"),
		PROGRAM("\"text\": [\"a\"]"),
		PROGRAM("\"both\": 1"),
		PROGRAM("\"both\": \"true\""),
		PROGRAM("\"rules\": \"x\""),
		PROGRAM("\"rules\": null"),
		PROGRAM("\"num\": 2147483648"),
		PROGRAM("\"num\": -2147483649"),
		PROGRAM("\"num\": 99999999999999999999"),
		PROGRAM("\"text\": \"a\\u0000b\""),
		"{\"doca_program_flags\": []}",
		"{\"doca_general_flags\": 5}",
		"{\"doca_general_flags\": {\"log-level\": \"60\"}}",
		"{\"doca_general_flags\": {\"log-level\": 65}}",
		"[]",
		"5",
		"null",
	};

	add_some();
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_error(start_json(wrong[i]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
}

static void file_that_is_not_json_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		" ",
		"{",
		"{]",
		"{\"a\"}",
		PROGRAM("\"num\": 5") "x",
		PROGRAM("\"num\": 5") PROGRAM(""),
		"{\"doca_program_flags\": {\"text\": \"\xff\"}}",
	};
	char deep[1000];

	add_some();
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_error(start_json(wrong[i]), DOCA_ERROR_IO_FAILED);
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_error(start_json(deep), DOCA_ERROR_IO_FAILED);
	assert_error(start("-j", write_file("{}\0{}", 5)), DOCA_ERROR_IO_FAILED);
	assert_error(start("-j", write_file("{\0}", 3)), DOCA_ERROR_IO_FAILED);
	assert_error(start("-j", write_file("{}\0", 3)), DOCA_ERROR_IO_FAILED);
	assert_int_equal(config.calls, 0);
}

static void files_that_cannot_be_read_are_an_error(void **state)
{
	assert_error(start("-j", "/nonexistent/file"), DOCA_ERROR_IO_FAILED);
	assert_error(start("-j", ""), DOCA_ERROR_IO_FAILED);
	assert_error(start("-j", "/"), DOCA_ERROR_IO_FAILED);
	/* A file without an end. */
	assert_error(start("-j", "/dev/zero"), DOCA_ERROR_IO_FAILED);
}

static void comments_and_spaces_are_ignored(void **state)
{
	add_some();
	assert_ok(start_json("// flags\n{ /* of */ \"doca_program_flags\": {\n// the program\n"
			     "\"num\": 5 } }\r\n\t \n"));
	assert_string_equal(config.recorded, "number=5 ");
}

static void unknown_names_are_not_supported(void **state)
{
	add_some();
	assert_error(start_json(PROGRAM("\"nothing\": 5")), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start_json(PROGRAM("\"n\": 5")), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start_json(PROGRAM("\"log-level\": 50")), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start_json("{\"doca_general_flags\": {\"help\": true}}"),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start_json("{\"flags\": {}}"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start_json(DPDK("\"flags\": \"-x\"")), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(start_json("{}"));
}

static void unknown_names_can_be_ignored(void **state)
{
	add_some();
	assert_ok(doca_argp_disable_pedantic_config_parsing());
	assert_error(start_json(PROGRAM("\"nothing\": 5, \"num\": \"5\"")),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(start_json(PROGRAM("\"cli\": 5")), DOCA_ERROR_INVALID_VALUE);
	assert_error(start_json("{"), DOCA_ERROR_IO_FAILED);
	assert_error(start("--nothing", "5"), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(config.calls, 0);
	assert_ok(start_json("{\"other\": 5, \"doca_general_flags\": {\"help\": true},"
			     " \"doca_dpdk_flags\": {\"devices\": 5},"
			     " \"doca_program_flags\": {\"nothing\": [], \"num\": 5}}"));
	assert_string_equal(config.recorded, "number=5 ");
}

static void flags_of_the_command_line_only_are_refused_in_a_file(void **state)
{
	add_some();
	assert_error(start_json(PROGRAM("\"cli\": 5")), DOCA_ERROR_INVALID_VALUE);
	assert_ok(start("-c", "5"));
}

static void json_flags_are_refused_on_the_command_line(void **state)
{
	add_some();
	assert_error(start("--rules", "{}"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("--rules={}"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-j", "a", "-j", "b"), DOCA_ERROR_INVALID_VALUE);
}

static void the_command_line_wins(void **state)
{
	add_some();
	assert_ok(start("-n", "1", "-m", "2", "-j",
			write_text(PROGRAM("\"num\": 9, \"text\": \"file\", \"m\": [7, 8]"))));
	assert_string_equal(config.recorded, "text=file number=1 number=2 ");
}

static void mandatory_flags_may_be_in_the_file(void **state)
{
	assert_ok(add("n", "num", INT, MANDATORY));
	assert_error(start_json("{}"), DOCA_ERROR_INVALID_VALUE);
	assert_ok(start_json(PROGRAM("\"num\": 5")));
}

static void singular_flags_stand_alone_in_the_file_too(void **state)
{
	add_some();
	assert_ok(add(NULL, "list", BOOLEAN, SINGULAR));
	assert_error(start_json(PROGRAM("\"list\": true, \"num\": 5")), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("--list", "-j", write_text(PROGRAM("\"num\": 5"))),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(start_json(PROGRAM("\"list\": true")));
}

static void log_levels_of_the_file_are_applied(void **state)
{
	int level;

	assert_ok(start(
		"-l", "30", "-j",
		write_text("{\"doca_general_flags\":{\"log-level\":70,\"sdk-log-level\":60}}")));
	assert_ok(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_ERROR);
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_ERROR);
	assert_int_equal(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_DEBUG);
	assert_ok(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO));
	assert_ok(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_INFO));
}

static void file_sets_flags_of_the_command_and_of_those_above(void **state)
{
	struct doca_argp_cmd *cmd = make_cmd("set"), *other = make_cmd("get");
	const char *path = write_text(PROGRAM("\"num\": 1, \"text\": \"x\""));

	assert_ok(add("n", "num", INT, 0));
	assert_ok(add_to(cmd, "s", "text", STRING, 0));
	assert_ok(doca_argp_register_cmd(cmd));
	assert_ok(doca_argp_register_cmd(other));
	assert_error(start("get", "-j", path), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(start("-j", path, "set"));
	assert_string_equal(config.recorded, "number=1 text=x ");
}

static doca_error_t record_dpdk(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		record("%s ", argv[i]);
	assert_null(argv[argc]);
	return DOCA_SUCCESS;
}

static void flags_of_dpdk_become_its_arguments(void **state)
{
	assert_ok(doca_argp_set_dpdk_program(record_dpdk));
	assert_ok(start_json(DPDK("\"devices\": [{\"device\": \"pf\", \"id\": \"03:00.0\"},"
				  "{\"device\": \"sf\", \"id\": \"4\", \"hws\": true}],"
				  "\"core-mask\": \"0xff\", \"flags\": \" --a  -b 1 \"")));
	assert_string_equal(config.recorded, "-a 03:00.0 -a auxiliary:mlx5_core.sf.4,dv_flow_en=2 "
					     "-c 0xff --a -b 1 ");
}

static void unknown_flags_of_dpdk_can_be_ignored(void **state)
{
	assert_ok(doca_argp_set_dpdk_program(record_dpdk));
	assert_ok(doca_argp_disable_pedantic_config_parsing());
	assert_error(start_json(DPDK("\"core-mask\": 15")), DOCA_ERROR_INVALID_VALUE);
	assert_ok(start_json(DPDK("\"cores\": \"1\", \"core-mask\": \"0xff\"")));
	assert_string_equal(config.recorded, "-c 0xff ");
}

static void wrong_flags_of_dpdk_are_refused(void **state)
{
	static const struct {
		const char *text;
		doca_error_t answer;
	} wrong[] = {
		{DPDK("\"devices\": {}"), DOCA_ERROR_INVALID_VALUE},
		{DPDK("\"devices\": [\"pf\"]"), DOCA_ERROR_INVALID_VALUE},
		{DPDK("\"devices\": [{\"device\": \"pf\"}]"), DOCA_ERROR_INVALID_VALUE},
		{DPDK("\"devices\": [{\"id\": \"1\"}]"), DOCA_ERROR_INVALID_VALUE},
		{DPDK("\"devices\": [{\"id\": 1}]"), DOCA_ERROR_INVALID_VALUE},
		{DPDK("\"devices\": [{\"device\": \"xf\", \"id\": \"1\"}]"),
		 DOCA_ERROR_INVALID_VALUE},
		{DPDK("\"devices\": [{\"colour\": 1}]"), DOCA_ERROR_NOT_SUPPORTED},
		{DPDK("\"core-mask\": 15"), DOCA_ERROR_INVALID_VALUE},
		{DPDK("\"cores\": \"1\""), DOCA_ERROR_NOT_SUPPORTED},
	};

	assert_ok(doca_argp_set_dpdk_program(record_dpdk));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_error(start_json(wrong[i].text), wrong[i].answer);
	assert_int_equal(config.calls, 0);
}

#define rigged(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		rigged(values_of_each_type_are_read),
		rigged(doubles_are_numbers_with_or_without_a_fraction),
		rigged(an_array_is_for_flags_with_multiplicity),
		rigged(values_of_the_wrong_type_are_refused),
		rigged(file_that_is_not_json_is_refused),
		rigged(files_that_cannot_be_read_are_an_error),
		rigged(comments_and_spaces_are_ignored),
		rigged(unknown_names_are_not_supported),
		rigged(unknown_names_can_be_ignored),
		rigged(flags_of_the_command_line_only_are_refused_in_a_file),
		rigged(json_flags_are_refused_on_the_command_line),
		rigged(the_command_line_wins),
		rigged(mandatory_flags_may_be_in_the_file),
		rigged(singular_flags_stand_alone_in_the_file_too),
		rigged(log_levels_of_the_file_are_applied),
		rigged(file_sets_flags_of_the_command_and_of_those_above),
		rigged(flags_of_dpdk_become_its_arguments),
		rigged(unknown_flags_of_dpdk_can_be_ignored),
		rigged(wrong_flags_of_dpdk_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
