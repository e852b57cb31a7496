/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/copy/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define WIDTH	  40
#define REDRAW_NS (100 * NSEC_PER_MSEC)
/* Shorter transfers show no bar. */
#define SHOW_NS	     (300 * NSEC_PER_MSEC)
#define SEC_PER_MIN  60
#define SEC_PER_HOUR 3600

void progress_begin(struct progress *progress, uint64_t total)
{
	*progress = (struct progress){
		.shown = isatty(STDERR_FILENO) && total > 0,
		.total = total,
		.began = monotonic_ns(),
	};
}

static void draw_rest(double seconds)
{
	uint64_t left = (uint64_t)seconds;

	fprintf(stderr, " ETA %" PRIu64 ":%02" PRIu64 ":%02" PRIu64, left / SEC_PER_HOUR,
		left / SEC_PER_MIN % SEC_PER_MIN, left % SEC_PER_MIN);
}

static void draw(const struct progress *progress, uint64_t done, double seconds)
{
	double fraction = (double)done / (double)progress->total;
	double rate = (double)done / seconds;
	int full = (int)(fraction * WIDTH);

	fprintf(stderr, "\r[%.*s%.*s] %3d%% %8.1f MB/s", full,
		"########################################", WIDTH - full,
		"........................................", (int)(fraction * 100), rate / 1e6);
	if (rate > 0)
		draw_rest((double)(progress->total - done) / rate);
	fputs("\033[K", stderr);
}

/* For a stream of unknown length. */
static void draw_unbounded(uint64_t done, double seconds)
{
	fprintf(stderr, "\r%.1f MB %8.1f MB/s\033[K", (double)done / 1e6,
		(double)done / 1e6 / seconds);
}

void progress_update(struct progress *progress, uint64_t done)
{
	double seconds;
	uint64_t now;

	if (!progress->shown)
		return;
	now = monotonic_ns();
	if (now - progress->began < SHOW_NS ||
	    (progress->drawn && now - progress->last < REDRAW_NS))
		return;
	seconds = (double)(now - progress->began) / (double)NSEC_PER_SEC;
	if (progress->total == UINT64_MAX)
		draw_unbounded(done, seconds);
	else
		draw(progress, done, seconds);
	progress->drawn = true;
	progress->last = now;
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
