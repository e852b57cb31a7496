/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Watches the device of the exports: logs changes of its port, and ends the exports when it fails. */
#ifndef DPUMAPD_DEVICE_WATCH_H
#define DPUMAPD_DEVICE_WATCH_H

#include <stdbool.h>

#include "dpu/base/loop.h"
#include "dpu/exports/export_table.h"

struct device_watch {
	struct watch watch;
	struct export_table *exports;
	bool has_failed; /* dpumapd must end */
};

/* Pair with loop_remove() of its watch. */
doca_error_t device_watch_start(struct device_watch *device, struct loop *loop,
				struct export_table *exports, struct dpumap_error *error);

#endif
