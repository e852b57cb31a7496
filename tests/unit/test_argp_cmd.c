/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The argument parser: commands, usage texts, --help and --version, DPDK's arguments. */
#include "argp_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_version.h>

#include "base/array.h"

#define STRING	DOCA_ARGP_TYPE_STRING
#define INT	DOCA_ARGP_TYPE_INT
#define BOOLEAN DOCA_ARGP_TYPE_BOOLEAN

static doca_error_t record_show(void *conf)
{
	assert_ptr_equal(conf, &config);
	record("show ");
	return config.answer;
}

static doca_error_t record_all(void *conf)
{
	assert_ptr_equal(conf, &config);
	record("all ");
	return DOCA_SUCCESS;
}

static doca_error_t record_validation(void *conf)
{
	record("validate ");
	return DOCA_SUCCESS;
}

/* prog [-n num] [-i num] { show [-d] { all [-s text] } | set [-n num] } */
static void add_commands(void)
{
	struct doca_argp_cmd *show = make_cmd("show"), *all = make_cmd("all");
	struct doca_argp_cmd *set = make_cmd("set");

	assert_ok(add("n", "num", INT, 0));
	assert_ok(add("i", "index", INT, INHERITED));
	doca_argp_cmd_set_callback(show, record_show);
	doca_argp_cmd_set_callback(all, record_all);
	assert_ok(add_to(show, "d", "details", BOOLEAN, 0));
	assert_ok(doca_argp_register_cmd(show));
	/* Into a command that is registered already. */
	assert_ok(doca_argp_cmd_register_cmd(show, all));
	assert_ok(add_to(all, "s", "text", STRING, MANDATORY));
	assert_ok(add_to(set, "n", "num", INT, MANDATORY));
	assert_ok(doca_argp_register_cmd(set));
}

static void commands_run_after_parameters_and_before_validation(void **state)
{
	add_commands();
	assert_ok(doca_argp_register_validation_callback(record_validation));
	assert_ok(start("-n", "1", "show", "-d", "all", "-s", "x"));
	assert_string_equal(config.recorded, "number=1 on=1 text=x show all validate ");
}

static void a_command_is_not_mandatory(void **state)
{
	add_commands();
	assert_ok(start("-n", "1"));
	assert_string_equal(config.recorded, "number=1 ");
}

