/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* JSON as lines of text, by tables. */
#ifndef EMU_TOOL_LINES_H
#define EMU_TOOL_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

/*
 * A line for each row of a list, which is a member of the object: an array or an object. "{name}" is a member of
 * the row, or of what it is in; "{a/0/b}" a member further down; "{name+N}" its text from the N-th byte on. An
 * array is its length, and an object the sum of its numbers. "[...]" is written only if what is named there exists.
 */
struct tool_lines {
	const char *list; /* NULL: the object itself is the only row */
	const char *line; /* NULL: only what is inside */
	const struct tool_lines *inside;
	bool omits_zero; /* rows that are a number 0 */
};

/*
 * The rows of an object are its members, with the names {key} and {value}. An element without any member ends
 * `lines`.
 */
void tool_lines_print(FILE *out, const struct tool_lines *lines, struct json_object *object);

#endif
