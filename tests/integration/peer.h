/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A side in another process, on the other function of the card. Same operations, over a pipe.
 */
#ifndef DPUMAP_TESTS_PEER_H
#define DPUMAP_TESTS_PEER_H

#include "side.h"

struct peer {
	pid_t pid;
	int to;
	int from;
};

bool peer_start(struct peer *peer);
/* End it in order, or by SIGKILL; true if it ended as asked. */
bool peer_finish(struct peer *peer);
bool peer_kill(struct peer *peer);

/* DOCA_ERROR_CONNECTION_RESET when the peer is gone. */
doca_error_t peer_export_map(struct peer *peer, unsigned int map, const struct side_export *what,
			     struct side_desc *desc);
doca_error_t peer_import_map(struct peer *peer, unsigned int map, const struct side_desc *desc);
doca_error_t peer_read(struct peer *peer, unsigned int map, size_t offset, uint8_t *dst,
		       size_t len);
doca_error_t peer_write(struct peer *peer, unsigned int map, size_t offset, const uint8_t *src,
			size_t len);
doca_error_t peer_peek(struct peer *peer, unsigned int map, size_t offset, uint8_t *dst,
		       size_t len);
doca_error_t peer_stop(struct peer *peer, unsigned int map);
doca_error_t peer_drop(struct peer *peer, unsigned int map);
int peer_raw_access(struct peer *peer, uint32_t key, uint64_t addr, enum raw_use use);

/* The other end: serve until stdin ends. Returns the exit status. */
int peer_serve(void);

#endif
