/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The argument parser: its life, parameters, flags and values. */
#include "argp_fixture.h"

#include <string.h>

#include "base/array.h"

#define STRING	DOCA_ARGP_TYPE_STRING
#define INT	DOCA_ARGP_TYPE_INT
#define BOOLEAN DOCA_ARGP_TYPE_BOOLEAN
#define DOUBLE	DOCA_ARGP_TYPE_DOUBLE
#define DEVICE	DOCA_ARGP_TYPE_DEVICE
#define REP	DOCA_ARGP_TYPE_DEVICE_REP

static doca_error_t refuse_open(struct doca_devinfo *devinfo, void *ctx, struct doca_dev **dev)
{
	return DOCA_ERROR_UNEXPECTED;
}

static void nothing_works_before_init(void **state)
{
	struct doca_argp_param *param = NULL;
	struct doca_argp_cmd *cmd = NULL;
	char *argv[] = {(char *)"prog", NULL};

	assert_error(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_start(1, argv), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_usage(), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_param_create(&param), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_cmd_create(&cmd), DOCA_ERROR_BAD_STATE);
	assert_null(param);
	assert_null(cmd);
	assert_error(doca_argp_register_version_callback(record_on), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_register_logger_callback(record_number), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_register_dev_open_callback(refuse_open, NULL), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_disable_pedantic_config_parsing(), DOCA_ERROR_BAD_STATE);
}

static void init_twice_is_refused(void **state)
{
	assert_error(doca_argp_init("again", &config), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_argp_destroy());
	assert_error(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_init("", &config), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_argp_init(NULL, NULL));
	assert_ok(start_bare());
}

