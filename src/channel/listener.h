/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sockets that the server listens on. */
#ifndef DPUMAP_CHANNEL_LISTENER_H
#define DPUMAP_CHANNEL_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel/address.h"
#include "local/error.h"
#include "local/quota.h"

#define DPUMAP_LISTEN_BACKLOG 512

struct dpumap_listener;

/*
 * A stale Unix socket file is replaced; IN_USE if a server listens on it, ALREADY_EXIST if the path
 * is not a socket, AGAIN while another server starts there. With open_to_all all users can connect
 * (the caller checks their credentials), otherwise the owner and root. On TCP, the host is a local
 * address or * for all; port 0 selects a free port.
 */
doca_error_t dpumap_listener_create(const struct dpumap_address *address, bool open_to_all,
				    struct dpumap_listener **listener, struct dpumap_error *error);
/* Takes over a listening socket that was inherited; its file is not removed. */
doca_error_t dpumap_listener_adopt(int fd, struct dpumap_listener **listener,
				   struct dpumap_error *error);
/* Does it listen at the address? Port 0 and the port chosen for it are the same address. */
bool dpumap_listener_is_at(const struct dpumap_listener *listener,
			   const struct dpumap_address *address);
/* Writes the address to text, with the port that was chosen. */
void dpumap_listener_describe(const struct dpumap_listener *listener, char *text, size_t size);
/* Changes open_to_all of a Unix socket created here. */
doca_error_t dpumap_listener_open_to(const struct dpumap_listener *listener, bool all,
				     struct dpumap_error *error);
/* Was it inherited? */
bool dpumap_listener_is_adopted(const struct dpumap_listener *listener);
/* Removes the socket file if it is still the one created. NULL is allowed. */
void dpumap_listener_destroy(struct dpumap_listener *listener);
int dpumap_listener_fd(const struct dpumap_listener *listener);
enum dpumap_address_kind dpumap_listener_kind(const struct dpumap_listener *listener);

#define DPUMAP_PEER_TEXT_MAX 64 /* with the NUL */

struct dpumap_peer {
	enum dpumap_address_kind kind;
	char text[DPUMAP_PEER_TEXT_MAX]; /* for logs: "uid 0 pid 7", "192.0.2.1:4000" */
	/* Who it is before it has authenticated: "uid:0", "192.0.2.1", "2001:db8::/64" */
	char source[DPUMAP_QUOTA_SOURCE_MAX];
	pid_t pid; /* the credentials: of a Unix socket's peer */
	uid_t uid;
	gid_t gid;
};

/*
 * AGAIN: no connection; CONNECTION_RESET: the peer has disconnected; FULL: out of file descriptors.
 * The caller owns *fd.
 */
doca_error_t dpumap_listener_accept(struct dpumap_listener *listener, int *fd,
				    struct dpumap_peer *peer, struct dpumap_error *error);

#endif
