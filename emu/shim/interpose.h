/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Definitions for every file that interposes libc functions. */
#ifndef EMU_SHIM_INTERPOSE_H
#define EMU_SHIM_INTERPOSE_H

#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

/* The next definition of a libc function, looked up once. */
#define NEXT(name)                                                                  \
	({                                                                          \
		static __typeof__(&(name)) next_;                                   \
		__typeof__(&(name)) f_ = __atomic_load_n(&next_, __ATOMIC_RELAXED); \
		if (!f_) {                                                          \
			*(void **)&f_ = dlsym(RTLD_NEXT, #name);                    \
			__atomic_store_n(&next_, f_, __ATOMIC_RELAXED);             \
		}                                                                   \
		f_;                                                                 \
	})

#endif
