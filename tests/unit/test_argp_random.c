/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The argument parser with random command lines and files, and with each of its allocations
 * failing. It must not crash, must return a documented error, must run callbacks for valid lines
 * only, and must free all memory.
 */
#include "argp_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STRING	   DOCA_ARGP_TYPE_STRING
#define INT	   DOCA_ARGP_TYPE_INT
#define BOOLEAN	   DOCA_ARGP_TYPE_BOOLEAN
#define DOUBLE	   DOCA_ARGP_TYPE_DOUBLE
#define JSON	   DOCA_ARGP_TYPE_JSON_OBJ

#define LINES	   20000u
#define FILES	   20000u
#define MAX_ALLOCS 400u

static unsigned int fail_at; /* 0: never */
static unsigned int allocs;
static bool fired;

static bool fails(void)
{
	bool now = fail_at && ++allocs == fail_at;

	fired = fired || now;
	return now;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
	return fails() ? NULL : __real_strndup(text, len);
}

static uint64_t seed;

static uint32_t next(uint32_t bound)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % bound;
}

static doca_error_t record_command(void *conf)
{
	config.calls++;
	return DOCA_SUCCESS;
}

static doca_error_t record_dpdk(int argc, char **argv)
{
	assert_null(argv[argc]);
	config.calls++;
	return DOCA_SUCCESS;
}

static doca_error_t record_version(void *param, void *conf)
{
	assert_true(*(bool *)param);
	return DOCA_SUCCESS;
}

static void set_up(bool is_dpdk)
{
	struct doca_argp_cmd *outer, *inner;

	assert_int_equal(argp_setup(NULL), 0);
	outer = make_cmd("outer");
	inner = make_cmd("inner");
	assert_ok(add("s", "text", STRING, 0));
	assert_ok(add("n", "num", INT, MULTIPLICITY));
	assert_ok(add("nb", NULL, BOOLEAN, INHERITED));
	assert_ok(add("r", "real", DOUBLE, MULTIPLICITY));
	assert_ok(add(NULL, "alone", BOOLEAN, SINGULAR));
	assert_ok(add(NULL, "rules", JSON, 0));
	doca_argp_cmd_set_callback(outer, record_command);
	assert_ok(doca_argp_register_cmd(outer));
	assert_ok(add_to(inner, "s", "must", STRING, MANDATORY));
	assert_ok(doca_argp_cmd_register_cmd(outer, inner));
	assert_ok(doca_argp_register_version_callback(record_version));
	if (is_dpdk)
		assert_ok(doca_argp_set_dpdk_program(record_dpdk));
}

static void assert_documented(doca_error_t result)
{
	static const doca_error_t codes[] = {DOCA_SUCCESS, DOCA_ERROR_NOT_SUPPORTED,
					     DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_IO_FAILED};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (result == codes[i])
			return;
	fail_msg("%s", doca_error_get_name(result));
}

/* --help ends the process; it is tested elsewhere. */
static const char *const words[] = {
	"-s",	       "--text",   "--text=x", "-n",	      "-n=5",	 "5",
	"-5",	       "0x",	   "-nb",      "--alone",     "--rules", "outer",
	"inner",       "--must",   "--",       "-",	      "",	 "-l",
	"50",	       "51",	   "-v",       "--version",   "--json",	 "-j=/",
	"=",	       "--=",	   "-=",       "---",	      "-x",	 "--sdk-log-level=20",
	"99999999999", "\xff\x01", "-s=",      "--log-level", "-r",	 "--real=1e3",
	"-0.5",
};

static const char *pick_word(char *buffer, size_t size)
{
	const char *word = words[next(ARRAY_SIZE(words))];
	size_t len = strlen(word);

	if (next(4) || !len)
		return word;
	/* Change one letter, but never to "-h". */
	snprintf(buffer, size, "%s", word);
	buffer[next((uint32_t)len)] = "-=snb0\x80/"[next(8)];
	return buffer;
}

static void play_line(void)
{
	const char *args[16];
	char buffers[15][32];
	uint32_t n = next(15);
	doca_error_t result;

	for (uint32_t i = 0; i < n; i++)
		args[i] = pick_word(buffers[i], sizeof(buffers[i]));
	args[n] = NULL;
	result = start_args(args);
	assert_documented(result);
	if (result != DOCA_SUCCESS)
		assert_int_equal(config.calls, 0);
}

