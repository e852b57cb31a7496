/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Access to a client's memory, as a kernel has it: copy_from_user and copy_to_user. */
#ifndef EMU_USER_COPY_H
#define EMU_USER_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "emu/server/mm/backing.h"

/* Each returns 0, -EFAULT, or -ESRCH or -EPERM if the process cannot be accessed. */
int emu_copy_from(pid_t pid, void *dst, uint64_t src, size_t len);
int emu_copy_to(pid_t pid, uint64_t dst, const void *src, size_t len);
/* Copy up to *len bytes, but at least `least`; *len becomes the number copied. */
int emu_copy_from_upto(pid_t pid, void *dst, uint64_t src, size_t *len, size_t least);
/* Copy `n` pieces; dst[i] is as long as src[i]. */
int emu_copy_to_many(pid_t pid, const struct iovec *dst, const struct iovec *src, unsigned int n);

/* What a range of memory is for; each includes what precedes it. */
enum emu_use {
	EMU_USE_READ,
	EMU_USE_WRITE,
	EMU_USE_PIN_WRITE, /* a device may write as long as the range is registered */
};

/* The mappings of a range. */
struct emu_span {
	bool shared;	 /* consecutive pages of one file, which the process shares: */
	uint64_t offset; /* of the range in the file */
	uint64_t from;	 /* the first mapping */
	uint64_t to;
	struct emu_backing backing;
};

/* Is [addr, addr + len) mapped so that it can be used like this? */
int emu_check_range(pid_t pid, uint64_t addr, uint64_t len, enum emu_use use);
/* The same; and if it is, describe the mappings. */
int emu_find_range(pid_t pid, uint64_t addr, uint64_t len, enum emu_use use, struct emu_span *span);

#endif