static void null_is_refused(void **state)
{
	assert_error(doca_argp_param_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_param_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_param(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_version_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_validation_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_logger_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_set_dpdk_program(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_register_dev_open_callback(NULL, &config), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_get_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_get_sdk_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	doca_argp_param_set_short_name(NULL, "n");
	doca_argp_param_set_mandatory(NULL);
}

static void start_wants_the_arguments_of_main(void **state)
{
	char *argv[] = {(char *)"prog", NULL};

	assert_error(doca_argp_start(0, argv), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_start(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_start(2, argv), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_argp_start(1, argv));
}

static void start_succeeds_once_but_may_follow_an_error(void **state)
{
	assert_ok(add("n", "num", INT, MANDATORY));
	assert_error(start("-n", "1", "-x"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start_bare(), DOCA_ERROR_INVALID_VALUE);
	assert_ok(start("-n", "2"));
	assert_string_equal(config.recorded, "number=2 ");
	assert_error(start("-n", "3"), DOCA_ERROR_BAD_STATE);
	assert_error(add("m", NULL, INT, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_register_version_callback(record_on), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_register_dev_open_callback(refuse_open, NULL), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_disable_pedantic_config_parsing(), DOCA_ERROR_BAD_STATE);
}

static void short_names_may_have_several_letters(void **state)
{
	assert_ok(add("p", "pci-addr", STRING, 0));
	assert_ok(add("pa", NULL, STRING, 0));
	assert_ok(add("gid", "gid-index", INT, 0));
	assert_ok(add("eightlet", NULL, BOOLEAN, 0));
	assert_ok(start("-gid", "3", "-p", "03:00.0", "-eightlet", "-pa", "x"));
	assert_string_equal(config.recorded, "number=3 text=03:00.0 on=1 text=x ");
}

static void names_are_neither_abbreviated_nor_mixed(void **state)
{
	assert_ok(add("ns", "num-sends", INT, 0));
	assert_error(start("-n", "1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("--num", "1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("-num-sends", "1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("--ns", "1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("-ns1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("---num-sends", "1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(start("--", "-ns", "1"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	assert_ok(start("--num-sends", "1"));
}

static void a_value_may_follow_an_equals_sign(void **state)
{
	assert_ok(add("s", "text", STRING, MULTIPLICITY));
	assert_ok(start("--text=a=b", "-s=c", "--text=", "-s", "", "--text=-s"));
	assert_string_equal(config.recorded, "text=a=b text=c text= text= text=-s ");
}

static void a_value_that_is_missing_is_refused(void **state)
{
	assert_ok(add("s", "text", STRING, 0));
	assert_ok(add("n", "num", INT, 0));
	assert_error(start("-s"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-s", "-n", "1"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-s", "--num=1"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("--text", "--log-level", "10"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-s", "--"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("--json"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	/* Not a flag of the program, so it is a value. */
	assert_ok(start("-s", "-", "-n", "-5"));
	assert_string_equal(config.recorded, "text=- number=-5 ");
}

static void integers_are_decimal_or_hexadecimal(void **state)
{
	static const struct {
		const char *text;
		int64_t number;
	} good[] = {
		{"0", 0},
		{"010", 10},
		{"+5", 5},
		{"-5", -5},
		{"0x1f", 31},
		{"-0X10", -16},
		{"2147483647", INT32_MAX},
		{"-2147483648", INT32_MIN},
	};
	static const char *const bad[] = {
		"",
		"-",
		"+",
		"x",
		"5x",
		"5 ",
		" 5",
		"0x",
		"0x5g",
		"1e3",
		"--5",
		"+-5",
		"5.0",
		"2147483648",
		"-2147483649",
		"99999999999999999999",
		"0x100000000",
		"\xff",
	};

	assert_ok(add("n", "num", INT, MULTIPLICITY));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_error(start("-n", bad[i]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		int number = 0;

		assert_ok(start("-n", good[i].text));
		assert_int_equal(sscanf(config.recorded, "number=%d", &number), 1);
		assert_int_equal(number, good[i].number);
		assert_int_equal(argp_teardown(NULL), 0);
		assert_int_equal(argp_setup(NULL), 0);
		assert_ok(add("n", "num", INT, MULTIPLICITY));
	}
}

static void doubles_are_decimal_and_finite(void **state)
{
	static const struct {
		const char *text;
		double number;
	} good[] = {
		{"0", 0},
		{"-0.5", -0.5},
		{"+.25", 0.25},
		{"3.", 3},
		{"1e3", 1000},
		{"1E-2", 0.01},
		{"010", 10},
		{"1e-999", 0},
		{"0.1", 0.1},
		{"-7e+1", -70},
		{"1.7976931348623157e308", 1.7976931348623157e308},
	};
	static const char *const bad[] = {
		"",	"-",   "+",	".",	  "e5",	      "x",     "5x",  "5 ",
		" 5",	"0x1", "0x1p3", "1e",	  "1,5",      "1.2.3", "--5", "inf",
		"-INF", "nan", "1e999", "-1e999", "infinity", "\xff",
	};

	assert_ok(add("r", "real", DOUBLE, MULTIPLICITY));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_error(start("-r", bad[i]), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		double number = -1;

		assert_ok(start("-r", good[i].text));
		assert_int_equal(sscanf(config.recorded, "real=%lf", &number), 1);
		assert_true(number == good[i].number);
		assert_int_equal(argp_teardown(NULL), 0);
		assert_int_equal(argp_setup(NULL), 0);
		assert_ok(add("r", "real", DOUBLE, MULTIPLICITY));
	}
}

/* No device has such a name, whatever devices this machine has. */
static void device_that_does_not_exist_is_not_found(void **state)
{
	assert_ok(add("n", "num", INT, 0));
	assert_ok(add("d", "dev", DEVICE, MULTIPLICITY));
	assert_ok(add("r", "rep", REP, 0));
	assert_error(start("-n", "1", "-d", "nothing_0"), DOCA_ERROR_NOT_FOUND);
	assert_error(start("-n", "1", "-d", "nothing_0,args"), DOCA_ERROR_NOT_FOUND);
	assert_error(start("-r", "nothing_0,pf0"), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(config.calls, 0);
}

static void device_without_a_name_is_refused(void **state)
{
	char long_name[DOCA_DEVINFO_IFACE_NAME_SIZE + 1];

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_ok(add("d", "dev", DEVICE, 0));
	assert_ok(add("r", "rep", REP, 0));
	assert_error(start("-d", ""), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-d", ",args"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-d", long_name), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-r", ","), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
}

static void a_boolean_takes_no_value(void **state)
{
	assert_ok(add("b", "both", BOOLEAN, 0));
	assert_error(start("--both=true"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-b", "true"), DOCA_ERROR_INVALID_VALUE);
	assert_ok(start("-b"));
	assert_string_equal(config.recorded, "on=1 ");
}

static void stray_arguments_are_refused(void **state)
{
	assert_ok(add("b", "both", BOOLEAN, 0));
	assert_error(start("word"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-b", "word"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start(""), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("--="), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(start("-b", "--"));
}

static void callbacks_are_called_in_the_order_of_the_line(void **state)
{
	assert_ok(add("s", NULL, STRING, 0));
	assert_ok(add("n", NULL, INT, MULTIPLICITY));
	assert_ok(add("b", NULL, BOOLEAN, 0));
	assert_ok(start("-n", "1", "-b", "-s", "x", "-n", "2"));
	assert_string_equal(config.recorded, "number=1 on=1 text=x number=2 ");
}

static char *seen_text;

static doca_error_t keep_text(void *param, void *conf)
{
	seen_text = param;
	return DOCA_SUCCESS;
}

static void a_text_is_the_argument_itself(void **state)
{
	struct doca_argp_param *param = make_param("s", NULL, STRING, 0);
	char text[] = "abc";
	char *argv[] = {(char *)"prog", (char *)"-s", text, NULL};

	doca_argp_param_set_callback(param, keep_text);
	assert_ok(doca_argp_register_param(param));
	assert_ok(doca_argp_start(3, argv));
	assert_ptr_equal(seen_text, text);
}

static void flag_without_multiplicity_is_given_once(void **state)
{
	assert_ok(add("n", "num", INT, 0));
	assert_error(start("-n", "1", "--num", "2"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-l", "50", "--log-level", "50"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
}

static void mandatory_parameters_are_required(void **state)
{
	assert_ok(add("n", "num", INT, MANDATORY));
	assert_ok(add("m", NULL, INT, MANDATORY | MULTIPLICITY));
	assert_error(start_bare(), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-n", "1"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	assert_ok(start("-n", "1", "-m", "2", "-m", "3"));
	assert_string_equal(config.recorded, "number=1 number=2 number=3 ");
}

static void singular_stands_alone(void **state)
{
	assert_ok(add("n", "num", INT, MANDATORY));
	assert_ok(add(NULL, "list", BOOLEAN, SINGULAR));
	assert_error(start("--list", "-n", "1"), DOCA_ERROR_INVALID_VALUE);
	assert_error(start("-n", "1", "--list"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	assert_ok(start("--list", "-l", "50"));
	assert_string_equal(config.recorded, "on=1 ");
}

static void the_error_of_a_callback_ends_start(void **state)
{
	assert_ok(add("n", "num", INT, MULTIPLICITY));
	config.answer = DOCA_ERROR_TOO_BIG;
	assert_error(start("-n", "1", "-n", "2"), DOCA_ERROR_TOO_BIG);
	assert_string_equal(config.recorded, "number=1 ");
}

static void no_callback_runs_for_an_invalid_command_line(void **state)
{
	assert_ok(add("n", "num", INT, MULTIPLICITY));
	assert_error(start("-n", "1", "-l", "20", "-n", "x"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
}

static void incomplete_parameter_is_refused(void **state)
{
	struct doca_argp_param *param;

	assert_error(add(NULL, NULL, INT, 0), DOCA_ERROR_INITIALIZATION);
	param = make_param("n", NULL, INT, 0);
	doca_argp_param_set_callback(param, NULL);
	assert_error(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	param = make_param("n", NULL, INT, 0);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_UNKNOWN);
	assert_error(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	param = make_param("n", NULL, INT, 0);
	doca_argp_param_set_description(param, NULL);
	assert_error(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	/* The refused parameters have not registered their names. */
	assert_ok(add("n", NULL, INT, 0));
}

static void invalid_names_are_refused(void **state)
{
	static const char *const names[] = {"", "-n", "a=b", "a b", "a\tb", "a\nb", "a\x01"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_error(add(names[i], NULL, INT, 0), DOCA_ERROR_INVALID_VALUE);
		assert_error(add("n", names[i], INT, 0), DOCA_ERROR_INVALID_VALUE);
	}
}

static void names_that_are_taken_are_refused(void **state)
{
	static const char *const shorts[] = {"h", "v", "l", "j"};
	static const char *const longs[] = {"help", "version", "log-level", "sdk-log-level",
					    "json"};

	assert_ok(add("n", "num", INT, 0));
	assert_error(add("n", NULL, INT, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(add("m", "num", INT, 0), DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < ARRAY_SIZE(shorts); i++)
		assert_error(add(shorts[i], NULL, INT, 0), DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < ARRAY_SIZE(longs); i++)
		assert_error(add(NULL, longs[i], INT, 0), DOCA_ERROR_INVALID_VALUE);
	/* A short name is not a long name. */
	assert_ok(add("num", "n", INT, 0));
}

static void invalid_types_are_refused(void **state)
{
	struct doca_argp_param *param = make_param("n", NULL, INT, 0);

	doca_argp_param_set_type(param, (enum doca_argp_type)77);
	assert_error(doca_argp_register_param(param), DOCA_ERROR_INVALID_VALUE);
	param = make_param("n", NULL, INT, 0);
	doca_argp_param_set_type(param, (enum doca_argp_type)(DOUBLE + 1));
	assert_error(doca_argp_register_param(param), DOCA_ERROR_INVALID_VALUE);
	assert_error(add("n", NULL, DOCA_ARGP_TYPE_JSON_OBJ, CLI_ONLY), DOCA_ERROR_INVALID_VALUE);
}

static void register_owns_the_parameter_in_all_flows(void **state)
{
	struct doca_argp_param *good = make_param("n", NULL, INT, 0);
	struct doca_argp_param *bad = make_param("n", NULL, INT, 0);
	struct doca_argp_param *late = make_param("m", NULL, INT, 0);

	assert_ok(doca_argp_register_param(good));
	assert_error(doca_argp_register_param(bad), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_argp_param_destroy(good), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_param_destroy(bad), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_register_param(good), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_register_param(bad), DOCA_ERROR_BAD_STATE);
	assert_ok(start("-n", "1"));
	assert_string_equal(config.recorded, "number=1 ");
	assert_ok(doca_argp_destroy());
	/* Consumed as well; the leak checker looks. */
	assert_error(doca_argp_register_param(late), DOCA_ERROR_BAD_STATE);
}

static void a_parameter_that_was_not_registered_can_be_destroyed(void **state)
{
	struct doca_argp_param *param = make_param("n", "num", INT, 0);
	struct doca_argp_param *other = make_param("m", NULL, INT, 0);

	assert_ok(doca_argp_param_destroy(param));
	assert_ok(doca_argp_destroy());
	assert_ok(doca_argp_param_destroy(other));
}

static void setters_leave_a_registered_parameter_alone(void **state)
{
	struct doca_argp_param *param = make_param("n", NULL, INT, 0);

	assert_ok(doca_argp_register_param(param));
	doca_argp_param_set_short_name(param, "m");
	doca_argp_param_set_mandatory(param);
	doca_argp_param_set_type(param, STRING);
	assert_error(start("-m", "1"), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(start_bare());
}

static doca_error_t record_validation(void *conf)
{
	assert_ptr_equal(conf, &config);
	record("validate ");
	return config.answer;
}

static void the_validation_callback_comes_last(void **state)
{
	assert_ok(add("n", NULL, INT, 0));
	assert_ok(doca_argp_register_validation_callback(record_validation));
	assert_ok(start("-n", "1"));
	assert_string_equal(config.recorded, "number=1 validate ");
}

static void the_error_of_the_validation_callback_is_that_of_start(void **state)
{
	assert_ok(doca_argp_register_validation_callback(record_validation));
	config.answer = DOCA_ERROR_BAD_CONFIG;
	assert_error(start_bare(), DOCA_ERROR_BAD_CONFIG);
}

static doca_error_t destroy_and_return(void *param, void *conf)
{
	record("destroy ");
	assert_ok(doca_argp_destroy());
	assert_error(doca_argp_usage(), DOCA_ERROR_BAD_STATE);
	return config.answer;
}

static void a_callback_may_destroy_the_parser(void **state)
{
	struct doca_argp_param *param = make_param("d", NULL, BOOLEAN, 0);

	doca_argp_param_set_callback(param, destroy_and_return);
	assert_ok(doca_argp_register_param(param));
	assert_ok(add("n", NULL, INT, MULTIPLICITY));
	assert_error(start("-n", "1", "-d", "-n", "2"), DOCA_ERROR_BAD_STATE);
	assert_string_equal(config.recorded, "number=1 destroy ");
	assert_error(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
}

static void the_version_callback_may_destroy_the_parser(void **state)
{
	assert_ok(doca_argp_register_version_callback(destroy_and_return));
	assert_error(start("-v"), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
}

static doca_error_t restart(void *param, void *conf)
{
	assert_error(start_bare(), DOCA_ERROR_BAD_STATE);
	assert_error(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	assert_error(add("x", NULL, INT, 0), DOCA_ERROR_BAD_STATE);
	return DOCA_SUCCESS;
}

static void a_callback_cannot_start_or_register(void **state)
{
	struct doca_argp_param *param = make_param("r", NULL, BOOLEAN, 0);
	char *argv[] = {(char *)"prog", (char *)"-r", NULL};

	doca_argp_param_set_callback(param, restart);
	assert_ok(doca_argp_register_param(param));
	assert_ok(doca_argp_start(2, argv));
}

static void log_level_flags_set_the_limits(void **state)
{
	int level;

	assert_ok(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_INFO);
	assert_ok(doca_argp_get_sdk_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_INFO);
	assert_ok(start("-l", "60", "--sdk-log-level", "20"));
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_DEBUG);
	assert_int_equal(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_CRIT);
	assert_ok(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_DEBUG);
	assert_ok(doca_argp_get_sdk_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_CRIT);
	assert_ok(doca_argp_destroy());
	assert_ok(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO));
	assert_ok(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_INFO));
	assert_ok(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_INFO);
}

static void levels_that_do_not_exist_are_refused(void **state)
{
	static const char *const levels[] = {"0", "5", "9", "11", "55", "80", "-10", "debug"};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		assert_error(start("-l", levels[i]), DOCA_ERROR_INVALID_VALUE);
		assert_error(start("--sdk-log-level", levels[i]), DOCA_ERROR_INVALID_VALUE);
	}
}

static void the_logger_callback_replaces_the_limits(void **state)
{
	assert_ok(doca_argp_register_logger_callback(record_number));
	assert_error(doca_argp_register_logger_callback(record_number), DOCA_ERROR_ALREADY_EXIST);
	assert_error(start("-l", "65"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(config.calls, 0);
	assert_ok(start("-l", "70"));
	assert_string_equal(config.recorded, "number=70 ");
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
}

static void a_disabled_logger_callback_is_not_called(void **state)
{
	int level;

	assert_ok(doca_argp_register_logger_callback(record_number));
	assert_ok(doca_argp_disable_logger_callback());
	assert_ok(start("-l", "70", "--sdk-log-level", "60"));
	assert_int_equal(config.calls, 0);
	assert_int_equal(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
	assert_int_equal(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_INFO);
	assert_ok(doca_argp_get_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_TRACE);
	assert_ok(doca_argp_get_sdk_log_level(&level));
	assert_int_equal(level, DOCA_LOG_LEVEL_DEBUG);
}

static void the_error_of_the_logger_callback_is_that_of_start(void **state)
{
	assert_ok(doca_argp_register_logger_callback(record_number));
	config.answer = DOCA_ERROR_IO_FAILED;
	assert_error(start("-l", "70"), DOCA_ERROR_IO_FAILED);
}

#define rigged(test) cmocka_unit_test_setup_teardown(test, argp_setup, argp_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_works_before_init),
		rigged(init_twice_is_refused),
		rigged(null_is_refused),
		rigged(start_wants_the_arguments_of_main),
		rigged(start_succeeds_once_but_may_follow_an_error),
		rigged(short_names_may_have_several_letters),
		rigged(names_are_neither_abbreviated_nor_mixed),
		rigged(a_value_may_follow_an_equals_sign),
		rigged(a_value_that_is_missing_is_refused),
		rigged(integers_are_decimal_or_hexadecimal),
		rigged(doubles_are_decimal_and_finite),
		rigged(device_that_does_not_exist_is_not_found),
		rigged(device_without_a_name_is_refused),
		rigged(a_boolean_takes_no_value),
		rigged(stray_arguments_are_refused),
		rigged(callbacks_are_called_in_the_order_of_the_line),
		rigged(a_text_is_the_argument_itself),
		rigged(flag_without_multiplicity_is_given_once),
		rigged(mandatory_parameters_are_required),
		rigged(singular_stands_alone),
		rigged(the_error_of_a_callback_ends_start),
		rigged(no_callback_runs_for_an_invalid_command_line),
		rigged(incomplete_parameter_is_refused),
		rigged(invalid_names_are_refused),
		rigged(names_that_are_taken_are_refused),
		rigged(invalid_types_are_refused),
		rigged(register_owns_the_parameter_in_all_flows),
		rigged(a_parameter_that_was_not_registered_can_be_destroyed),
		rigged(setters_leave_a_registered_parameter_alone),
		rigged(the_validation_callback_comes_last),
		rigged(the_error_of_the_validation_callback_is_that_of_start),
		rigged(a_callback_may_destroy_the_parser),
		rigged(the_version_callback_may_destroy_the_parser),
		rigged(a_callback_cannot_start_or_register),
		rigged(log_level_flags_set_the_limits),
		rigged(levels_that_do_not_exist_are_refused),
		rigged(the_logger_callback_replaces_the_limits),
		rigged(a_disabled_logger_callback_is_not_called),
		rigged(the_error_of_the_logger_callback_is_that_of_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