static void random_lines_have_documented_results(void **state)
{
	unsigned int good = 0;

	seed = 0x9e3779b97f4a7c15;
	for (unsigned int i = 0; i < LINES; i++) {
		set_up(i % 2);
		play_line();
		good += config.calls > 0;
		assert_ok(doca_argp_destroy());
	}
	/* Otherwise every line was refused. */
	assert_true(good > LINES / 100);
}

static const char sample[] =
	"{\"doca_program_flags\": {\"text\": \"abc\", \"num\": [1, -2, 0], \"rules\": {\"a\": "
	"[{}]},"
	" \"nb\": true, \"real\": [0.5, 2]}, /* c */ \"doca_general_flags\": {\"log-level\": 50},"
	" \"doca_dpdk_flags\": {\"devices\": [{\"device\": \"sf\", \"id\": \"1\", \"hws\": false}],"
	" \"core-mask\": \"0x1\", \"flags\": \"-x -y\"}}";

static size_t mutate(char *text, size_t len)
{
	for (uint32_t n = next(4); n; n--)
		text[next((uint32_t)len)] = "{}[]\",:0 9tfn\\\x00\xff/"[next(17)];
	return next(4) ? len : next((uint32_t)len);
}

static void random_files_have_documented_results(void **state)
{
	unsigned int good = 0;

	seed = 0x2545f4914f6cdd1d;
	for (unsigned int i = 0; i < FILES; i++) {
		char text[sizeof(sample)];
		doca_error_t result;

		memcpy(text, sample, sizeof(text));
		set_up(true);
		result = start("-j", write_file(text, mutate(text, sizeof(sample) - 1)));
		assert_documented(result);
		if (result != DOCA_SUCCESS)
			assert_int_equal(config.calls, 0);
		good += result == DOCA_SUCCESS;
		assert_ok(doca_argp_destroy());
	}
	assert_true(good > FILES / 100 && good < FILES);
}

static doca_error_t accept(void *param, void *conf)
{
	config.calls++;
	return DOCA_SUCCESS;
}

static doca_error_t live_param(const char *short_name, const char *long_name,
			       enum doca_argp_type type)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_arguments(param, "<it>");
	doca_argp_param_set_description(param, "what it is for");
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_multiplicity(param);
	doca_argp_param_set_callback(param, accept);
	return doca_argp_register_param(param);
}

static doca_error_t live_cmd(void)
{
	struct doca_argp_cmd *cmd;
	doca_error_t result = doca_argp_cmd_create(&cmd);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_cmd_set_name(cmd, "cmd");
	doca_argp_cmd_set_description(cmd, "what it does");
	return doca_argp_register_cmd(cmd);
}

/* All calls that allocate, in the order of a program, up to the first error. */
static doca_error_t live(void)
{
	char *argv[] = {(char *)"prog", (char *)"-x", (char *)"--",
			(char *)"-nb",	(char *)"-j", (char *)write_text(sample),
			(char *)"cmd",	NULL};
	doca_error_t result = doca_argp_init("prog", &config);

	if (result == DOCA_SUCCESS)
		result = live_param("s", "text", STRING);
	if (result == DOCA_SUCCESS)
		result = live_param("n", "num", INT);
	if (result == DOCA_SUCCESS)
		result = live_param("nb", NULL, BOOLEAN);
	if (result == DOCA_SUCCESS)
		result = live_param(NULL, "real", DOUBLE);
	if (result == DOCA_SUCCESS)
		result = live_param(NULL, "rules", JSON);
	if (result == DOCA_SUCCESS)
		result = live_cmd();
	if (result == DOCA_SUCCESS)
		result = doca_argp_set_dpdk_program(record_dpdk);
	return result == DOCA_SUCCESS ? doca_argp_start(7, argv) : result;
}

static void each_allocation_fails(void **state)
{
	doca_error_t result = DOCA_ERROR_UNKNOWN;
	unsigned int n;

	for (n = 1; n < MAX_ALLOCS && result != DOCA_SUCCESS; n++) {
		config.calls = 0;
		allocs = 0;
		fired = false;
		fail_at = n;
		result = live();
		fail_at = 0;
		assert_error(result, fired ? DOCA_ERROR_NO_MEMORY : DOCA_SUCCESS);
		if (fired)
			assert_int_equal(config.calls, 0);
		(void)doca_argp_destroy();
	}
	/* The last round had no allocation left to fail. */
	assert_ok(result);
	assert_true(n > 30);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lines_have_documented_results),
		cmocka_unit_test(random_files_have_documented_results),
		cmocka_unit_test(each_allocation_fails),
	};

	/* The log would have a line for each refusal. */
	(void)setenv("DPUMAP_LOG_LEVEL", "off", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
