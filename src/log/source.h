/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sources of messages: names with numbers from 1. */
#ifndef DPUMAP_LOG_SOURCE_H
#define DPUMAP_LOG_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the number; 0 without memory. */
int dpumap_log_source_add(const char *name);
/* False if no source has that number. */
bool dpumap_log_source_remove(int source);
/* NULL if there is none. Requires the lock of the log; valid while it is held. */
const char *dpumap_log_source_name(int source);
/* The highest number that a source may have; 0 if there is none. Requires the lock of the log. */
int dpumap_log_source_last(void);
/*
 * The most verbose level that a source logs, by default DOCA_LOG_LEVEL_TRACE; UINT32_MAX if there is
 * no such source. Require the lock of the log.
 */
uint32_t dpumap_log_source_level(int source);
void dpumap_log_source_set_level(int source, uint32_t level);

#endif
