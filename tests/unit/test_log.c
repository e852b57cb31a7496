/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The log of programs: sources, lines, backends, and which levels they show. test_log_sdk.c is
 * about the library's messages, test_log_life.c about threads, forks and signals.
 */
#include "unit/log_lab.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdbool.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

DOCA_LOG_REGISTER(TEST::LOG)

#define LEVELS 7

static const uint32_t levels[LEVELS] = {
	DOCA_LOG_LEVEL_DISABLE, DOCA_LOG_LEVEL_CRIT,  DOCA_LOG_LEVEL_ERROR, DOCA_LOG_LEVEL_WARNING,
	DOCA_LOG_LEVEL_INFO,	DOCA_LOG_LEVEL_DEBUG, DOCA_LOG_LEVEL_TRACE,
};

static struct doca_log_backend *to_stdout(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_file(stdout, &backend));
	return backend;
}

static struct doca_log_backend *to_stderr(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_fd(STDERR_FILENO, &backend));
	return backend;
}

/* One of each level that there is. */
static void log_all(void)
{
	for (int i = 1; i < LEVELS; i++)
		DOCA_LOG(levels[i], "at %u.", levels[i]);
}

/* --- Sources --- */

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

static void test_sources_have_numbers_of_their_own(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, register_some);
	assert_string_equal(lab.err, "");
	lab_clear(&lab);
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

static void test_bad_sources_are_refused(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, register_badly);
	assert_lines(lab.err, 6);
	assert_int_equal(occurrences(lab.err, ": DOCA_ERROR_INVALID_VALUE\n"), 6);
	lab_clear(&lab);
}

static void log_of_unknown_source(void)
{
	to_stdout();
	doca_log(DOCA_LOG_LEVEL_INFO, 4711, "a.c", 1, "f", "still here");
	doca_log(DOCA_LOG_LEVEL_INFO, -1, NULL, 2, NULL, "and here");
}

static void test_message_of_an_unknown_source_is_logged(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_of_unknown_source);
	assert_like(lab.out, STAMP "[[]INF[]][[]a.c:1[]][[]f[]] still here\n" STAMP
				   "[[]INF[]][[]-:2[]][[]-[]] and here\n");
	lab_clear(&lab);
}

static void log_names_of_sources(void)
{
	char name[] = "COPIED";
	int source;

	to_stdout();
	CHECK_OK(doca_log_register_source(name, &source));
	memset(name, 'x', sizeof(name) - 1);
	doca_log(DOCA_LOG_LEVEL_INFO, source, NULL, 3, "f", "x");
	doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 4, "f", "x");
}

static void test_source_stands_in_for_the_file(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_names_of_sources);
	assert_like(lab.out, ".*[[]COPIED:3[]][[]f[]] x\n.*[[]TEST::LOG:4[]][[]f[]] x\n");
	lab_clear(&lab);
}

/* --- Lines --- */

static void log_at_all_levels(void)
{
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	to_stdout();
	doca_log(20, log_source, "/some/where/a.c", 10, "f", "%s %d", "crit", 1);
	doca_log(30, log_source, "where/b.c", 20, "g", "error");
	doca_log(40, log_source, "c.c", 30, "h", "warning");
	doca_log(50, log_source, "d/", 40, "i", "info");
	doca_log(60, log_source, "e.c", 50, "j", "debug");
	doca_log(70, log_source, "f.c", 60, "k", "trace");
	doca_log(45, log_source, "g.c", 70, "l", "between");
}

static void test_line_has_time_thread_level_and_place(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_at_all_levels);
	assert_like(lab.out, STAMP "[[]CRT[]][[]a.c:10[]][[]f[]] crit 1\n" STAMP
				   "[[]ERR[]][[]b.c:20[]][[]g[]] error\n" STAMP
				   "[[]WRN[]][[]c.c:30[]][[]h[]] warning\n" STAMP
				   "[[]INF[]][[]:40[]][[]i[]] info\n" STAMP
				   "[[]DBG[]][[]e.c:50[]][[]j[]] debug\n" STAMP
				   "[[]TRC[]][[]f.c:60[]][[]k[]] trace\n" STAMP
				   "[[]WRN[]][[]g.c:70[]][[]l[]] between\n");
	lab_clear(&lab);
}

