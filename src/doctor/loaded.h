/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which file a library of this process is, and which rdma-core it is of. */
#ifndef DPUMAP_DOCTOR_LOADED_H
#define DPUMAP_DOCTOR_LOADED_H

#include <limits.h>
#include <stdbool.h>

#define DOCTOR_RDMA_CORE_MIN 44u

struct loaded_library {
	char path[PATH_MAX]; /* links resolved */
	char version[32];    /* "44.0"; empty when the name does not tell */
};

/* name is "libibverbs" or the like. False when the process has no such library. */
bool doctor_find_loaded(const char *name, struct loaded_library *library);

#endif
