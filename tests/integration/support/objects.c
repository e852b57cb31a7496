/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "process.h"

static bool is_object(const char *name)
{
	/* These describe the emulator and its work, not live objects. */
	static const char *const others[] = {
		"profile",  "guid",	      "nodes",	"cards", "functions", "clients", "channels",
		"commands", "command_errors", "copies", "bytes", "errors",    "process",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

bool objects_read(struct objects *counts)
{
	const char *const argv[] = {test_options.emu, "status", NULL};
	struct object_count one = {0};
	char line[256];
	FILE *stream;
	int from;
	pid_t pid = process_spawn(argv, NULL, &from);

	if (pid < 0)
		return false;
	counts->n = 0;
	stream = fdopen(from, "r");
	if (!stream) {
		close(from);
		process_reap(pid);
		return false;
	}
	while (fgets(line, sizeof(line), stream) && counts->n < OBJECTS_MAX)
		if (sscanf(line, "%31s %lu", one.name, &one.value) == 2 && is_object(one.name))
			counts->counts[counts->n++] = one;
	fclose(stream);
	return !process_reap(pid) && counts->n > 0;
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
	uint64_t deadline = now_ms() + patience_ms();
	struct objects after;

	do {
		if (!objects_read(&after))
			return false;
		if (objects_equal(before, &after))
			return true;
		usleep(20000);
	} while (now_ms() < deadline);
	for (unsigned int i = 0; i < before->n && i < after.n; i++)
		if (before->counts[i].value != after.counts[i].value)
			fprintf(stderr, "%s: %lu before, %lu after\n", before->counts[i].name,
				before->counts[i].value, after.counts[i].value);
	return false;
}