static void log_by_macros(void)
{
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	to_stdout();
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

static void test_macros_log_file_line_and_function(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_by_macros);
#define PLACE "[[]test_log.c:[0-9]+[]][[]log_by_macros[]]"
	assert_like(lab.out, STAMP "[[]CRT[]]" PLACE " a 1\n" STAMP "[[]ERR[]]" PLACE " b\n" STAMP
				   "[[]WRN[]]" PLACE " c\n" STAMP "[[]INF[]]" PLACE " d\n" STAMP
				   "[[]DBG[]]" PLACE " e\n" STAMP "[[]TRC[]]" PLACE " f g\n");
#undef PLACE
	lab_clear(&lab);
}

static void log_line_feeds(void)
{
	to_stdout();
	doca_log(50, 0, "a", 1, "f", "one\n");
	doca_log(50, 0, "a", 1, "f", "two\n\n");
	doca_log(50, 0, "a", 1, "f", "%s", "");
	doca_log(50, 0, "a", 1, "f", "\n");
	doca_log(50, 0, "a", 1, "f", "thr\nee");
}

static void test_line_feed_at_the_end_is_not_repeated(void **state)
{
	const char *text;
	struct lab lab;

	(void)state;
	lab_run(&lab, log_line_feeds);
	assert_lines(lab.out, 7);
	text = strstr(lab.out, "] one\n[");
	assert_non_null(text);
	assert_non_null(strstr(text, "] two\n\n["));
	assert_int_equal(occurrences(text, "[f] \n"), 2);
	assert_non_null(strstr(text, "[f] thr\nee\n"));
	lab_clear(&lab);
}

/* Around the size from which on a line is on the heap, and far beyond. */
static void log_long_lines(void)
{
	static char text[200000];

	to_stdout();
	for (int len = 900; len < 1100; len++)
		doca_log(50, 0, "a", 1, "f", "%.*s<", len, (char *)memset(text, 'y', sizeof(text)));
	text[sizeof(text) - 1] = '\0';
	doca_log(50, 0, "a", 1, "f", "%s<", text);
	doca_log(50, 0, "a", 1, "f", "%s<\n", text);
}

static void test_long_line_is_whole(void **state)
{
	struct lab lab;
	const char *at;

	(void)state;
	lab_run(&lab, log_long_lines);
	assert_lines(lab.out, 202);
	at = lab.out;
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
	lab_clear(&lab);
}

static void log_with_errno(void)
{
	to_stdout();
	errno = ENOTEMPTY;
	DOCA_LOG_INFO("%m");
	CHECK(errno == ENOTEMPTY);
	DOCA_LOG_INFO("%2000s|%m", "");
	CHECK(errno == ENOTEMPTY);
	DOCA_LOG_DBG("%m");
	CHECK(errno == ENOTEMPTY);
}

static void test_errno_is_preserved_and_printable(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_with_errno);
	assert_lines(lab.out, 2);
	assert_int_equal(occurrences(lab.out, strerror(ENOTEMPTY)), 2);
	lab_clear(&lab);
}

/* A place that is 3 h 45 min ahead, so that UTC is no answer. */
static void log_the_time(void)
{
	time_t now;
	struct tm local;
	char early[16], late[16];

	setenv("TZ", "XYZ-3:45", 1);
	to_stdout();
	now = time(NULL);
	strftime(early, sizeof(early), "%H:%M:%S", localtime_r(&now, &local));
	DOCA_LOG_INFO("x");
	now = time(NULL);
	strftime(late, sizeof(late), "%H:%M:%S", localtime_r(&now, &local));
	printf("%s %s %d\n", early, late, (int)gettid());
}

static void test_time_is_local_and_thread_is_the_kernels(void **state)
{
	char shown[16], early[16], late[16];
	int thread, wanted;
	struct lab lab;

	(void)state;
	lab_run(&lab, log_the_time);
	assert_int_equal(sscanf(lab.out, "[%8[0-9:]:%*6[0-9]][%d]%*[^\n] %8[0-9:] %8[0-9:] %d",
				shown, &thread, early, late, &wanted),
			 5);
	/* The clock that lines are stamped with may be a tick ahead of time(). */
	assert_true(strcmp(shown, early) >= 0 || strcmp(early, late) > 0);
	assert_true(strcmp(shown, late) <= 0 || strcmp(early, late) > 0 ||
		    strcmp(early, late) == 0);
	assert_int_equal(thread, wanted);
	lab_clear(&lab);
}

static void log_nothing(void)
{
	const char *format = NULL;

	to_stdout();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	doca_log(50, 0, "a", 1, "f", format);
#pragma GCC diagnostic pop
}

