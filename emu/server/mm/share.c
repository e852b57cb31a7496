/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/share.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "emu/server/card/segments.h"

#define SYSV "/SYSV"

/* Descriptors of a process that are examined: a process may have very many. */
#define MAX_EXAMINED 1024

/* Entries of emu_tables.shared, from 1 on; those without users are free. */
static struct {
	unsigned int users;
	bool alone; /* (dev, ino) may also stand for another file */
} files[EMU_MAX_SHARED];
static uint32_t high = 1; /* all entries in use are below */
static uint32_t opened;

/* System V memory has its identifier as inode number, which is not unique among files. */
static bool is_sysv(const struct emu_backing *b)
{
	return strncmp(b->path, SYSV, strlen(SYSV)) == 0;
}

static bool is_file(const struct stat *st, const struct emu_backing *b)
{
	return st->st_ino == b->ino && st->st_dev == makedev(b->major, b->minor);
}

static int open_if(const char *path, const struct emu_backing *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && is_file(&st, b))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
static int open_mapping(pid_t pid, const struct emu_span *s)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, s->from,
		 s->to);
	return open_if(path, &s->backing);
}

/* Compare before opening: it may be a file on which open() has side effects. */
static int open_descriptor(pid_t pid, const char *number, const struct emu_backing *b)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", (int)pid, number);
	return !stat(path, &st) && S_ISREG(st.st_mode) && is_file(&st, b) ? open_if(path, b) : -1;
}

static int open_among_descriptors(pid_t pid, const struct emu_backing *b)
{
	const struct dirent *entry;
	unsigned int n = 0;
	char path[32];
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while (fd < 0 && n++ < MAX_EXAMINED && (entry = readdir(dir)))
		fd = open_descriptor(pid, entry->d_name, b);
	closedir(dir);
	return fd;
}

/* By the path in the line of /proc/PID/maps that begins with the mapping's addresses. */
static int open_path(pid_t pid, const struct emu_span *s)
{
	char line[PATH_MAX + 128], path[PATH_MAX + 32], range[40];
	const char *name = NULL;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	snprintf(range, sizeof(range), "%08" PRIx64 "-%08" PRIx64 " ", s->from, s->to);
	maps = fopen(path, "re");
	if (!maps)
		return -1;
	while (!name && fgets(line, sizeof(line), maps))
		if (strncmp(line, range, strlen(range)) == 0)
			name = strchr(line, '/');
	fclose(maps);
	if (!name)
		return -1;
	line[strcspn(line, "\n")] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	return open_if(path, &s->backing);
}

static int open_file(pid_t pid, const struct emu_span *s)
{
	int fd = open_mapping(pid, s);

	if (fd < 0 && !is_sysv(&s->backing))
		fd = open_path(pid, s);
	if (fd < 0 && !is_sysv(&s->backing))
		fd = open_among_descriptors(pid, &s->backing);
	return fd;
}

/* Leave most descriptors to clients. */
static bool has_room(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) || opened < limit.rlim_cur / 4;
}

static uint32_t find_open(const struct emu_backing *b)
{
	const struct emu_shared *s = emu_tables->shared;

	for (uint32_t i = 1; i < high; i++)
		if (files[i].users && !files[i].alone && s[i].ino == b->ino &&
		    s[i].dev == makedev(b->major, b->minor))
			return i;
	return 0;
}

static uint32_t find_free(void)
{
	uint32_t i = 1;

	while (i < EMU_MAX_SHARED && files[i].users)
		i++;
	return i < EMU_MAX_SHARED && has_room() ? i : 0;
}

/* Other file systems need not show at once in one mapping what was written through another one. */
static bool describe(int fd, const struct emu_backing *b, struct emu_shared *s)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) || (fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC))
		return false;
	*s = (struct emu_shared){
		.ino = b->ino,
		.dev = makedev(b->major, b->minor),
		.pid = getpid(),
		.fd = fd,
		.page = (uint64_t)(fs.f_type == HUGETLBFS_MAGIC ? fs.f_bsize
								: sysconf(_SC_PAGESIZE)),
	};
	return true;
}

static uint32_t open_new(pid_t pid, const struct emu_span *span)
{
	uint32_t i = find_free();
	int fd = i ? open_file(pid, span) : -1;

	if (fd < 0)
		return 0;
	if (!describe(fd, &span->backing, &emu_tables->shared[i])) {
		close(fd);
		return 0;
	}
	files[i].users = 1;
	files[i].alone = is_sysv(&span->backing);
	if (i >= high)
		high = i + 1;
	opened++;
	return i;
}

uint32_t emu_share_open(pid_t pid, const struct emu_span *span)
{
	uint32_t i;

	if (!span->shared)
		return 0;
	i = is_sysv(&span->backing) ? 0 : find_open(&span->backing);
	if (!i)
		return open_new(pid, span);
	files[i].users++;
	return i;
}

void emu_share_close(uint32_t index)
{
	if (!index || --files[index].users)
		return;
	close(emu_tables->shared[index].fd);
	opened--;
	while (high > 1 && !files[high - 1].users)
		high--;
}
