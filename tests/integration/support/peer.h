/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A sharer in another process, on the other function of the card: the same operations, over pipes.
 */
#ifndef DPUMAP_TESTS_PEER_H
#define DPUMAP_TESTS_PEER_H

#include "key_access.h"
#include "sharer.h"

/* On the function test_options.peer_as; end it with process_finish() or process_kill(). */
bool peer_start(struct process *p);

/* Setup and teardown: a sharer in this process, and a peer on the other function. */
extern struct sharer parent;
extern struct process peer;
int peer_setup(void **state);
int peer_teardown(void **state);
/* For a test that has ended the peer itself. */
int peer_teardown_parent(void **state);
#define peer_test(function) cmocka_unit_test_setup_teardown(function, peer_setup, peer_teardown)

/* DOCA_ERROR_CONNECTION_RESET when the peer has ended. */
doca_error_t peer_export(struct process *p, unsigned int map, const struct map_spec *what,
			 struct descriptor *desc);
doca_error_t peer_import(struct process *p, unsigned int map, const struct descriptor *desc);
doca_error_t peer_read(struct process *p, unsigned int map, size_t offset, uint8_t *dst,
		       size_t len);
doca_error_t peer_write(struct process *p, unsigned int map, size_t offset, const uint8_t *src,
			size_t len);
doca_error_t peer_peek(struct process *p, unsigned int map, size_t offset, uint8_t *dst,
		       size_t len);
doca_error_t peer_stop(struct process *p, unsigned int map);
doca_error_t peer_drop(struct process *p, unsigned int map);
int peer_key_access(struct process *p, uint32_t key, uint64_t addr, enum key_use use);

/* In the peer: serve until stdin ends. Returns the exit status. */
int peer_serve(void);

#endif
