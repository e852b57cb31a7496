/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/symbol.h"

#include <dlfcn.h>
#include <string.h>

/* POSIX guarantees that a function's address fits; ISO C has no such conversion. */
void dpumap_find_symbol(const char *name, void *function)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &found, sizeof(found));
}
