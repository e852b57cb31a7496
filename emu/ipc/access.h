/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An emulator belongs to one user: checks of its directory and of the process at a socket's end. */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include <stdbool.h>

/*
 * Does the directory belong to the caller, and is it closed to others? A client needs to know that
 * no other user can have created a socket there; a server (`serve`) admits no other user at all.
 * Returns 0 or a negative errno, with the reason as text in `*why`.
 */
int emu_access_check_dir(const char *dir, bool serve, const char **why);

/* Does the process at the other end belong to the same user, or to the superuser? */
bool emu_access_check_peer(int socket);

#endif
