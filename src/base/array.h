/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_BASE_ARRAY_H
#define DPUMAP_BASE_ARRAY_H

/* The number of elements of an array; not of a pointer. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
