/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The log of programs: sources and lines. test_log_backend.c tests destinations, test_log_sdk.c the
 * library's messages, test_log_life.c threads, forks and signals.
 */
#include "unit/log_process.h"

#include <errno.h>
#include <regex.h>
#include <string.h>
#include <time.h>

DOCA_LOG_REGISTER(TEST::LOG)

/* --- Sources ---------------------------------------------------------------------------------- */

static void register_some(void)
{
	int a, b, c;

	CHECK_OK(doca_log_register_source("ONE", &a));
	CHECK_OK(doca_log_register_source("ONE", &b));
	CHECK(a > 0 && b > 0 && a != b && log_source > 0 && a != log_source);
	CHECK_OK(doca_log_unregister_source(a));
	CHECK_OK(doca_log_register_source("TWO", &c));
	CHECK(c == a);
	CHECK_OK(doca_log_unregister_source(b));
	CHECK_OK(doca_log_unregister_source(c));
}

static void sources_have_numbers_of_their_own(void **state)
{
	struct log_output output;

	log_process_run(&output, register_some);
	assert_string_equal(output.err, "");
	log_output_clear(&output);
}

static void register_badly(void)
{
	int source = 77;

	CHECK_INVALID(doca_log_register_source(NULL, &source));
	CHECK_INVALID(doca_log_register_source("NAME", NULL));
	CHECK(source == 77);
	CHECK_OK(doca_log_register_source("", &source));
	CHECK_OK(doca_log_unregister_source(source));
	CHECK_INVALID(doca_log_unregister_source(source));
	CHECK_INVALID(doca_log_unregister_source(0));
	CHECK_INVALID(doca_log_unregister_source(-1));
	CHECK_INVALID(doca_log_unregister_source(1000000));
}

static void bad_sources_are_refused(void **state)
{
	struct log_output output;

	log_process_run(&output, register_badly);
	assert_lines(output.err, 6);
	assert_int_equal(occurrences(output.err, ": DOCA_ERROR_INVALID_VALUE\n"), 6);
	log_output_clear(&output);
}

static void log_of_unknown_source(void)
{
	log_to_stdout();
	doca_log(DOCA_LOG_LEVEL_INFO, 4711, "a.c", 1, "f", "still here");
	doca_log(DOCA_LOG_LEVEL_INFO, -1, NULL, 2, NULL, "and here");
}

static void message_of_an_unknown_source_is_logged(void **state)
{
	struct log_output output;

	log_process_run(&output, log_of_unknown_source);
	assert_like(output.out, STAMP "[[]INF[]][[]a.c:1[]][[]f[]] still here\n" STAMP
				      "[[]INF[]][[]-:2[]][[]-[]] and here\n");
	log_output_clear(&output);
}

static void log_names_of_sources(void)
{
	char name[] = "COPIED";
	int source;

	log_to_stdout();
	CHECK_OK(doca_log_register_source(name, &source));
	memset(name, 'x', sizeof(name) - 1);
	doca_log(DOCA_LOG_LEVEL_INFO, source, NULL, 3, "f", "x");
	doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 4, "f", "x");
}

static void source_stands_in_for_the_file(void **state)
{
	struct log_output output;

	log_process_run(&output, log_names_of_sources);
	assert_like(output.out, ".*[[]COPIED:3[]][[]f[]] x\n.*[[]TEST::LOG:4[]][[]f[]] x\n");
	log_output_clear(&output);
}

/* --- Lines ------------------------------------------------------------------------------------ */

static void log_at_all_levels(void)
{
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	log_to_stdout();
	doca_log(20, log_source, "/some/where/a.c", 10, "f", "%s %d", "crit", 1);
	doca_log(30, log_source, "where/b.c", 20, "g", "error");
	doca_log(40, log_source, "c.c", 30, "h", "warning");
	doca_log(50, log_source, "d/", 40, "i", "info");
	doca_log(60, log_source, "e.c", 50, "j", "debug");
	doca_log(70, log_source, "f.c", 60, "k", "trace");
	doca_log(45, log_source, "g.c", 70, "l", "between");
}

