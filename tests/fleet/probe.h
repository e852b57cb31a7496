/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What both modes of the probe share: options, lines of JSON, and commands on standard input. */
#ifndef TESTS_FLEET_PROBE_H
#define TESTS_FLEET_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#define ENDPOINTS_MAX 16
#define WORDS_MAX     128

struct probe_options {
	const char *endpoints[ENDPOINTS_MAX];
	size_t num_endpoints;
	const char *fleet, *dpu, *ca, *cert, *key, *user, *password_file, *cache;
	unsigned int ttl_s, timeout_ms;
};

/* Prints {"event": NAME, ...} in one line and takes the object over. */
void probe_print(const char *event, struct json_object *json);
void probe_add(struct json_object *json, const char *field, const char *text);
void probe_add_number(struct json_object *json, const char *field, long long number);

/* A command: words of a line. */
typedef void probe_command_fn(void *context, char *words[], size_t num);
/*
 * Polls standard input and fd, calls process() when something happens or after the time of next_ms(),
 * and command() for each line, until the end of the input.
 */
struct probe_loop {
	int fd;
	int (*next_ms)(void *context);
	void (*process)(void *context);
	probe_command_fn *command;
	void *context;
};
void probe_run(const struct probe_loop *loop);

int probe_watch(const struct probe_options *options);
int probe_publish(const struct probe_options *options);

#endif
