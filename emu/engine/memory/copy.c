/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Moving bytes. A device has user memory pinned; here the program may have unmapped it, so the
 * engine lets the kernel copy, or copies under a guard (guard.c): a fault is an error. Direct
 * system calls: an interposed or a sanitizer's version of the functions must not run in this
 * thread.
 */
#include "emu/engine/memory/copy.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "emu/engine/memory/dmabuf.h"
#include "emu/engine/memory/guard.h"
#include "emu/engine/memory/memory.h"
#include "emu/engine/memory/wire.h"

#define WORD	 8u
#define TRUST_NS 1000000u /* how long a check of the signal handlers is trusted */

/* A copy within this process; false if it was not possible, when some of it may be done. */
static inline bool guarded_copy(struct emu_memory *mem, void *dst, const void *src, size_t len)
{
	bool safe = mem->guard.asked && *mem->now - mem->guard.asked < TRUST_NS
			    ? mem->guard.safe
			    : emu_guard_check(mem);

	return safe && emu_guard_copy(dst, src, len);
}

static long vm_io(long call, int32_t pid, void *buf, uint64_t addr, size_t len)
{
	struct iovec local = {.iov_base = buf, .iov_len = len};
	struct iovec remote = {.iov_base = emu_own(addr), .iov_len = len};

	return syscall(call, (long)pid, &local, 1ul, &remote, 1ul, 0ul);
}

static void forget_fd(struct emu_mem_fd *m)
{
	if (m->pid)
		syscall(SYS_close, m->fd);
	m->pid = 0;
}

void emu_memory_close_fds(struct emu_memory *mem)
{
	for (unsigned int i = 0; i < ENGINE_MEM_FDS; i++)
		forget_fd(&mem->fds.of[i]);
	if (mem->no_vm && mem->scratch_fd >= 0)
		syscall(SYS_close, mem->scratch_fd);
}

/* process_vm_* is missing under user-mode emulation of another CPU, and in some containers. */
void emu_memory_probe(struct emu_memory *mem)
{
	uint8_t byte;

	mem->no_vm = vm_io(SYS_process_vm_readv, mem->pid, &byte, (uintptr_t)mem->bounce, 1) != 1;
	if (mem->no_vm)
		mem->scratch_fd = (int)syscall(SYS_memfd_create, "emu-dma-engine", MFD_CLOEXEC);
}

static struct emu_mem_fd *mem_fd(struct emu_memory *mem, int32_t pid)
{
	struct emu_mem_fd *m;
	char path[32];

	for (unsigned int i = 0; i < ENGINE_MEM_FDS; i++)
		if (mem->fds.of[i].pid == pid)
			return &mem->fds.of[i];
	m = &mem->fds.of[mem->fds.next++ % ENGINE_MEM_FDS];
	forget_fd(m);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	m->fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (m->fd < 0)
		return NULL;
	m->pid = pid;
	return m;
}

/*
 * Without process_vm_*, another process: read its memory as a file (which ignores write
 * protection).
 */
static long other_process_io(struct emu_memory *mem, long call, int32_t pid, void *buf,
			     uint64_t addr, size_t len)
{
	struct emu_mem_fd *m = mem_fd(mem, pid);
	long r;

	if (!m)
		return -1;
	r = call == SYS_process_vm_readv ? pread64(m->fd, buf, len, (off64_t)addr)
					 : pwrite64(m->fd, buf, len, (off64_t)addr);
	if (r <= 0)
		forget_fd(m); /* of a process that has ended; another process may get its pid */
	return r;
}

/* Without process_vm_*, this process: through a file, so that the kernel handles the fault. */
static long own_io(const struct emu_memory *mem, long call, void *buf, uint64_t addr, size_t len)
{
	bool read = call == SYS_process_vm_readv;
	ssize_t r = pwrite(mem->scratch_fd, read ? emu_own(addr) : buf, len, 0);

	return r <= 0 ? r : pread(mem->scratch_fd, read ? buf : emu_own(addr), (size_t)r, 0);
}

static long io(struct emu_memory *mem, long call, int32_t pid, void *buf, uint64_t addr, size_t len)
{
	if (!mem->no_vm)
		return vm_io(call, pid, buf, addr, len);
	if (pid != mem->pid)
		return other_process_io(mem, call, pid, buf, addr, len);
	return own_io(mem, call, buf, addr, len);
}

