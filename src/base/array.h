/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_BASE_ARRAY_H
#define DPUMAP_BASE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* The number of elements of an array; not of a pointer. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The list on the heap with room for num elements of that size, at least one: the same one, or a larger one
 * in place of it. NULL: no memory; the list stays.
 */
static inline void *array_make_room(void *list, size_t num, size_t *room, size_t size)
{
	size_t more = *room ? *room : 4;

	if (num <= *room)
		return list;
	while (more < num)
		more *= 2;
	list = reallocarray(list, more, size);
	if (list)
		*room = more;
	return list;
}

#endif
