/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define UAR_BYTES (256ull << 20)

struct emu_segments emu_segments;
struct emu_tables *emu_tables;
struct emu_queues *emu_queues;
struct emu_private *emu_private;

/* Sealed: a client that truncates a segment would end all who map it by SIGBUS. */
static int make_segment(const char *name, size_t len, int *fd, void **p)
{
	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return -errno;
	if (ftruncate(*fd, (off_t)len) ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	if (!p)
		return 0;
	*p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return *p == MAP_FAILED ? -errno : 0;
}

/* Clients get the tables through a descriptor that cannot be mapped for writing. */
static int open_readonly(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int make_private(void)
{
	void *p = mmap(NULL, sizeof(*emu_private), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || madvise(p, sizeof(*emu_private), MADV_DONTDUMP))
		return -errno;
	emu_private = p;
	return 0;
}

int emu_segments_create(void)
{
	void *tables = NULL, *queues = NULL;
	struct stat st;
	int err;

	err = make_segment("dpumap-emu-tables", sizeof(struct emu_tables), &emu_segments.tables_fd,
			   &tables);
	if (!err)
		err = make_segment("dpumap-emu-queues", sizeof(struct emu_queues),
				   &emu_segments.queues_fd, &queues);
	if (!err)
		err = make_segment("dpumap-emu-dm", EMU_DM_BYTES, &emu_segments.dm_fd, NULL);
	if (!err)
		err = make_segment("dpumap-emu-uar", UAR_BYTES, &emu_segments.uar_fd, NULL);
	if (!err)
		err = make_private();
	if (err || !tables)
		return err;
	if (fstat(emu_segments.uar_fd, &st))
		return -errno;
	emu_segments.uar_ino = st.st_ino;
	emu_segments.tables_ro_fd = open_readonly(emu_segments.tables_fd);
	if (emu_segments.tables_ro_fd < 0)
		return -errno;
	emu_tables = tables;
	emu_queues = queues;
	emu_tables->generation = 5;
	return 0;
}

uint32_t emu_new_serial(void)
{
	static uint32_t last;

	if (++last == 0)
		++last;
	return last;
}