static void test_no_format_is_no_message(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_nothing);
	assert_string_equal(lab.out, "");
	lab_clear(&lab);
}

/* --- Backends --- */

static void test_without_a_backend_nothing_is_printed(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_all);
	assert_string_equal(lab.out, "");
	assert_string_equal(lab.err, "");
	lab_clear(&lab);
}

static void log_to_standard(void)
{
	CHECK_OK(doca_log_backend_create_standard());
	CHECK_OK(doca_log_backend_create_standard());
	log_all();
}

static void test_standard_splits_at_warning(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_to_standard);
	assert_like(lab.out, ".*[[]INF[]].* at 50[.]\n");
	assert_like(lab.err, ".*[[]CRT[]].* at 20[.]\n.*[[]ERR[]].* at 30[.]\n"
			     ".*[[]WRN[]].* at 40[.]\n");
	assert_lines(lab.out, 1);
	assert_lines(lab.err, 3);
	lab_clear(&lab);
}

static void log_to_limited_standard(void)
{
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_create_standard());
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING));
	log_all();
}

static void test_standard_obeys_both_global_limits(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_to_limited_standard);
	assert_like(lab.out, ".* at 50[.]\n.* at 60[.]\n");
	assert_like(lab.err, ".* at 40[.]\n");
	assert_lines(lab.out, 2);
	assert_lines(lab.err, 1);
	lab_clear(&lab);
}

static void log_and_die(void)
{
	to_stdout();
	setvbuf(stdout, NULL, _IOFBF, 4096);
	DOCA_LOG_INFO("last words");
	_exit(0);
}

static void test_file_is_flushed_after_each_message(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_and_die);
	assert_like(lab.out, ".* last words\n");
	lab_clear(&lab);
}

static void log_to_fd(void)
{
	struct doca_log_backend *backend = to_stderr();

	CHECK(backend);
	DOCA_LOG_INFO("through a descriptor");
}

static void test_fd_gets_the_line(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_to_fd);
	assert_like(lab.err, STAMP "[[]INF[]][[]test_log.c:[0-9]+[]][[]log_to_fd[]] "
				   "through a descriptor\n");
	assert_string_equal(lab.out, "");
	lab_clear(&lab);
}

/* What does not fit is lost, and nobody waits. */
static void log_to_full_pipe(void)
{
	struct doca_log_backend *backend;
	int ends[2];

	CHECK(!pipe2(ends, O_NONBLOCK));
	CHECK_OK(doca_log_backend_create_with_fd(ends[1], &backend));
	errno = 0;
	for (int i = 0; i < 5000; i++)
		DOCA_LOG_INFO("message %d", i);
	CHECK(errno == 0); /* that write() ended with EAGAIN is none of the program's business */
}

static void test_fd_that_does_not_block_loses_what_has_no_room(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_to_full_pipe);
	lab_clear(&lab);
}

static void create_badly(void)
{
	struct doca_log_backend *backend = (void *)&backend;
	int read_only = open("/dev/null", O_RDONLY), path = open("/dev/null", O_PATH);
	log_flush_callback handler = (log_flush_callback)(void (*)(void))abort;
	char buf[8];

	CHECK(read_only >= 0 && path >= 0);
	CHECK_INVALID(doca_log_backend_create_with_file(NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_file(stdout, NULL));
	CHECK_INVALID(doca_log_backend_create_with_fd(1, NULL));
	CHECK_INVALID(doca_log_backend_create_with_fd(-1, &backend));
	CHECK_INVALID(doca_log_backend_create_with_fd(999, &backend));
	CHECK_INVALID(doca_log_backend_create_with_fd(read_only, &backend));
	CHECK_INVALID(doca_log_backend_create_with_fd(path, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(NULL, 8, handler, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 8, NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 8, handler, NULL));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 0, handler, &backend));
	CHECK_INVALID(doca_log_backend_create_with_buf(buf, 1, handler, &backend));
	CHECK_INVALID(doca_log_backend_create_with_syslog(NULL, &backend));
	CHECK_INVALID(doca_log_backend_create_with_syslog("x", NULL));
	CHECK(backend == (void *)&backend);
	log_all();
}

static void test_bad_backends_are_refused(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, create_badly);
	assert_lines(lab.err, 14);
	assert_int_equal(occurrences(lab.err, ": DOCA_ERROR_INVALID_VALUE\n"), 14);
	assert_string_equal(lab.out, "");
	lab_clear(&lab);
}

static char buffer[256];
static int flushed;