/* Copy between `buf`, memory of this process, and memory of a process. */
static bool transfer(struct emu_memory *mem, long call, int32_t pid, void *buf, uint64_t addr,
		     size_t len)
{
	uint8_t *p = buf;

	while (len) {
		long r = io(mem, call, pid, p, addr, len);

		if (r <= 0)
			return false;
		p += r;
		addr += (uint64_t)r;
		len -= (size_t)r;
	}
	return true;
}

/*
 * A program may poll for the last word, which a device writes last. The kernel copies in any order, but the second call
 * after the first one.
 */
static bool transfer_in_order(struct emu_memory *mem, long call, int32_t pid, void *buf,
			      uint64_t addr, size_t len)
{
	const uint64_t to = call == SYS_process_vm_readv ? (uintptr_t)buf : addr;
	const uint64_t last = (to + len - 1) & ~(uint64_t)(WORD - 1);
	const size_t first = len && last > to ? (size_t)(last - to) : 0;

	return transfer(mem, call, pid, buf, addr, first) &&
	       transfer(mem, call, pid, (uint8_t *)buf + first, addr + first, len - first);
}

static bool fetch(struct emu_memory *mem, const struct emu_seg *s, void *buf, size_t len)
{
	if (s->mkey)
		return emu_dmabuf_read(mem, s, buf, len);
	if (s->pid == EMU_SEG_NULL)
		memset(buf, 0, len);
	else if (s->pid)
		return transfer(mem, SYS_process_vm_readv, s->pid, buf, s->addr, len);
	else
		memcpy(buf, mem->dm + s->addr, len);
	return true;
}

static bool store(struct emu_memory *mem, const struct emu_seg *s, void *buf, size_t len)
{
	if (s->mkey)
		return emu_dmabuf_write(mem, s, buf, len);
	if (s->pid)
		return transfer_in_order(mem, SYS_process_vm_writev, s->pid, buf, s->addr, len);
	memcpy(mem->dm + s->addr, buf, len);
	return true;
}

static bool is_local(const struct emu_memory *mem, const struct emu_seg *s)
{
	return !s->mkey && (!s->pid || s->pid == mem->pid);
}

static void *local_ptr(const struct emu_memory *mem, const struct emu_seg *s)
{
	return s->pid ? emu_own(s->addr) : mem->dm + s->addr;
}

static inline bool copy_here(struct emu_memory *mem, const struct emu_seg *dst,
			     const struct emu_seg *src, size_t len)
{
	return is_local(mem, dst) && is_local(mem, src) && (dst->pid || src->pid) &&
	       guarded_copy(mem, local_ptr(mem, dst), local_ptr(mem, src), len);
}

/* One copy inside the kernel, if it can take one of the sides as local. */
static bool copy_once(struct emu_memory *mem, const struct emu_seg *dst, const struct emu_seg *src,
		      size_t len)
{
	if (src->pid == EMU_SEG_NULL)
		return false;
	if (dst->mkey)
		return is_local(mem, src) && emu_dmabuf_write(mem, dst, local_ptr(mem, src), len);
	if (src->mkey)
		return is_local(mem, dst) && emu_dmabuf_read(mem, src, local_ptr(mem, dst), len);
	if (!dst->pid && !src->pid) {
		memmove(mem->dm + dst->addr, mem->dm + src->addr, len);
		return true;
	}
	if (mem->no_vm)
		return false;
	if (dst->pid && is_local(mem, src))
		return transfer_in_order(mem, SYS_process_vm_writev, dst->pid, local_ptr(mem, src),
					 dst->addr, len);
	if (src->pid && is_local(mem, dst))
		return transfer_in_order(mem, SYS_process_vm_readv, src->pid, local_ptr(mem, dst),
					 src->addr, len);
	return false;
}

/* The copy through the bounce buffer also tells on which side a fault is. */
static enum emu_copy_fault copy_by_kernel(struct emu_memory *mem, const struct emu_seg *dst,
					  const struct emu_seg *src, size_t len)
{
	if (dst->pid == EMU_SEG_NULL || copy_once(mem, dst, src, len))
		return EMU_COPY_OK;
	if (!fetch(mem, src, mem->bounce, len))
		return EMU_COPY_SRC;
	if (!store(mem, dst, mem->bounce, len))
		return EMU_COPY_DST;
	return EMU_COPY_OK;
}

