/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "footprint.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

static long status_field(pid_t pid, const char *name)
{
	FILE *f = open_of(pid, "status");
	size_t n = strlen(name);
	long value = -1;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, n) && line[n] == ':')
			value = strtol(line + n + 1, NULL, 10);
	if (f)
		fclose(f);
	return value;
}

static long heap_size(pid_t pid)
{
	FILE *f = open_of(pid, "smaps");
	bool in_heap = false;
	char line[512];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, "[heap]"))
			in_heap = true;
		if (!in_heap || strncmp(line, "Rss:", 4) != 0)
			continue;
		kib += strtol(line + 4, NULL, 10);
		in_heap = false;
	}
	if (f)
		fclose(f);
	return kib;
}

long footprint_descriptors(pid_t pid)
{
	char path[64];
	long n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void read_maps(pid_t pid, struct footprint *footprint)
{
	FILE *f = open_of(pid, "maps");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		footprint->maps++;
		if (strstr(line, "libasan") || strstr(line, "libtsan"))
			footprint->sanitized = true;
	}
	if (f)
		fclose(f);
}

struct footprint footprint_of(pid_t pid)
{
	struct footprint footprint = {
		.anon_kib = status_field(pid, "RssAnon"),
		.heap_kib = heap_size(pid),
		.threads = status_field(pid, "Threads"),
		.descriptors = footprint_descriptors(pid),
	};

	read_maps(pid, &footprint);
	return footprint;
}
