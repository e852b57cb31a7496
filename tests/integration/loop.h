/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What any verbs program has, in a protection domain of the caller's: a reliable connection to
 * itself, a completion channel, and a region of its own to copy to and from.
 */
#ifndef DPUMAP_TESTS_LOOP_H
#define DPUMAP_TESTS_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define LOOP_BYTES 8192
#define LOOP_ALL                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct loop {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t bytes[LOOP_BYTES];
};

/* The first device, opened; or NULL. */

/* Whether or not it worked, loop_close() is due. */
bool loop_open(struct loop *loop, struct ibv_pd *pd);
bool loop_close(struct loop *loop);

/*
 * Between the first bytes of the loop and what a key of the same domain stands for: an
 * ibv_wc_status, or -1 if the test itself failed.
 */
int loop_read(struct loop *loop, uint32_t key, uint64_t addr, size_t len);
int loop_write(struct loop *loop, uint32_t key, uint64_t addr, size_t len);
/* The key is that of the local side. */
int loop_gather(struct loop *loop, uint32_t key, uint64_t addr, size_t len);

/* The pieces of that: one work request, and its completion. */
bool loop_post(struct loop *loop, struct ibv_send_wr *wr);
bool loop_receive(struct loop *loop, size_t len);
int loop_wait(struct loop *loop, unsigned int patience_ms);
/* After an error: ready for work again. */
bool loop_revive(struct loop *loop);

#endif
