/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sources of messages: names under numbers from 1.
 */
#ifndef DPUMAP_LOG_SOURCE_H
#define DPUMAP_LOG_SOURCE_H

#include <stdbool.h>

/* The number, 0 without memory. */
int dpumap_log_source_add(const char *name);
/* False if there is none of that number. */
bool dpumap_log_source_remove(int source);
/* NULL if there is none; called with the lock of the log held, and valid as long as it is. */
const char *dpumap_log_source_name(int source);

#endif
