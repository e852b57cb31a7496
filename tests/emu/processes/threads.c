/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "fixture.h"

/* Print a small file; report one that only root may read. */
static void print_file(pid_t pid, const char *thread, const char *file)
{
	char path[64], text[2048];
	size_t n = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/%s", (int)pid, thread, file);
	in = fopen(path, "re");
	if (in) {
		n = fread(text, 1, sizeof(text) - 1, in);
		fclose(in);
	}
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	print_error("    %s: %s\n", file, n ? text : "(unknown)");
}

void threads_print(pid_t pid, const char *name)
{
	static const char *const files[] = {"stat", "wchan", "syscall", "stack"};
	const struct dirent *entry;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		print_error("%s: process %d, thread %s\n", name, (int)pid, entry->d_name);
		for (size_t i = 0; i < ARRAY_SIZE(files); i++)
			print_file(pid, entry->d_name, files[i]);
	}
	closedir(tasks);
}