static void flush(char *buf)
{
	CHECK(buf == buffer);
	CHECK(strlen(buf) < sizeof(buffer));
	fputs(buf, stdout);
	flushed++;
}

static void log_to_buf(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_buf(buffer, sizeof(buffer), flush, &backend));
	CHECK(flushed == 0);
	DOCA_LOG_INFO("first");
	CHECK(flushed == 1);
	DOCA_LOG_DBG("not shown");
	CHECK(flushed == 1);
	DOCA_LOG_ERR("second, longer");
	DOCA_LOG_ERR("3rd");
	CHECK(flushed == 3);
}

static void test_buf_is_flushed_with_each_line(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_to_buf);
	assert_like(lab.out, STAMP "[[]INF[]].* first\n" STAMP "[[]ERR[]].* second, longer\n" STAMP
				   "[[]ERR[]].* 3rd\n");
	assert_lines(lab.out, 3);
	lab_clear(&lab);
}

static void log_to_small_bufs(void)
{
	struct doca_log_backend *backend;

	for (size_t capacity = 2; capacity <= 200; capacity++) {
		memset(buffer, 'Z', sizeof(buffer));
		CHECK_OK(doca_log_backend_create_with_buf(buffer, capacity, flush, &backend));
		DOCA_LOG_INFO("%050d", 7);
		CHECK(strlen(buffer) <= capacity - 1);
		CHECK(buffer[strlen(buffer) - 1] == '\n');
		CHECK(buffer[capacity] == 'Z');
		CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DISABLE));
	}
}

static void test_line_is_cut_to_the_buf(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_to_small_bufs);
	assert_lines(lab.out, 199);
	assert_memory_equal(lab.out, "\n[\n", 3);
	lab_clear(&lab);
}

static void flush_and_log(char *buf)
{
	DOCA_LOG_WARN("from the handler");
	fputs(buf, stdout);
	fflush(stdout);
}

static void log_from_handler(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_buf(buffer, sizeof(buffer), flush_and_log, &backend));
	to_stderr();
	DOCA_LOG_INFO("from outside");
}

static void test_what_a_handler_logs_goes_to_the_others(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_from_handler);
	assert_like(lab.out, ".* from outside\n");
	assert_like(lab.err, ".* from the handler\n.* from outside\n");
	assert_lines(lab.out, 1);
	assert_lines(lab.err, 2);
	lab_clear(&lab);
}

/* In place of the C library's: who says what to syslog. */
static const char *identity = "";

void openlog(const char *ident, int option, int facility)
{
	(void)option;
	CHECK(facility == LOG_USER);
	identity = ident;
}

__attribute__((format(printf, 2, 0))) static void say(int priority, const char *format, va_list ap)
{
	printf("%s %d ", identity, priority);
	vprintf(format, ap);
	printf("\n");
}

__attribute__((format(printf, 2, 3))) void syslog(int priority, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(priority, format, ap);
	va_end(ap);
}

/* What syslog() becomes when it is compiled with _FORTIFY_SOURCE. */
__attribute__((format(printf, 3, 4))) void __syslog_chk(int priority, int flag, const char *format,
							...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list ap;

	(void)flag;
	va_start(ap, format);
	say(priority, format, ap);
	va_end(ap);
}

static void log_to_syslog(void)
{
	char name[] = "one";
	struct doca_log_backend *one, *two;

	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	CHECK_OK(doca_log_backend_create_with_syslog(name, &one));
	memset(name, 'x', sizeof(name) - 1);
	log_all();
	CHECK_OK(doca_log_backend_create_with_syslog("two", &two));
	CHECK(one != two);
	DOCA_LOG_ERR("100%%");
}

static void test_syslog_gets_priority_and_name(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_to_syslog);
	assert_like(lab.out, "one 10 " STAMP "[[]CRT[]].* at 20[.]\n"
			     "one 11 " STAMP "[[]ERR[]].* at 30[.]\n"
			     "one 12 " STAMP "[[]WRN[]].* at 40[.]\n"
			     "one 14 " STAMP "[[]INF[]].* at 50[.]\n"
			     "one 15 " STAMP "[[]DBG[]].* at 60[.]\n"
			     "one 15 " STAMP "[[]TRC[]].* at 70[.]\n"
			     "one 11 .* 100%\ntwo 11 .* 100%\n");
	assert_lines(lab.out, 8);
	lab_clear(&lab);
}

/* --- Levels --- */

static void check_defaults(void)
{
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_CRIT);
	CHECK(doca_log_level_get_global_sdk_limit() == DOCA_LOG_LEVEL_INFO);
	to_stdout();
	log_all();
}

