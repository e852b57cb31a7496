/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An emulator of a test's own inside the one it runs on, to be ended or watched; and this program
 * started anew on it, in a role that a name tells.
 */
#ifndef DPUMAP_TESTS_INNER_H
#define DPUMAP_TESTS_INNER_H

#include <stdbool.h>
#include <sys/types.h>

#define INNER_ROLE_ENV "DPUMAP_TEST_ROLE"

struct inner {
	char dir[80];
	pid_t server;
};

bool inner_start(struct inner *inner);
/* By `dpumap-emu stop'. */
bool inner_stop(const struct inner *inner);

/* The process that serves a directory: what the kernel says of its control socket; or -1. */
pid_t inner_server_of(const char *dir);

/* As rig_spawn(). */
pid_t inner_spawn(const struct inner *inner, const char *side, const char *role, int *to,
		  int *from);

#endif
