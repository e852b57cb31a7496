/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the integration tests share: the device of the side they run on, a copy queue, buffers with
 * maps, and the emulated device's count of live objects.
 */
#ifndef DPUMAP_TESTS_RIG_H
#define DPUMAP_TESTS_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/dm.h>
#include <dpumap/dma.h>

#define RIG_PATIENCE_MS 30000
#define RIG_MAX_COUNTS	32

struct ibv_context;

struct rig {
	struct doca_dev *dev;
	struct dpumap_dma *dma;
};

struct rig_buf {
	uint8_t *bytes;
	size_t len;
	struct doca_mmap *mmap;
};

struct rig_counts {
	struct rig_count {
		char name[32];
		unsigned long value;
	} counts[RIG_MAX_COUNTS];
	unsigned int n;
};

/* What main() was told: the emulator's program and who plays the other side. */
struct rig_options {
	const char *self;
	const char *emu;
	const char *peer_as;
	const char *engine; /* "mmo" or "rdma": what the device under test must use */
	bool shares_direct; /* the device shares no indirect mkeys with other functions */
	bool is_peer;
};
extern struct rig_options rig_options;
void rig_parse(int argc, char **argv);

/* The first device, as a program of verbs alone opens it; NULL if there is none. */
struct ibv_context *rig_open_context(void);
doca_error_t rig_open_device(struct doca_dev **dev);
doca_error_t rig_open(struct rig *rig);
doca_error_t rig_close(struct rig *rig);

/* Zeroed memory in a started map with these permissions. */
doca_error_t rig_buf_create(const struct rig *rig, size_t len, uint32_t access,
			    struct rig_buf *buf);
doca_error_t rig_buf_destroy(struct rig_buf *buf);
void rig_fill(uint8_t *bytes, size_t len, uint32_t seed);

struct rig_copy {
	struct doca_mmap *dst;
	void *dst_addr;
	struct doca_mmap *src;
	const void *src_addr;
	size_t len;
};

/* Wait for one completion; DOCA_ERROR_TIME_OUT if none comes. */
doca_error_t rig_wait(struct dpumap_dma *dma, unsigned int patience_ms,
		      struct dpumap_dma_completion *completion);

/* Post, wait, and bring the queue up again if the copy failed: the error of either. */
doca_error_t rig_copy(const struct rig *rig, const struct rig_copy *copy);
doca_error_t rig_copy_within(const struct rig *rig, const struct rig_copy *copy,
			     unsigned int patience_ms);

/* Start a program with pipes to its stdin and from its stdout; NULL leaves that one alone. */
pid_t rig_spawn(const char *const argv[], int *to, int *from);
/* Start this program on a side of the emulator ("dpu"), with the number of a socket to it as `env`.
 */
pid_t rig_spawn_self(const char *side, const char *env, int *socket);
/* The socket that `env` names; -1 if this program was not started so. */
int rig_inherited(const char *env);
int rig_reap(pid_t pid);
/* All of it through a pipe or a socket; false if the other end is gone. */
bool rig_send(int fd, const void *buf, size_t len);
bool rig_receive(int fd, void *buf, size_t len);

uint64_t rig_now_ms(void);

bool rig_read_counts(struct rig_counts *counts);
bool rig_counts_equal(const struct rig_counts *a, const struct rig_counts *b);
/* Processes end before the emulator has noticed: wait for the counts, print what differs in the
 * end. */
bool rig_counts_return(const struct rig_counts *before);

#endif
