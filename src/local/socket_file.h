/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Listening on Unix sockets, and their files. */
#ifndef DPUMAP_LOCAL_SOCKET_FILE_H
#define DPUMAP_LOCAL_SOCKET_FILE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#include "local/error.h"

/* The socket file that was created, so that no other is removed. */
struct dpumap_socket_file {
	struct sockaddr_un address;
	dev_t device;
	ino_t inode;
};

/*
 * A listening Unix socket at address, which is the caller's. Other users can connect if open_to_all.
 * A socket whose server has ended is replaced. IN_USE: a server listens there; AGAIN: one is starting
 * there; NOT_PERMITTED: other users could replace the socket.
 */
doca_error_t dpumap_socket_file_listen(const struct sockaddr_un *address, bool open_to_all, int *fd,
				       struct dpumap_socket_file *file, struct dpumap_error *error);
/*
 * Removes a socket of the current user whose server has ended, also by a signal, and its lock. Servers that listen or
 * are starting do not notice.
 */
void dpumap_socket_file_remove_dead(const struct sockaddr_un *address);
/* Removes the socket file if it is still the one that was created. */
void dpumap_socket_file_remove(const struct dpumap_socket_file *file);
/* Changes open_to_all of dpumap_socket_file_listen(), if the file is still the one created. */
doca_error_t dpumap_socket_file_open_to(const struct dpumap_socket_file *file, bool all,
					struct dpumap_error *error);

#endif
