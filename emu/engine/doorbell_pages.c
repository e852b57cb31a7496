/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/doorbell_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/memory/wire.h"
#include "emu/engine/state.h"

#define LINE 128 /* all fields before the path */
#define SHARED \
	(1ull << 61) /* Documentation/admin-guide/mm/pagemap.rst: file page or shared memory */

struct lines {
	int fd;
	size_t at, end;
	char text[4096];
};

static int open_proc(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

/* 1: a character, 0: the end, or a negative errno. */
static int next_char(struct lines *l, char *c)
{
	if (l->at == l->end) {
		long r = syscall(SYS_read, l->fd, l->text, sizeof(l->text));

		if (r <= 0)
			return r ? -errno : 0;
		l->at = 0;
		l->end = (size_t)r;
	}
	*c = l->text[l->at++];
	return 1;
}

/* The beginning of a line. */
static int next_line(struct lines *l, char line[LINE])
{
	size_t n = 0;
	int err;
	char c = 0;

	while ((err = next_char(l, &c)) > 0 && c != '\n')
		if (n < LINE - 1)
			line[n++] = c;
	line[n] = 0;
	return err;
}

static int add_pages(const char *line, uint64_t ino, uint64_t *page, uint32_t *count)
{
	unsigned long start, end, inode;
	char rights[5];

	if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu", &start, &end, rights, &inode) != 4 ||
	    inode != ino || rights[1] != 'w' || rights[3] != 's')
		return 0;
	for (; start < end; start += EMU_DOORBELL_BYTES) {
		if (*count == ENGINE_DOORBELLS)
			return -ENOSPC;
		page[(*count)++] = start;
	}
	return 0;
}

int emu_doorbell_pages(uint64_t ino, uint64_t *page, uint32_t *count)
{
	struct lines l = {.fd = open_proc("/proc/self/maps")};
	char line[LINE];
	int err;

	*count = 0;
	if (l.fd < 0)
		return errno;
	do {
		err = next_line(&l, line);
		if (err > 0 && add_pages(line, ino, page, count))
			err = -ENOSPC;
	} while (err > 0);
	syscall(SYS_close, l.fd);
	return -err;
}

/* A page that is not present has no bits: the engine reads it first, as in each pass. */
static int check_page(int pagemap, uint64_t record, bool *exclusive)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entry;
	long r;

	(void)emu_dbr_word(record, 1);
	r = syscall(SYS_pread64, pagemap, &entry, sizeof(entry), record / page * sizeof(entry));
	if (r != sizeof(entry))
		return r < 0 ? errno : EIO;
	*exclusive = !(entry & SHARED);
	return 0;
}

struct check {
	uint32_t engine;
	int pagemap; /* -1: not open */
	bool all_exclusive;
};

/* `known` is the serial of the last queue in this place whose record was exclusive. */
static int check_record(struct check *c, const void *queue, uint64_t record, uint32_t *known)
{
	const struct emu_queue *q = queue;
	uint32_t serial = atomic_load(&q->serial);
	bool exclusive = false;
	int err;

	if (!serial || q->engine != c->engine || *known == serial)
		return 0;
	if (c->pagemap < 0)
		c->pagemap = open_proc("/proc/self/pagemap");
	if (c->pagemap < 0)
		return errno;
	err = check_page(c->pagemap, record, &exclusive);
	if (exclusive)
		*known = serial;
	c->all_exclusive = c->all_exclusive && exclusive;
	return err;
}

static int check_qp(struct engine *e, struct check *c, uint32_t n)
{
	const struct emu_qp *q = &e->cfg.queues->qp[n];

	return q->sq_wqe_count ? check_record(c, q, q->dbr_addr, &e->doorbells.exclusive_qp[n]) : 0;
}

int emu_doorbell_records_are_exclusive(struct engine *e, bool *exclusive)
{
	struct check check = {.engine = e->cfg.slot, .pagemap = -1, .all_exclusive = true};
	const struct emu_cq *cq = e->cfg.queues->cq;
	uint32_t n;
	int err = 0;

	for (uint32_t i = 0; !err && i < e->scan.qp_count; i++)
		err = check_qp(e, &check, e->scan.qp_list[i]);
	for (uint32_t i = 0; !err && i < e->scan.cq_count; i++) {
		n = e->scan.cq_list[i];
		if (cq[n].has_channel)
			err = check_record(&check, &cq[n], cq[n].dbr_addr,
					   &e->doorbells.exclusive_cq[n]);
	}
	if (check.pagemap >= 0)
		syscall(SYS_close, check.pagemap);
	*exclusive = check.all_exclusive && !err;
	return err;
}

static int find_valgrind(struct dl_phdr_info *info, size_t size, void *found)
{
	(void)size;
	(void)found;
	return info->dlpi_name && strstr(info->dlpi_name, "/vgpreload_core-");
}

bool emu_doorbell_is_valgrind(void)
{
	return dl_iterate_phdr(find_valgrind, NULL);
}
