/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/backing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"

static bool is_one_of(const char *text, size_t len, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && memcmp(text, list[i], len) == 0)
			return true;
	return false;
}

/* A line: "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD...] - TYPE SOURCE OPTIONS". */
static bool is_in_memory(const char *line)
{
	static const char *const types[] = {"tmpfs", "devtmpfs", "hugetlbfs"};
	const char *type = strstr(line, " - ");

	return type && is_one_of(type + 3, strcspn(type + 3, " "), types, ARRAY_SIZE(types));
}

/* The kernel's own mounts of tmpfs and hugetlbfs, which no process sees: only names show them. */
static bool is_internal(const char *path)
{
	static const char *const names[] = {"/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The mount of memfds, of shared anonymous memory and of System V memory. */
static dev_t own_mount(void)
{
	static dev_t dev;
	struct stat st;
	int fd;

	if (dev)
		return dev;
	fd = memfd_create("dpumap-emu", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st))
		dev = st.st_dev;
	close(fd);
	return dev;
}

static bool can_pin(FILE *mounts, const struct emu_backing *backing)
{
	unsigned int major, minor;
	bool found = false, can = false;
	char *line = NULL;
	size_t room = 0;

	while (!found && getline(&line, &room, mounts) > 0) {
		found = sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2 &&
			major == backing->major && minor == backing->minor;
		can = found && is_in_memory(line);
	}
	free(line);
	return found ? can : is_internal(backing->path);
}

bool emu_backing_can_pin(pid_t pid, const struct emu_backing *backing)
{
	char path[40];
	FILE *mounts;
	bool can;

	if (!backing->ino || makedev(backing->major, backing->minor) == own_mount())
		return true;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	mounts = fopen(path, "re");
	if (!mounts)
		return false;
	can = can_pin(mounts, backing);
	fclose(mounts);
	return can;
}
