/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The limit on locked memory, which applies to registered memory and to queues. */
#ifndef DPUMAP_COMMON_MEMLOCK_H
#define DPUMAP_COMMON_MEMLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/error.h"

/* With CAP_IPC_LOCK, the kernel does not enforce the limit. */
bool dpumap_memlock_is_exempt(void);

/*
 * As dpumap_error_doca(), for a failed call that locks this many bytes. The library cannot tell a
 * limit from a lack of memory: the line names the limit where it is the cause, or may be.
 */
doca_error_t dpumap_error_locking(struct dpumap_error *error, doca_error_t code, size_t bytes,
				  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
