/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Listening on Unix sockets, and their files. */
#ifndef DPUMAP_CHANNEL_LISTENER_UNIX_H
#define DPUMAP_CHANNEL_LISTENER_UNIX_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#include "channel/address.h"
#include "common/fault.h"

/* The socket file that was created, so that no other is removed. */
struct dpumap_socket_file {
	struct sockaddr_un address;
	dev_t device;
	ino_t inode;
};

/* A listening Unix socket, which is the caller's; see dpumap_listener_create(). */
doca_error_t dpumap_listen_unix(const struct dpumap_address *address, bool open_to_all, int *fd,
				struct dpumap_socket_file *file, struct dpumap_fault *fault);
/* Removes the socket file if it is still the one that was created. */
void dpumap_socket_file_remove(const struct dpumap_socket_file *file);
/* Changes open_to_all of dpumap_listen_unix(), if the file is still the one created. */
doca_error_t dpumap_socket_file_open_to(const struct dpumap_socket_file *file, bool all,
					struct dpumap_fault *fault);

#endif