static void line_has_time_thread_level_and_place(void **state)
{
	struct log_output output;

	log_process_run(&output, log_at_all_levels);
	assert_like(output.out, STAMP "[[]CRT[]][[]a.c:10[]][[]f[]] crit 1\n" STAMP
				      "[[]ERR[]][[]b.c:20[]][[]g[]] error\n" STAMP
				      "[[]WRN[]][[]c.c:30[]][[]h[]] warning\n" STAMP
				      "[[]INF[]][[]:40[]][[]i[]] info\n" STAMP
				      "[[]DBG[]][[]e.c:50[]][[]j[]] debug\n" STAMP
				      "[[]TRC[]][[]f.c:60[]][[]k[]] trace\n" STAMP
				      "[[]WRN[]][[]g.c:70[]][[]l[]] between\n");
	log_output_clear(&output);
}

static void log_by_macros(void)
{
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	log_to_stdout();
	DOCA_LOG_CRIT("a %d", 1);
	DOCA_LOG_ERR("b");
	DOCA_LOG_WARN("c");
	DOCA_LOG_INFO("d");
	DOCA_LOG_DBG("e");
	DOCA_LOG_TRC("not without DOCA_LOGGING_ALLOW_TRACE");
	if (log_source)
		DOCA_LOG(DOCA_LOG_LEVEL_TRACE, "f %s", "g");
	else
		DOCA_LOG_TRC("never");
}

static void macros_log_file_line_and_function(void **state)
{
	struct log_output output;

	log_process_run(&output, log_by_macros);
#define PLACE "[[]test_log.c:[0-9]+[]][[]log_by_macros[]]"
	assert_like(output.out,
		    STAMP "[[]CRT[]]" PLACE " a 1\n" STAMP "[[]ERR[]]" PLACE " b\n" STAMP
			  "[[]WRN[]]" PLACE " c\n" STAMP "[[]INF[]]" PLACE " d\n" STAMP
			  "[[]DBG[]]" PLACE " e\n" STAMP "[[]TRC[]]" PLACE " f g\n");
#undef PLACE
	log_output_clear(&output);
}

static void log_line_feeds(void)
{
	log_to_stdout();
	doca_log(50, 0, "a", 1, "f", "one\n");
	doca_log(50, 0, "a", 1, "f", "two\n\n");
	doca_log(50, 0, "a", 1, "f", "%s", "");
	doca_log(50, 0, "a", 1, "f", "\n");
	doca_log(50, 0, "a", 1, "f", "thr\nee");
}

static void line_feed_at_the_end_is_not_repeated(void **state)
{
	const char *text;
	struct log_output output;

	log_process_run(&output, log_line_feeds);
	assert_lines(output.out, 7);
	text = strstr(output.out, "] one\n[");
	assert_non_null(text);
	assert_non_null(strstr(text, "] two\n\n["));
	assert_int_equal(occurrences(text, "[f] \n"), 2);
	assert_non_null(strstr(text, "[f] thr\nee\n"));
	log_output_clear(&output);
}

/* Around the size above which a line is on the heap, and far beyond. */
static void log_long_lines(void)
{
	static char text[200000];

	log_to_stdout();
	for (int len = 900; len < 1100; len++)
		doca_log(50, 0, "a", 1, "f", "%.*s<", len, (char *)memset(text, 'y', sizeof(text)));
	text[sizeof(text) - 1] = '\0';
	doca_log(50, 0, "a", 1, "f", "%s<", text);
	doca_log(50, 0, "a", 1, "f", "%s<\n", text);
}