static void flags_of_a_command_are_its_own(void **state)
{
	add_commands();
	assert_error(start("show", "-n", "1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("-d", "show"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("show", "all", "-d"), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(config.calls, 0);
	/* The inner -n differs from the outer one. */
	assert_ok(start("-n", "1", "set", "-n", "2"));
	assert_string_equal(config.recorded, "number=1 number=2 ");
}

static void inherited_flags_reach_all_commands_below(void **state)
{
	add_commands();
	assert_error(start("-i", "1", "show", "-i", "2"), DOCA_ERROR_INVALID_VALUE);
	assert_ok(start("show", "all", "-i", "3", "-s", "x", "-l", "50"));
	assert_string_equal(config.recorded, "number=3 text=x show all ");
}

static void unknown_commands_are_refused(void **state)
{
	add_commands();
	assert_error(start("sho"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("all"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("show", "show"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("set", "more"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
}

static void mandatory_flags_are_those_of_the_command_that_is_called(void **state)
{
	add_commands();
	assert_error(start("set"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-n", "1", "set"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("show", "all"), DOCA_ERROR_INVALID_VALUE);
	assert_ok(start("show"));
}

static void the_error_of_a_command_is_that_of_start(void **state)
{
	add_commands();
	config.answer = DOCA_ERROR_IN_USE;
	assert_error(start("show", "all", "-s", "x"), DOCA_ERROR_IN_USE);
	assert_string_equal(config.recorded, "text=x ");
	config.recorded[0] = '\0';
	assert_error(start("show"), DOCA_ERROR_IN_USE);
	assert_string_equal(config.recorded, "show ");
}

static void incomplete_command_is_refused(void **state)
{
	struct doca_argp_cmd *cmd;

	assert_ok(doca_argp_cmd_create(&cmd));
	assert_error(doca_argp_register_cmd(cmd), DOCA_ERROR_INITIALIZATION);
	assert_ok(doca_argp_cmd_create(&cmd));
	doca_argp_cmd_set_name(cmd, "show");
	assert_error(doca_argp_register_cmd(cmd), DOCA_ERROR_INITIALIZATION);
	assert_error(doca_argp_register_cmd(make_cmd("-x")), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_cmd(make_cmd("")), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_argp_register_cmd(make_cmd("show")));
	assert_error(doca_argp_register_cmd(make_cmd("show")), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_cmd(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_cmd_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_cmd_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	doca_argp_cmd_set_name(NULL, "x");
}

static void register_owns_the_command_in_all_flows(void **state)
{
	struct doca_argp_cmd *good = make_cmd("a"), *bad = make_cmd("a"), *late = make_cmd("b");
	struct doca_argp_cmd *own = make_cmd("c"), *inner = make_cmd("d");

	assert_ok(doca_argp_register_cmd(good));
	assert_error(doca_argp_register_cmd(bad), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_cmd(good), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_cmd_destroy(good), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_cmd_destroy(bad), DOCA_ERROR_BAD_STATE);
	/* An owner that does not exist owns nothing. */
	assert_error(doca_argp_cmd_register_cmd(NULL, make_cmd("x")), DOCA_ERROR_INVALID_VALUE);
	assert_error(add_to(NULL, "x", NULL, INT, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_cmd_register_cmd(good, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_cmd_register_param(good, NULL), DOCA_ERROR_INVALID_VALUE);
	doca_argp_cmd_set_name(good, "other");
	assert_ok(doca_argp_cmd_register_cmd(own, inner));
	assert_ok(add_to(inner, "x", NULL, INT, 0));
	assert_error(doca_argp_cmd_destroy(inner), DOCA_ERROR_BAD_STATE);
	assert_ok(start("a"));
	assert_error(doca_argp_cmd_register_cmd(own, make_cmd("late")), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_argp_destroy());
	assert_ok(doca_argp_cmd_destroy(own));
	assert_error(doca_argp_register_cmd(late), DOCA_ERROR_BAD_STATE);
}

static void a_command_is_not_below_itself(void **state)
{
	struct doca_argp_cmd *a = make_cmd("a"), *b = make_cmd("b"), *c = make_cmd("c");

	assert_error(doca_argp_cmd_register_cmd(a, a), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_argp_cmd_register_cmd(b, c));
	assert_error(doca_argp_cmd_register_cmd(c, b), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_cmd_destroy(b), DOCA_ERROR_BAD_STATE);
	assert_ok(start_bare());
}

static char out[8192];

static void play_help(void)
{
	struct doca_argp_param *param = make_param("p", "pci-addr", STRING, MANDATORY);

	doca_argp_param_set_arguments(param, "<PCI-ADDRESS>");
	doca_argp_param_set_description(param, "Where the device is");
	(void)doca_argp_register_param(param);
	(void)add(NULL, "secret", INT, HIDDEN);
	(void)start("-h", "--nonsense");
}

static void help_prints_and_ends(void **state)
{
	static const char *const wanted[] = {
		"Usage: prog [DOCA Flags] [Program Flags]\n",
		"\nDOCA Flags:\n",
		"  -h, --help ",
		"  -v, --version ",
		"  -l, --log-level ",
		"  --sdk-log-level ",
		"  -j, --json <path> ",
		"\nProgram Flags:\n",
		"  -p, --pci-addr <PCI-ADDRESS> ",
		" Where the device is\n",
	};

	assert_int_equal(run_apart(play_help, out, sizeof(out)), EXIT_SUCCESS);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_non_null(strstr(out, wanted[i]));
	assert_null(strstr(out, "secret"));
}

static void play_command_help(void)
{
	struct doca_argp_cmd *hidden = make_cmd("hidden");

	add_commands();
	doca_argp_cmd_set_hidden(hidden);
	(void)doca_argp_register_cmd(hidden);
	(void)doca_argp_usage();
	puts("---");
	(void)start("show", "--help");
}

static void help_of_a_command_lists_its_own_flags(void **state)
{
	char *second;

	assert_int_equal(run_apart(play_command_help, out, sizeof(out)), EXIT_SUCCESS);
	second = strstr(out, "---");
	assert_non_null(second);
	*second++ = '\0';
	assert_non_null(strstr(out, "Usage: prog [DOCA Flags] [Program Flags] [Command]\n"));
	assert_non_null(strstr(out, "\nCommands:\n  show "));
	assert_non_null(strstr(out, "\n  set "));
	assert_null(strstr(out, "hidden"));
	assert_null(strstr(out, "--details"));
	assert_non_null(strstr(second, "Usage: prog show [DOCA Flags]"));
	assert_non_null(strstr(second, "--details"));
	assert_non_null(strstr(second, "--index"));
	assert_null(strstr(second, "--num"));
	assert_non_null(strstr(second, "\nCommands:\n  all "));
}

static void play_default_version(void)
{
	(void)add("m", NULL, INT, MANDATORY);
	(void)start("--version");
}

static void version_prints_and_ends(void **state)
{
	assert_int_equal(run_apart(play_default_version, out, sizeof(out)), EXIT_SUCCESS);
	assert_non_null(strstr(out, doca_version_runtime()));
}

static doca_error_t leave_with_seven(void *param, void *conf)
{
	(void)doca_argp_destroy();
	exit(*(bool *)param ? 7 : 8);
}

static void play_version(void)
{
	(void)doca_argp_register_version_callback(leave_with_seven);
	(void)start("-v");
}

static void a_version_callback_may_destroy_and_exit(void **state)
{
	assert_int_equal(run_apart(play_version, out, sizeof(out)), 7);
}

static void the_error_of_a_version_callback_is_that_of_start(void **state)
{
	assert_ok(add("n", NULL, INT, 0));
	assert_ok(doca_argp_register_version_callback(record_on));
	config.answer = DOCA_ERROR_IO_FAILED;
	assert_error(start("-v", "-n", "1"), DOCA_ERROR_IO_FAILED);
	config.answer = DOCA_SUCCESS;
	assert_ok(start("-v", "-n", "1"));
	assert_string_equal(config.recorded, "on=1 on=1 number=1 ");
}

static doca_error_t record_dpdk(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		record("%s ", argv[i]);
	assert_null(argv[argc]);
	record("| ");
	return config.answer;
}

static void dpdk_gets_the_arguments_before_the_dashes(void **state)
{
	assert_ok(add("a", NULL, INT, 0));
	assert_ok(doca_argp_set_dpdk_program(record_dpdk));
	assert_ok(start("-a", "03:00.0", "-c0xf", "--", "-a", "1"));
	assert_string_equal(config.recorded, "/usr/bin/prog -a 03:00.0 -c0xf | number=1 ");
}

static void without_dashes_dpdk_gets_the_name(void **state)
{
	assert_ok(add("a", NULL, INT, 0));
	assert_ok(doca_argp_set_dpdk_program(record_dpdk));
	assert_error(start("-c", "0xf"), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(config.calls, 0);
	assert_ok(start("-a", "1"));
	assert_string_equal(config.recorded, "/usr/bin/prog | number=1 ");
}

static void the_error_of_the_dpdk_callback_is_that_of_start(void **state)
{
	assert_ok(doca_argp_set_dpdk_program(record_dpdk));
	config.answer = DOCA_ERROR_DRIVER;
	assert_error(start("--"), DOCA_ERROR_DRIVER);
}

static void play_dpdk_usage(void)
{
	(void)doca_argp_set_dpdk_program(record_dpdk);
	(void)start("--help");
}

static void the_usage_of_a_dpdk_program_begins_with_its_flags(void **state)
{
	assert_int_equal(run_apart(play_dpdk_usage, out, sizeof(out)), EXIT_SUCCESS);
	assert_non_null(strstr(out, "Usage: prog [DPDK Flags] -- [DOCA Flags] [Program Flags]\n"));
}

static void play_nameless(void)
{
	(void)doca_argp_destroy();
	(void)doca_argp_init(NULL, NULL);
	(void)start("--help");
}

static void a_program_without_a_name_has_that_of_its_start(void **state)
{
	assert_int_equal(run_apart(play_nameless, out, sizeof(out)), EXIT_SUCCESS);
	assert_non_null(strstr(out, "Usage: prog ["));
}

#define rigged(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		rigged(commands_run_after_parameters_and_before_validation),
		rigged(a_command_is_not_mandatory),
		rigged(flags_of_a_command_are_its_own),
		rigged(inherited_flags_reach_all_commands_below),
		rigged(unknown_commands_are_refused),
		rigged(mandatory_flags_are_those_of_the_command_that_is_called),
		rigged(the_error_of_a_command_is_that_of_start),
		rigged(incomplete_command_is_refused),
		rigged(register_owns_the_command_in_all_flows),
		rigged(a_command_is_not_below_itself),
		rigged(help_prints_and_ends),
		rigged(help_of_a_command_lists_its_own_flags),
		rigged(version_prints_and_ends),
		rigged(a_version_callback_may_destroy_and_exit),
		rigged(the_error_of_a_version_callback_is_that_of_start),
		rigged(dpdk_gets_the_arguments_before_the_dashes),
		rigged(without_dashes_dpdk_gets_the_name),
		rigged(the_error_of_the_dpdk_callback_is_that_of_start),
		rigged(the_usage_of_a_dpdk_program_begins_with_its_flags),
		rigged(a_program_without_a_name_has_that_of_its_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