static void test_defaults_are_info_and_crit(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, check_defaults);
	assert_like(lab.out, ".* at 20[.]\n.* at 30[.]\n.* at 40[.]\n.* at 50[.]\n");
	assert_lines(lab.out, 4);
	lab_clear(&lab);
}

static void set_all(void)
{
	for (int i = 0; i < LEVELS; i++) {
		CHECK_OK(doca_log_level_set_global_lower_limit(levels[i]));
		CHECK_OK(doca_log_level_set_global_upper_limit(levels[LEVELS - 1 - i]));
		CHECK_OK(doca_log_level_set_global_sdk_limit(levels[(i + 1) % LEVELS]));
		CHECK(doca_log_level_get_global_lower_limit() == levels[i]);
		CHECK(doca_log_level_get_global_upper_limit() == levels[LEVELS - 1 - i]);
		CHECK(doca_log_level_get_global_sdk_limit() == levels[(i + 1) % LEVELS]);
	}
}

static void test_global_limits_are_what_was_set(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, set_all);
	lab_clear(&lab);
}

static void set_wrong_levels(void)
{
	static const uint32_t wrong[] = {0, 1, 9, 11, 15, 55, 69, 71, 80, 1000, UINT32_MAX};
	struct doca_log_backend *backend = to_stdout();

	setenv("DPUMAP_LOG_LEVEL", "off", 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_INVALID(doca_log_level_set_global_lower_limit(wrong[i]));
		CHECK_INVALID(doca_log_level_set_global_upper_limit(wrong[i]));
		CHECK_INVALID(doca_log_level_set_global_sdk_limit(wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_lower_limit(backend, wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_upper_limit(backend, wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_lower_limit_strict(backend, wrong[i]));
		CHECK_INVALID(doca_log_backend_set_level_upper_limit_strict(backend, wrong[i]));
	}
	CHECK_INVALID(doca_log_backend_set_level_lower_limit(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_level_upper_limit(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_level_lower_limit_strict(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_level_upper_limit_strict(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_sdk_level(NULL, 50));
	CHECK_INVALID(doca_log_backend_set_sdk_level(backend, 50));
	check_defaults();
}

static void test_levels_that_do_not_exist_change_nothing(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, set_wrong_levels);
	assert_lines(lab.out, 8); /* two backends by now */
	assert_string_equal(lab.err, "");
	lab_clear(&lab);
}

/* Every pair of limits with every level, and numbers that are none. */
static void log_between_limits(void)
{
	struct doca_log_backend *backend;
	int wanted;

	CHECK_OK(doca_log_backend_create_with_buf(buffer, sizeof(buffer), flush, &backend));
	for (int lower = 0; lower < LEVELS; lower++)
		for (int upper = 0; upper < LEVELS; upper++)
			for (uint32_t level = 0; level < 90; level++) {
				CHECK_OK(doca_log_backend_set_level_lower_limit(backend,
										levels[lower]));
				CHECK_OK(doca_log_backend_set_level_upper_limit(backend,
										levels[upper]));
				wanted = flushed + (level >= DOCA_LOG_LEVEL_CRIT &&
						    level <= levels[lower] &&
						    level >= levels[upper]);
				doca_log(level, log_source, "a", 1, "f", "x");
				CHECK(flushed == wanted);
			}
	wanted = flushed;
	doca_log(UINT32_MAX, log_source, "a", 1, "f", "x");
	CHECK(flushed == wanted);
}

static void test_shown_is_what_lies_between_the_limits(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_between_limits);
	assert_true(occurrences(lab.out, "\n") > 100);
	lab_clear(&lab);
}

static void log_with_globals(void)
{
	to_stdout();
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_INFO));
	to_stderr();
	log_all();
}

static void test_global_limits_are_for_backends_made_before_and_after(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_with_globals);
	assert_like(lab.out, ".* at 50[.]\n.* at 60[.]\n");
	assert_lines(lab.out, 2);
	assert_string_equal(lab.out, lab.err);
	lab_clear(&lab);
}

static void log_with_limits_of_one(void)
{
	struct doca_log_backend *backend = to_stdout();

	to_stderr();
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_INFO));
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_CRIT);
	log_all();
}

static void test_limits_of_one_backend_are_its_own(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_with_limits_of_one);
	assert_like(lab.out, ".* at 50[.]\n.* at 60[.]\n");
	assert_lines(lab.out, 2);
	assert_lines(lab.err, 4);
	lab_clear(&lab);
}

