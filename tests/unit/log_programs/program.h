/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_TESTS_LOG_PROGRAM_H
#define DPUMAP_TESTS_LOG_PROGRAM_H

#ifdef __cplusplus
extern "C" {
#endif

int other_source(void);
void log_other(void);
int third_source(void);
void log_third(void);

#ifdef __cplusplus
}
#endif

#endif
