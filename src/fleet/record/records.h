/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keys and the texts of their records, sorted by key. */
#ifndef DPUMAP_FLEET_RECORDS_H
#define DPUMAP_FLEET_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_error.h>

struct dpumap_record_text {
	char *key, *text;
};

/* All zero: empty. */
struct dpumap_records {
	struct dpumap_record_text *list;
	size_t num, room;
};

/* Adds or replaces; both texts are copied. NO_MEMORY, and nothing changes then. */
doca_error_t dpumap_records_set(struct dpumap_records *records, const char *key, const char *text);
void dpumap_records_remove(struct dpumap_records *records, const char *key);
void dpumap_records_clear(struct dpumap_records *records);
/* NULL: there is no such key. */
const struct dpumap_record_text *dpumap_records_find(const struct dpumap_records *records,
						     const char *key);
bool dpumap_records_equal(const struct dpumap_records *a, const struct dpumap_records *b);

#endif
