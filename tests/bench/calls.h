/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Allocations and locks of each thread, in the program and in every library that it uses: calls.c
 * replaces the functions of the C library. Below AddressSanitizer it counts locks only.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

extern _Thread_local unsigned long bench_allocations, bench_locks;

#endif