static void set_globals_after_limits(void)
{
	log_with_limits_of_one();
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR));
	log_all();
}

static void test_global_limits_replace_those_of_backends(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, set_globals_after_limits);
	assert_like(lab.out, ".* at 50[.]\n.* at 60[.]\n.* at 30[.]\n");
	assert_lines(lab.out, 3);
	lab_clear(&lab);
}

static void set_globals_after_strict_limits(void)
{
	struct doca_log_backend *lower = to_stdout(), *upper = to_stderr();

	CHECK_OK(doca_log_backend_set_level_lower_limit_strict(lower, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_upper_limit_strict(upper, DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT));
	log_all();
}

static void test_strict_limits_stay(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, set_globals_after_strict_limits);
	assert_lines(lab.out, 5); /* 20 to 60 */
	assert_like(lab.err, ".* at 30[.]\n");
	assert_lines(lab.err, 1);
	lab_clear(&lab);
}

static void loosen_strict_limits(void)
{
	struct doca_log_backend *backend = to_stdout();

	CHECK_OK(doca_log_backend_set_level_lower_limit_strict(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_upper_limit_strict(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_TRACE));
	CHECK_OK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_TRACE));
	log_all();
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR));
	log_all();
}

static void test_strict_limits_end_when_the_others_are_set(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, loosen_strict_limits);
	assert_like(lab.out, ".* at 70[.]\n.* at 30[.]\n");
	assert_lines(lab.out, 2);
	lab_clear(&lab);
}

/* %n tells whether anybody counted. */
static void log_and_count(void)
{
	int shown = 0, hidden = 0;

	to_stdout();
	DOCA_LOG_DBG("hidden%n", &hidden);
	DOCA_LOG_INFO("shown%n", &shown);
	CHECK(!hidden && shown);
}

static void test_what_is_not_shown_is_not_formatted(void **state)
{
	struct lab lab;

	(void)state;
	lab_run(&lab, log_and_count);
	assert_like(lab.out, ".* shown\n");
	assert_lines(lab.out, 1);
	lab_clear(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_have_numbers_of_their_own),
		cmocka_unit_test(test_bad_sources_are_refused),
		cmocka_unit_test(test_message_of_an_unknown_source_is_logged),
		cmocka_unit_test(test_source_stands_in_for_the_file),
		cmocka_unit_test(test_line_has_time_thread_level_and_place),
		cmocka_unit_test(test_macros_log_file_line_and_function),
		cmocka_unit_test(test_line_feed_at_the_end_is_not_repeated),
		cmocka_unit_test(test_long_line_is_whole),
		cmocka_unit_test(test_errno_is_preserved_and_printable),
		cmocka_unit_test(test_time_is_local_and_thread_is_the_kernels),
		cmocka_unit_test(test_no_format_is_no_message),
		cmocka_unit_test(test_without_a_backend_nothing_is_printed),
		cmocka_unit_test(test_standard_splits_at_warning),
		cmocka_unit_test(test_standard_obeys_both_global_limits),
		cmocka_unit_test(test_file_is_flushed_after_each_message),
		cmocka_unit_test(test_fd_gets_the_line),
		cmocka_unit_test(test_fd_that_does_not_block_loses_what_has_no_room),
		cmocka_unit_test(test_bad_backends_are_refused),
		cmocka_unit_test(test_buf_is_flushed_with_each_line),
		cmocka_unit_test(test_line_is_cut_to_the_buf),
		cmocka_unit_test(test_what_a_handler_logs_goes_to_the_others),
		cmocka_unit_test(test_syslog_gets_priority_and_name),
		cmocka_unit_test(test_defaults_are_info_and_crit),
		cmocka_unit_test(test_global_limits_are_what_was_set),
		cmocka_unit_test(test_levels_that_do_not_exist_change_nothing),
		cmocka_unit_test(test_shown_is_what_lies_between_the_limits),
		cmocka_unit_test(test_global_limits_are_for_backends_made_before_and_after),
		cmocka_unit_test(test_limits_of_one_backend_are_its_own),
		cmocka_unit_test(test_global_limits_replace_those_of_backends),
		cmocka_unit_test(test_strict_limits_stay),
		cmocka_unit_test(test_strict_limits_end_when_the_others_are_set),
		cmocka_unit_test(test_what_is_not_shown_is_not_formatted),
	};

	unsetenv("DPUMAP_LOG_LEVEL");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
