/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/memory/dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/memory/memory.h"
#include "emu/engine/memory/wire.h"

#define CELL_PAGE 4096u

/* Does the descriptor still refer to the file? */
static bool identify(const struct emu_open_file *f, struct stat *st)
{
	return !syscall(SYS_fstat, f->fd, st) && st->st_ino == f->ino && st->st_dev == f->dev;
}

static void forget(struct emu_open_file *f)
{
	struct stat st;

	if (f->cells)
		syscall(SYS_munmap, f->cells, (size_t)CELL_PAGE);
	if (f->id && identify(f, &st))
		syscall(SYS_close, f->fd);
	memset(f, 0, sizeof(*f));
}

void emu_dmabufs_close(struct emu_memory *mem)
{
	for (unsigned int i = 0; i < ENGINE_FILES; i++)
		if (mem->dmabufs.file[i].id)
			forget(&mem->dmabufs.file[i]);
	mem->dmabufs.count = 0;
}

void emu_dmabufs_prune(struct emu_memory *mem)
{
	if (!mem->dmabufs.count)
		return;
	for (unsigned int i = 0; i < ENGINE_FILES; i++) {
		struct emu_open_file *f = &mem->dmabufs.file[i];
		uint32_t serial = atomic_load(&mem->tables->mkey[f->mkey].serial);

		if (!f->id || (serial && serial == f->serial))
			continue;
		forget(f);
		mem->dmabufs.count--;
	}
}

static bool open_file(const struct emu_memory *mem, struct emu_open_file *f, uint32_t mkey,
		      struct stat *st)
{
	const struct emu_mkey *m = &mem->tables->mkey[mkey];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)m->u.file.pid, (int)m->u.file.fd);
	f->fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (f->fd < 0)
		return false;
	if (syscall(SYS_fstat, f->fd, st) || st->st_ino != m->u.file.ino) {
		syscall(SYS_close, f->fd);
		return false;
	}
	f->ino = st->st_ino;
	f->dev = st->st_dev;
	f->id = m->u.file.id;
	f->mkey = mkey;
	f->serial = atomic_load(&m->serial);
	return true;
}

static struct emu_open_file *slot_for(struct emu_memory *mem, uint32_t id)
{
	for (unsigned int i = 0; i < ENGINE_FILES; i++)
		if (mem->dmabufs.file[i].id == id)
			return &mem->dmabufs.file[i];
	for (unsigned int i = 0; i < ENGINE_FILES; i++)
		if (!mem->dmabufs.file[i].id)
			return &mem->dmabufs.file[i];
	return &mem->dmabufs.file[mem->dmabufs.next++ % ENGINE_FILES];
}

/* The open file of a piece; NULL if it cannot be opened. */
static struct emu_open_file *file_of(struct emu_memory *mem, const struct emu_seg *s,
				     struct stat *st)
{
	uint32_t id = mem->tables->mkey[s->mkey].u.file.id;
	struct emu_open_file *f = slot_for(mem, id);

	if (f->id == id && identify(f, st))
		return f;
	if (f->id) {
		forget(f);
		mem->dmabufs.count--;
	}
	if (!open_file(mem, f, s->mkey, st))
		return NULL;
	mem->dmabufs.count++;
	return f;
}

bool emu_dmabuf_read(struct emu_memory *mem, const struct emu_seg *s, void *buf, size_t len)
{
	const struct emu_open_file *f;
	uint64_t at = s->addr;
	uint8_t *p = buf;
	struct stat st;

	f = file_of(mem, s, &st);
	if (!f)
		return false;
	while (len) {
		long r = syscall(SYS_pread64, f->fd, p, len, at);

		if (r <= 0)
			return false;
		p += r;
		at += (uint64_t)r;
		len -= (size_t)r;
	}
	return true;
}

/* Never extend the file, as write() to a truncated one would. */
bool emu_dmabuf_write(struct emu_memory *mem, const struct emu_seg *s, const void *buf, size_t len)
{
	const struct emu_open_file *f;
	const uint8_t *p = buf;
	uint64_t at = s->addr;
	struct stat st;

	f = file_of(mem, s, &st);
	if (!f || at + len > (uint64_t)st.st_size)
		return false;
	while (len) {
		long r = syscall(SYS_pwrite64, f->fd, p, len, at);

		if (r <= 0)
			return false;
		p += r;
		at += (uint64_t)r;
		len -= (size_t)r;
	}
	return true;
}

static bool map_cells(struct emu_open_file *f, uint64_t page)
{
	long p;

	if (f->cells && f->cells_at == page)
		return true;
	if (f->cells)
		syscall(SYS_munmap, f->cells, (size_t)CELL_PAGE);
	f->cells = NULL;
	p = syscall(SYS_mmap, NULL, (size_t)CELL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd,
		    page);
	if (p == -1)
		return false;
	f->cells = emu_own((uint64_t)p);
	f->cells_at = page;
	return true;
}

/* An atomic access needs a mapping, which is safe only if the file cannot shrink. */
uint64_t *emu_dmabuf_cell(struct emu_memory *mem, const struct emu_seg *s)
{
	uint64_t inner = s->addr % CELL_PAGE;
	struct emu_open_file *f;
	struct stat st;
	long seals;

	f = file_of(mem, s, &st);
	if (!f)
		return NULL;
	seals = syscall(SYS_fcntl, f->fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || s->addr + 8 > (uint64_t)st.st_size ||
	    !map_cells(f, s->addr - inner))
		return NULL;
	return (uint64_t *)(void *)(f->cells + inner);
}