static void long_line_is_whole(void **state)
{
	struct log_output output;
	const char *at;

	log_process_run(&output, log_long_lines);
	assert_lines(output.out, 202);
	at = output.out;
	for (size_t len = 900; len < 1100; len++) {
		at = strstr(at, "[f] ");
		assert_non_null(at);
		at += 4;
		assert_int_equal(strspn(at, "y"), len);
		assert_memory_equal(at + len, "<\n", 2);
	}
	for (int i = 0; i < 2; i++) {
		at = strstr(at, "[f] ");
		assert_non_null(at);
		at += 4;
		assert_int_equal(strspn(at, "y"), 199999);
		assert_memory_equal(at + 199999, "<\n", 2);
	}
	log_output_clear(&output);
}

static void log_with_errno(void)
{
	log_to_stdout();
	errno = ENOTEMPTY;
	DOCA_LOG_INFO("%m");
	CHECK(errno == ENOTEMPTY);
	DOCA_LOG_INFO("%2000s|%m", "");
	CHECK(errno == ENOTEMPTY);
	DOCA_LOG_DBG("%m");
	CHECK(errno == ENOTEMPTY);
}

static void errno_is_preserved_and_printable(void **state)
{
	struct log_output output;

	log_process_run(&output, log_with_errno);
	assert_lines(output.out, 2);
	assert_int_equal(occurrences(output.out, strerror(ENOTEMPTY)), 2);
	log_output_clear(&output);
}

/* A time zone 3 h 45 min ahead, so that UTC would be wrong. */
static void log_the_time(void)
{
	time_t now;
	struct tm local;
	char early[16], late[16];

	setenv("TZ", "XYZ-3:45", 1);
	tzset();
	log_to_stdout();
	now = time(NULL);
	strftime(early, sizeof(early), "%H:%M:%S", localtime_r(&now, &local));
	DOCA_LOG_INFO("x");
	now = time(NULL);
	strftime(late, sizeof(late), "%H:%M:%S", localtime_r(&now, &local));
	printf("%s %s %d\n", early, late, (int)gettid());
}

static void time_is_local_and_thread_is_the_kernels(void **state)
{
	char shown[16], early[16], late[16];
	int thread, wanted;
	struct log_output output;

	log_process_run(&output, log_the_time);
	assert_int_equal(sscanf(output.out, "[%8[0-9:]:%*6[0-9]][%d]%*[^\n] %8[0-9:] %8[0-9:] %d",
				shown, &thread, early, late, &wanted),
			 5);
	/* The clock of the lines may be a tick ahead of time(). */
	assert_true(strcmp(shown, early) >= 0 || strcmp(early, late) > 0);
	assert_true(strcmp(shown, late) <= 0 || strcmp(early, late) > 0 ||
		    strcmp(early, late) == 0);
	assert_int_equal(thread, wanted);
	log_output_clear(&output);
}

static void log_nothing(void)
{
	const char *format = NULL;

	log_to_stdout();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	doca_log(50, 0, "a", 1, "f", format);
#pragma GCC diagnostic pop
}

static void no_format_is_no_message(void **state)
{
	struct log_output output;

	log_process_run(&output, log_nothing);
	assert_string_equal(output.out, "");
	log_output_clear(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sources_have_numbers_of_their_own),
		cmocka_unit_test(bad_sources_are_refused),
		cmocka_unit_test(message_of_an_unknown_source_is_logged),
		cmocka_unit_test(source_stands_in_for_the_file),
		cmocka_unit_test(line_has_time_thread_level_and_place),
		cmocka_unit_test(macros_log_file_line_and_function),
		cmocka_unit_test(line_feed_at_the_end_is_not_repeated),
		cmocka_unit_test(long_line_is_whole),
		cmocka_unit_test(errno_is_preserved_and_printable),
		cmocka_unit_test(time_is_local_and_thread_is_the_kernels),
		cmocka_unit_test(no_format_is_no_message),
	};

	unsetenv("DPUMAP_LOG_LEVEL");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
