/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "progress.h"

#define WIDTH	  40
#define REDRAW_NS (100 * DPUMAP_NSEC_PER_MSEC)

void progress_begin(struct progress *progress, uint64_t total)
{
	*progress = (struct progress){
		.shown = isatty(STDERR_FILENO) && total > 0,
		.total = total,
		.began = dpumap_clock_ns(),
	};
}

void progress_update(struct progress *progress, uint64_t done)
{
	uint64_t now = dpumap_clock_ns();
	double fraction, seconds;
	int full;

	if (!progress->shown || (progress->drawn && now - progress->last < REDRAW_NS))
		return;
	fraction = (double)done / (double)progress->total;
	seconds = (double)(now - progress->began) / (double)DPUMAP_NSEC_PER_SEC;
	full = (int)(fraction * WIDTH);
	fprintf(stderr, "\r[%.*s%.*s] %3d%% %8.1f MB/s", full,
		"########################################", WIDTH - full,
		"........................................", (int)(fraction * 100),
		seconds > 0 ? (double)done / 1e6 / seconds : 0.0);
	progress->drawn = true;
	progress->last = now;
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
