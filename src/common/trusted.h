/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files that decide who may do what: nobody but us and root may have a hand in them. */
#ifndef DPUMAP_COMMON_TRUSTED_H
#define DPUMAP_COMMON_TRUSTED_H

#include <stdbool.h>

#include "common/fault.h"

/*
 * Opens a regular file for reading. NOT_PERMITTED, with the name of what is at fault, when anybody
 * but root and our own user could have written it or put another in its place: the file's owner and
 * mode, and those of every directory on the way, links included. A directory that all may write to,
 * like /tmp, will do if it is sticky. A secret must not be readable by others either.
 */
doca_error_t dpumap_trusted_open(const char *path, bool is_secret, int *fd,
				 struct dpumap_fault *fault);

/*
 * Is a Unix socket at this path, if there is one, of somebody who was let in there? NOT_PERMITTED
 * when anybody could have put it there: its directories may belong to others, but nobody else may
 * write to them.
 */
doca_error_t dpumap_trusted_place(const char *path, struct dpumap_fault *fault);

#endif
