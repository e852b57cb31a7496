/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The two ends of the bench. The exporting one says on its standard output, in one line, what it
 * exported, and lives until its standard input ends; so it can be started through any command.
 */
#ifndef DPUMAP_BENCH_PEER_H
#define DPUMAP_BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device.h"

#define BENCH_DESC_MAX 512

struct bench_export {
	pid_t pid; /* of the process that owns the memory */
	uint64_t addr;
	uint64_t len;
	uint8_t desc[BENCH_DESC_MAX];
	size_t desc_len;
};

struct bench_peer {
	pid_t pid; /* of the command that was started */
	int input;
	struct bench_export exported;
};

/* What the exporter's memory holds. */
void bench_fill(uint8_t *memory, size_t len);

/* Exports len bytes until standard input ends. Returns the process's exit status. */
int bench_export_memory(size_t len);
/* The same of device memory, whatever is in it. */
int bench_export_device_memory(size_t len);

/* Starts the command and reads its line; 0, or -1 after a line on stderr. */
int bench_peer_start(struct bench_peer *peer, char *const command[]);
void bench_peer_stop(struct bench_peer *peer);

#endif