static inline enum emu_copy_fault copy_piece(struct emu_memory *mem, const struct emu_seg *dst,
					     const struct emu_seg *src, size_t len)
{
	return copy_here(mem, dst, src, len) ? EMU_COPY_OK : copy_by_kernel(mem, dst, src, len);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

enum emu_copy_fault emu_memory_copy(struct emu_memory *mem, const struct emu_seg_list *dst,
				    const struct emu_seg_list *src, uint64_t len)
{
	const struct emu_seg *d = dst->seg;
	const struct emu_seg *s = src->seg;
	uint64_t d_off = 0;
	uint64_t s_off = 0;

	if (len && dst->n == 1 && src->n == 1)
		return copy_piece(mem, d, s, (size_t)len);
	while (len) {
		uint64_t n = least(len, least(d->len - d_off, s->len - s_off));
		struct emu_seg to = {d->addr + d_off, n, d->pid, d->mkey};
		struct emu_seg from = {s->addr + s_off, n, s->pid, s->mkey};
		enum emu_copy_fault fault = copy_piece(mem, &to, &from, (size_t)n);

		if (fault != EMU_COPY_OK)
			return fault;
		len -= n;
		d_off += n;
		s_off += n;
		if (d_off == d->len) {
			d_off = 0;
			d++;
		}
		if (s_off == s->len) {
			s_off = 0;
			s++;
		}
	}
	return EMU_COPY_OK;
}

void emu_memory_spoil(struct emu_memory *mem, const struct emu_seg_list *at, uint64_t from,
		      uint64_t n)
{
	for (const struct emu_seg *s = at->seg; n; s++) {
		uint64_t skip = least(from, s->len), len = least(n, s->len - skip);
		const struct emu_seg part = {s->addr + skip, len, s->pid, s->mkey};

		from -= skip;
		n -= len;
		if (!len || s->pid == EMU_SEG_NULL || !fetch(mem, &part, mem->bounce, len))
			continue;
		for (uint64_t i = 0; i < len; i++)
			mem->bounce[i] ^= 1;
		(void)store(mem, &part, mem->bounce, len);
	}
}

/*
 * Is the cell mapped and writable? Adding 0 with FUTEX_WAKE_OP is an atomic write access of the
 * kernel that changes nothing. What another thread unmaps after it is that thread's mistake.
 */
static bool writable(uint64_t addr)
{
	uint32_t here = 0;
	long r = syscall(SYS_futex, &here, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0ul,
			 emu_own(addr), FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));

	return r >= 0;
}

static bool change_here(struct emu_memory *mem, const struct emu_seg *seg, emu_change_fn *change,
			void *arg)
{
	uint64_t *cell = NULL;

	if (seg->mkey)
		cell = emu_dmabuf_cell(mem, seg);
	else if (!seg->pid || writable(seg->addr))
		cell = local_ptr(mem, seg);
	if (cell)
		change(cell, arg);
	return cell;
}

/* In memory of another process: only the lock makes it atomic. */
static bool change_there(struct emu_memory *mem, const struct emu_seg *seg, emu_change_fn *change,
			 void *arg)
{
	uint64_t value;

	if (seg->pid == EMU_SEG_NULL || !fetch(mem, seg, &value, sizeof(value)))
		return false;
	change(&value, arg);
	return store(mem, seg, &value, sizeof(value));
}

/* An engine that ended while it held the lock holds it no more. */
static bool lock_atomics(struct emu_memory *mem)
{
	_Atomic uint64_t *lock = &mem->queues->atomic_owner;
	uint64_t owner = 0;
	uint32_t slot;

	if (atomic_compare_exchange_strong(lock, &owner, mem->owner))
		return true;
	slot = (uint32_t)owner - 1;
	if (slot < EMU_MAX_ENGINES && atomic_load(&mem->queues->engine[slot].serial) == owner >> 32)
		return false;
	return atomic_compare_exchange_strong(lock, &owner, mem->owner);
}

enum emu_atomic emu_memory_atomic(struct emu_memory *mem, const struct emu_seg *seg,
				  emu_change_fn *change, void *arg)
{
	bool done;

	if (seg->len < 8 || seg->addr % 8)
		return EMU_ATOMIC_FAULT;
	if (!lock_atomics(mem))
		return EMU_ATOMIC_BUSY;
	if (seg->mkey || is_local(mem, seg))
		done = change_here(mem, seg, change, arg);
	else
		done = change_there(mem, seg, change, arg);
	atomic_store(&mem->queues->atomic_owner, 0);
	return done ? EMU_ATOMIC_DONE : EMU_ATOMIC_FAULT;
}
