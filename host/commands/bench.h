/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command bench. */
#ifndef DPUMAP_HOST_BENCH_H
#define DPUMAP_HOST_BENCH_H

#include "host/settings/options.h"

/* Latency and bandwidth of copies between this host and an export. */
command_fn bench_export;
command_check_fn bench_check;

#endif
