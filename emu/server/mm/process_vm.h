/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory of another process, also in containers whose system call filter forbids process_vm_*. */
#ifndef EMU_PROCESS_VM_H
#define EMU_PROCESS_VM_H

#include <sys/types.h>
#include <sys/uio.h>

/*
 * As process_vm_readv() and process_vm_writev(): copy from `there`, memory of the process, to `here`;
 * and from `here` to `there`.
 */
ssize_t emu_process_read(pid_t pid, const struct iovec *here, unsigned int nhere,
			 const struct iovec *there, unsigned int nthere);
ssize_t emu_process_write(pid_t pid, const struct iovec *here, unsigned int nhere,
			  const struct iovec *there, unsigned int nthere);

#endif
