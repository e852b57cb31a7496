/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An emulator is its user's own: who may serve in a directory, and who may be at a socket's end. */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include <stdbool.h>

/*
 * Is the directory the caller's own, and closed to others? Who only connects needs to know that
 * nobody else can have put a socket there; who serves lets nobody else in at all. Returns 0 or a
 * negative errno with the reason in words.
 */
int emu_access_check_dir(const char *dir, bool serve, const char **why);

/* Is the process at the other end the same user's, or the superuser's? */
bool emu_access_check_peer(int socket);

#endif
