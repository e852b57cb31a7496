/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The file of a loaded library, and its rdma-core version. */
#ifndef DPUMAP_DOCTOR_LOADED_LIBRARY_H
#define DPUMAP_DOCTOR_LOADED_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

#define DOCTOR_RDMA_CORE_MIN 44u

struct loaded_library {
	char path[PATH_MAX]; /* resolved path */
	char version[32];    /* such as "44.0"; empty if unknown */
};

/* name is such as "libibverbs". False when the library is not loaded. */
bool doctor_find_loaded(const char *name, struct loaded_library *library);

#endif
