/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What listeners of all kinds are made of. */
#ifndef DPUMAP_CHANNEL_LISTEN_H
#define DPUMAP_CHANNEL_LISTEN_H

#include <sys/types.h>

#include "channel/channel.h"

#define DPUMAP_LISTEN_BACKLOG 512

struct dpumap_listener {
	enum dpumap_address_kind kind;
	int fd;
	bool is_adopted;
	dev_t device; /* of the socket file, to remove no other */
	ino_t inode;
	struct sockaddr_un address;
};

/* Both set fd, or leave nothing behind. */
doca_error_t dpumap_listen_unix(struct dpumap_listener *l, const struct dpumap_address *address,
				bool open_to_all, struct dpumap_fault *fault);
doca_error_t dpumap_listen_tcp(struct dpumap_listener *l, const struct dpumap_address *address,
			       struct dpumap_fault *fault);
/* Removes the socket file if it is still the one created. */
void dpumap_unlisten_unix(const struct dpumap_listener *l);

#endif
