/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* From linux/fs.h of Linux 6.11. */
struct query {
	uint64_t size;
	uint64_t flags;
	uint64_t addr;
	uint64_t from, to;
	uint64_t is; /* QUERY_* */
	uint64_t page_size;
	uint64_t offset;
	uint64_t ino;
	uint32_t major, minor;
	uint32_t name_size, build_id_size;
	uint64_t name, build_id;
};

#define QUERY	       _IOWR('f', 17, struct query)
#define QUERY_READABLE 0x01u
#define QUERY_WRITABLE 0x02u
#define QUERY_SHARED   0x08u

/* The file of the process that was asked last: the next question is likely to be for it. */
static struct {
	pid_t pid;
	int fd;
} asked = {.fd = -1};

static void path_of(pid_t pid, char (*path)[32])
{
	snprintf(*path, sizeof(*path), "/proc/%d/maps", (int)pid);
}

void emu_mappings_forget(void)
{
	if (asked.fd >= 0)
		close(asked.fd);
	asked.fd = -1;
}

static int file_of(pid_t pid)
{
	char path[32];

	if (asked.fd >= 0 && asked.pid == pid)
		return asked.fd;
	emu_mappings_forget();
	path_of(pid, &path);
	asked.pid = pid;
	asked.fd = open(path, O_RDONLY | O_CLOEXEC);
	return asked.fd;
}

void emu_mappings_begin(struct emu_mappings *maps, pid_t pid)
{
	*maps = (struct emu_mappings){.pid = pid};
}

void emu_mappings_end(struct emu_mappings *maps)
{
	if (maps->lines)
		fclose(maps->lines);
}

static void take_answer(const struct query *q, const char *name, struct emu_mapping *m)
{
	*m = (struct emu_mapping){
		.from = q->from,
		.to = q->to,
		.offset = q->offset,
		.read = q->is & QUERY_READABLE,
		.write = q->is & QUERY_WRITABLE,
		.shared = q->is & QUERY_SHARED,
		.backing = {.major = q->major, .minor = q->minor, .ino = q->ino},
	};
	memcpy(m->backing.path, name, strnlen(name, sizeof(m->backing.path) - 1));
}

/* False: the kernel has no queries. */
static bool ask(pid_t pid, uint64_t addr, struct emu_mapping *m, bool *found)
{
	char name[PATH_MAX] = "";
	struct query q = {
		.size = sizeof(q),
		.addr = addr,
		.name = (uintptr_t)name,
		.name_size = sizeof(name),
	};
	const int fd = file_of(pid);

	*found = fd >= 0 && !ioctl(fd, QUERY, &q);
	if (!*found)
		return errno == ENOENT || errno == ESRCH;
	take_answer(&q, name, m);
	return true;
}

/* False for the rest of an overlong line. */
static bool parse(const char *line, struct emu_mapping *m)
{
	struct emu_backing *b = &m->backing;
	char perm[5] = "";

	*m = (struct emu_mapping){0};
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %15s", &m->from,
		   &m->to, perm, &m->offset, &b->major, &b->minor, &b->ino, b->path) < 3)
		return false;
	m->read = perm[0] == 'r';
	m->write = perm[1] == 'w';
	m->shared = perm[3] == 's';
	return true;
}

static bool read_on(struct emu_mappings *maps, uint64_t addr, struct emu_mapping *m)
{
	char path[32], line[512];

	if (!maps->lines) {
		path_of(maps->pid, &path);
		maps->lines = fopen(path, "re");
	}
	while (maps->lines && fgets(line, sizeof(line), maps->lines))
		if (parse(line, m) && m->to > addr)
			return m->from <= addr;
	return false;
}

bool emu_mappings_find(struct emu_mappings *maps, uint64_t addr, struct emu_mapping *m)
{
	bool found;

	return ask(maps->pid, addr, m, &found) ? found : read_on(maps, addr, m);
}
