/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "objects.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/array.h"
#include "emu/ipc/proto.h"
#include "fixture.h"
#include "process.h"

static void add(struct objects *counts, const char *name, uint64_t value)
{
	struct object_count *one = &counts->counts[counts->n];

	if (counts->n == OBJECTS_MAX)
		return;
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->value = value;
	counts->n++;
}

static void add_members(struct objects *counts, struct json_object *objects)
{
	if (!json_object_is_type(objects, json_type_object))
		return;
	json_object_object_foreach(objects, name, value)
	{
		add(counts, name, json_object_get_uint64(value));
	}
}

/* What programs have opened with librdmacm. */
static void add_ids(struct objects *counts, struct json_object *machines)
{
	size_t num_ids = 0, num_connections = 0;

	for (size_t i = 0; machines && i < json_object_array_length(machines); i++) {
		struct json_object *ids =
			json_object_object_get(json_object_array_get_idx(machines, i), "ids");

		num_ids += json_object_array_length(ids);
		for (size_t k = 0; k < json_object_array_length(ids); k++)
			num_connections += json_object_object_get_ex(
				json_object_array_get_idx(ids, k), "connection", NULL);
	}
	add(counts, "cm_ids", num_ids);
	add(counts, "cm_connections", num_connections);
}

/* Read the output of `dpumap-emu status --json`; closes the descriptor. */
static bool parse(int fd, struct objects *counts)
{
	struct json_object *status = json_object_from_fd(fd);

	close(fd);
	counts->n = 0;
	if (!status)
		return false;
	add_members(counts, json_object_object_get(status, "objects"));
	add_ids(counts, json_object_object_get(status, "connection_managers"));
	add(counts, "contexts", json_object_get_uint64(json_object_object_get(status, "contexts")));
	add(counts, "dm_bytes", json_object_get_uint64(json_object_object_get(status, "dm_bytes")));
	json_object_put(status);
	return counts->n > 0;
}

/* Those that describe an emulator and its work, and no live objects. */
static bool is_object(const char *name)
{
	static const char *const others[] = {"nodes",	 "cards",	   "functions", "clients",
					     "channels", "commands",	   "copies",	"bytes",
					     "errors",	 "command_errors", "process",	"guid"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

/* What stands for the emulator between two machines prints lines "KIND NUMBER". Closes the descriptor. */
static bool parse_lines(int fd, struct objects *counts)
{
	struct object_count one = {0};
	FILE *stream = fdopen(fd, "r");
	char line[256];

	counts->n = 0;
	if (!stream) {
		close(fd);
		return false;
	}
	while (fgets(line, sizeof(line), stream))
		if (sscanf(line, "%31s %lu", one.name, &one.value) == 2 && is_object(one.name))
			add(counts, one.name, one.value);
	fclose(stream);
	return counts->n > 0;
}

static bool ask_program(struct objects *counts)
{
	const char *const argv[] = {test_options.emu, "status", NULL};
	bool parsed;
	int from;
	pid_t pid = process_spawn(argv, NULL, &from);

	if (pid < 0)
		return false;
	parsed = parse_lines(from, counts);
	return !process_reap(pid) && parsed;
}

/* Ask the server as `dpumap-emu status` does, which takes a hundredth of the time of starting that program. */
static bool ask_server(struct objects *counts)
{
	const struct emu_request request = {.magic = EMU_MAGIC, .op = EMU_OP_STATUS};
	struct emu_reply reply;
	int s, text = -1;
	char path[PATH_MAX], byte;

	snprintf(path, sizeof(path), "%s/control", getenv(EMU_ENV_DIR));
	s = process_connect(path);
	if (s < 0)
		return false;
	if (send(s, &request, sizeof(request), MSG_NOSIGNAL) == (ssize_t)sizeof(request) &&
	    process_receive(s, &reply, sizeof(reply)) && reply.magic == EMU_MAGIC && !reply.error)
		text = process_receive_fd(s, &byte, sizeof(byte));
	close(s);
	return text >= 0 && !lseek(text, 0, SEEK_SET) && parse(text, counts);
}

bool objects_read(struct objects *counts)
{
	return process_is_emulated() ? ask_server(counts) : ask_program(counts);
}

bool objects_equal(const struct objects *a, const struct objects *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned int i = 0; i < a->n; i++)
		if (strcmp(a->counts[i].name, b->counts[i].name) != 0 ||
		    a->counts[i].value != b->counts[i].value)
			return false;
	return true;
}

/* Long enough for a machine under load. A run of many tests that leave objects behind sets a shorter time. */
static uint64_t patience_ms(void)
{
	const char *given = getenv("DPUMAP_TEST_PATIENCE_MS");

	return given ? strtoull(given, NULL, 10) : 60000;
}

bool objects_wait(const struct objects *before)
{
	uint64_t deadline = monotonic_ms() + patience_ms();
	struct objects after;

	do {
		if (!objects_read(&after))
			return false;
		if (objects_equal(before, &after))
			return true;
		usleep(20000);
	} while (monotonic_ms() < deadline);
	for (unsigned int i = 0; i < before->n && i < after.n; i++)
		if (before->counts[i].value != after.counts[i].value)
			fprintf(stderr, "%s: %lu before, %lu after\n", before->counts[i].name,
				before->counts[i].value, after.counts[i].value);
	return false;
}
