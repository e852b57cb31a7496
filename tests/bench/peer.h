/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exporting and the importing process of a benchmark. The exporter prints one line about its export and
 * runs until its standard input ends, so any command can start it.
 */
#ifndef DPUMAP_BENCH_PEER_H
#define DPUMAP_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device.h"

#define BENCH_DESC_MAX 512

struct bench_export {
	pid_t pid; /* the process that owns the memory */
	uint64_t addr;
	uint64_t len;
	uint8_t desc[BENCH_DESC_MAX];
	size_t desc_len;
};

struct bench_peer {
	pid_t pid; /* the command */
	int input;
	struct bench_export exported;
};

/* Fill the exporter's memory with its known contents. */
void bench_fill(uint8_t *memory, size_t len);

/*
 * Export len bytes until standard input ends; `shareable`: of a memfd. Returns the exit status of the process.
 */
int bench_export_memory(size_t len, bool shareable);
/* Export device memory with any contents until standard input ends. Returns the exit status. */
int bench_export_device_memory(size_t len);

/* Start the command and read its line; return 0, or -1 after printing an error. */
int bench_peer_start(struct bench_peer *peer, char *const command[]);
void bench_peer_stop(struct bench_peer *peer);

#endif
