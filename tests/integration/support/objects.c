/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "objects.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/proto.h"
#include "fixture.h"
#include "process.h"

static bool is_object(const char *name)
{
	/* These describe the emulator and its work, not live objects. */
	static const char *const others[] = {
		"profile",  "guid",	      "nodes",	"cards", "functions", "clients", "channels",
		"commands", "command_errors", "copies", "bytes", "errors",    "process",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

/* Read the output of `dpumap-emu status`; closes the descriptor. */
static bool parse(int fd, struct objects *counts)
{
	struct object_count one = {0};
	FILE *stream = fdopen(fd, "r");
	char line[256];

	counts->n = 0;
	if (!stream) {
		close(fd);
		return false;
	}
	while (fgets(line, sizeof(line), stream) && counts->n < OBJECTS_MAX)
		if (sscanf(line, "%31s %lu", one.name, &one.value) == 2 && is_object(one.name))
			counts->counts[counts->n++] = one;
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
	parsed = parse(from, counts);
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
