/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A program with a configuration that records what its callbacks receive, in order. */
#ifndef DPUMAP_TESTS_ARGP_FIXTURE_H
#define DPUMAP_TESTS_ARGP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <doca_argp.h>

#define assert_ok(call) assert_error(call, DOCA_SUCCESS)
#define assert_error(call, wanted) \
	assert_string_equal(doca_error_get_name(call), doca_error_get_name(wanted))

struct config {
	char recorded[256]; /* "text=abc number=5 on=1 " */
	doca_error_t answer;
	unsigned int calls;
};

extern struct config config;

enum param_flag {
	MANDATORY = 1 << 0,
	CLI_ONLY = 1 << 1,
	MULTIPLICITY = 1 << 2,
	SINGULAR = 1 << 3,
	INHERITED = 1 << 4,
	HIDDEN = 1 << 5,
};

/* Setup and teardown: initialize and destroy the parser. */
int argp_setup(void **state);
int argp_teardown(void **state);

/* Callbacks that record what they receive and return config.answer. */
doca_error_t record_text(void *param, void *conf);
doca_error_t record_number(void *param, void *conf);
doca_error_t record_on(void *param, void *conf);
doca_error_t record_real(void *param, void *conf);
doca_error_t record_json(void *param, void *conf);
void record(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A complete parameter; either name may be NULL. */
struct doca_argp_param *make_param(const char *short_name, const char *long_name,
				   enum doca_argp_type type, unsigned int flags);
doca_error_t add(const char *short_name, const char *long_name, enum doca_argp_type type,
		 unsigned int flags);
doca_error_t add_to(struct doca_argp_cmd *cmd, const char *short_name, const char *long_name,
		    enum doca_argp_type type, unsigned int flags);
struct doca_argp_cmd *make_cmd(const char *name);

/* doca_argp_start() with "prog" and these. */
doca_error_t start_args(const char *const *args);
#define start(...)   start_args((const char *const[]){__VA_ARGS__, NULL})
#define start_bare() start_args((const char *const[]){NULL})

/* Run play() in a process of its own, its standard output in out: its exit code, or 1000 + signal. */
int run_apart(void (*play)(void), char *out, size_t size);

/* Write these bytes to a file; its path is the same at each call. */
const char *write_file(const char *bytes, size_t len);
#define write_text(text) write_file(text, strlen(text))
/* doca_argp_start() with a JSON file. */
doca_error_t start_json(const char *text);

#endif
