/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * usage: fleet_probe watch|publish FLEET [DPU] [--OPTION VALUE]...
 *
 * Drives libdpumap-fleet for the tests in Python: commands on standard input, answers and events as
 * lines of JSON on standard output.
 */
#include "probe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void probe_print(const char *event, struct json_object *json)
{
	probe_add(json, "event", event);
	printf("%s\n", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN));
	fflush(stdout);
	json_object_put(json);
}

void probe_add(struct json_object *json, const char *field, const char *text)
{
	json_object_object_add(json, field, json_object_new_string(text));
}

void probe_add_number(struct json_object *json, const char *field, long long number)
{
	json_object_object_add(json, field, json_object_new_int64(number));
}

static void run_line(const struct probe_loop *loop, char *line)
{
	char *words[WORDS_MAX], *rest = line, *word;
	size_t num = 0;

	while (num < WORDS_MAX && (word = strtok_r(rest, " ", &rest)) != NULL)
		words[num++] = word;
	if (num)
		loop->command(loop->context, words, num);
}

/* false: the input has ended. */
static bool read_lines(const struct probe_loop *loop)
{
	static char input[1 << 16];
	static size_t used;
	ssize_t got = read(STDIN_FILENO, input + used, sizeof(input) - used - 1);
	char *end, *line = input;

	if (got <= 0)
		return false;
	used += (size_t)got;
	input[used] = '\0';
	while ((end = strchr(line, '\n')) != NULL) {
		*end = '\0';
		run_line(loop, line);
		line = end + 1;
	}
	used -= (size_t)(line - input);
	memmove(input, line, used);
	return true;
}

void probe_run(const struct probe_loop *loop)
{
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				{.fd = loop->fd, .events = POLLIN}};

	for (;;) {
		fds[0].revents = fds[1].revents = 0;
		if (poll(fds, 2, loop->next_ms(loop->context)) < 0 && errno != EINTR)
			return;
		loop->process(loop->context);
		if ((fds[0].revents & (POLLIN | POLLHUP)) && !read_lines(loop))
			return;
	}
}

static void set_option(struct probe_options *o, const char *name, const char *value)
{
	if (strcmp(name, "--endpoint") == 0 && o->num_endpoints < ENDPOINTS_MAX)
		o->endpoints[o->num_endpoints++] = value;
	else if (strcmp(name, "--ca") == 0)
		o->ca = value;
	else if (strcmp(name, "--cert") == 0)
		o->cert = value;
	else if (strcmp(name, "--key") == 0)
		o->key = value;
	else if (strcmp(name, "--user") == 0)
		o->user = value;
	else if (strcmp(name, "--password-file") == 0)
		o->password_file = value;
	else if (strcmp(name, "--cache") == 0)
		o->cache = value;
	else if (strcmp(name, "--only") == 0)
		o->dpu = value;
	else if (strcmp(name, "--ttl") == 0)
		o->ttl_s = (unsigned int)atoi(value);
	else if (strcmp(name, "--timeout") == 0)
		o->timeout_ms = (unsigned int)atoi(value);
	else
		exit(fprintf(stderr, "unknown option %s\n", name));
}

int main(int argc, char **argv)
{
	struct probe_options options = {0};
	bool publishes = argc > 1 && strcmp(argv[1], "publish") == 0;
	int i = publishes ? 4 : 3;

	if (argc < i)
		return fprintf(stderr, "usage: fleet_probe watch|publish FLEET [DPU] ...\n");
	options.fleet = argv[2];
	options.dpu = publishes ? argv[3] : NULL;
	for (; i + 1 < argc; i += 2)
		set_option(&options, argv[i], argv[i + 1]);
	return publishes ? probe_publish(&options) : probe_watch(&options);
}
