/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A second emulator for a test that stops, kills or inspects it, and this program started on it in
 * a role that the environment names.
 */
#ifndef DPUMAP_TESTS_EMULATOR_H
#define DPUMAP_TESTS_EMULATOR_H

#include <stdbool.h>
#include <sys/types.h>

#define EMULATOR_ROLE_ENV "DPUMAP_TEST_ROLE"

struct emulator {
	char dir[80];
	pid_t server;
};

bool emulator_start(struct emulator *emulator);
/* Stop it with `dpumap-emu stop`. */
bool emulator_stop(const struct emulator *emulator);

/*
 * The process that serves a directory, according to the peer credentials of its control socket; or
 * -1.
 */
pid_t emulator_server_of(const char *dir);

/* As process_spawn(). */
pid_t emulator_spawn(const struct emulator *emulator, const char *as, const char *role, int *to,
		     int *from);

#endif
