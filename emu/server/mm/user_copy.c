/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/user_copy.h"

#include <errno.h>

#include "emu/server/card/topology.h"
#include "emu/server/mm/mapping.h"
#include "emu/server/mm/process_vm.h"

static int moved(ssize_t n, size_t len)
{
	if (n < 0)
		return errno == ESRCH || errno == EPERM ? -errno : -EFAULT;
	return (size_t)n == len ? 0 : -EFAULT;
}

int emu_copy_from(pid_t pid, void *dst, uint64_t src, size_t len)
{
	struct iovec l = {.iov_base = dst, .iov_len = len};
	struct iovec r = {.iov_base = (void *)(uintptr_t)src, .iov_len = len};

	return len ? moved(emu_process_read(pid, &l, 1, &r, 1), len) : 0;
}

/* Split the range at a page: an unmapped page then ends the copy at the page boundary. */
int emu_copy_from_upto(pid_t pid, void *dst, uint64_t src, size_t *len, size_t least)
{
	uint64_t in_page = EMU_PAGE - src % EMU_PAGE;
	struct iovec l = {.iov_base = dst, .iov_len = *len};
	struct iovec r[2] = {
		{.iov_base = (void *)(uintptr_t)src, .iov_len = *len},
		{.iov_base = (void *)(uintptr_t)(src + in_page), .iov_len = *len - in_page},
	};
	bool split = in_page < *len;
	ssize_t n;
	int err;

	if (split)
		r[0].iov_len = in_page;
	n = emu_process_read(pid, &l, 1, r, split ? 2 : 1);
	err = moved(n < (ssize_t)least ? n : (ssize_t)least, least);

	if (!err)
		*len = (size_t)n;
	return err;
}

int emu_copy_to_many(pid_t pid, const struct iovec *dst, const struct iovec *src, unsigned int n)
{
	size_t len = 0;

	for (unsigned int i = 0; i < n; i++)
		len += src[i].iov_len;
	return len ? moved(emu_process_write(pid, src, n, dst, n), len) : 0;
}

int emu_copy_to(pid_t pid, uint64_t dst, const void *src, size_t len)
{
	struct iovec l = {.iov_base = (void *)(uintptr_t)src, .iov_len = len};
	struct iovec r = {.iov_base = (void *)(uintptr_t)dst, .iov_len = len};

	return len ? moved(emu_process_write(pid, &l, 1, &r, 1), len) : 0;
}

static bool permits(pid_t pid, const struct emu_mapping *m, enum emu_use use)
{
	if (!m->read || (use >= EMU_USE_WRITE && !m->write))
		return false;
	return use < EMU_USE_PIN_WRITE || !m->shared || emu_backing_can_pin(pid, &m->backing);
}

static bool continues(const struct emu_span *s, const struct emu_mapping *m)
{
	const struct emu_backing *a = &s->backing, *b = &m->backing;

	return s->shared && m->shared && a->ino == b->ino && a->major == b->major &&
	       a->minor == b->minor && m->offset - s->offset == m->from - s->from;
}

/* The first mapping of a range; until the end, `offset` is that of the mapping. */
static void begin_span(struct emu_span *s, const struct emu_mapping *m)
{
	s->shared = m->shared;
	s->offset = m->offset;
	s->from = m->from;
	s->to = m->to;
	s->backing = m->backing;
}

static int walk_mappings(struct emu_mappings *maps, pid_t pid, uint64_t addr, uint64_t end,
			 enum emu_use use, struct emu_span *span)
{
	struct emu_mapping m;

	*span = (struct emu_span){0};
	do {
		if (!emu_mappings_find(maps, addr, &m) || !permits(pid, &m, use))
			return -EFAULT;
		if (!span->to)
			begin_span(span, &m);
		else
			span->shared = continues(span, &m);
		addr = m.to;
	} while (addr < end);
	return 0;
}

int emu_find_range(pid_t pid, uint64_t addr, uint64_t len, enum emu_use use, struct emu_span *span)
{
	struct emu_mappings maps;
	int err;

	emu_mappings_begin(&maps, pid);
	err = walk_mappings(&maps, pid, addr, addr + len, use, span);
	emu_mappings_end(&maps);
	span->offset += addr - span->from;
	return err;
}

int emu_check_range(pid_t pid, uint64_t addr, uint64_t len, enum emu_use use)
{
	struct emu_span span;

	return emu_find_range(pid, addr, len, use, &span);
}
