/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A progress bar on standard error, if that is a terminal. */
#ifndef DPUMAP_HOST_PROGRESS_H
#define DPUMAP_HOST_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;
	bool drawn;
	uint64_t total;
	uint64_t began;
	uint64_t last;
};

/* total is UINT64_MAX if unknown. */
void progress_begin(struct progress *progress, uint64_t total);
void progress_update(struct progress *progress, uint64_t done);
/* Erases the bar. */
void progress_end(struct progress *progress);

#endif
