/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The emulated device's count of live objects, as `dpumap-emu status` prints it. */
#ifndef DPUMAP_TESTS_OBJECTS_H
#define DPUMAP_TESTS_OBJECTS_H

#include <stdbool.h>

#define OBJECTS_MAX 32

struct objects {
	struct object_count {
		char name[32];
		unsigned long value;
	} counts[OBJECTS_MAX];
	unsigned int n;
};

bool objects_read(struct objects *objects);
bool objects_equal(const struct objects *a, const struct objects *b);
/*
 * Wait until the counts are as before: a process ends before the emulator has noticed. Print what
 * differs after 5 seconds, and return false.
 */
bool objects_wait(const struct objects *before);

#endif
