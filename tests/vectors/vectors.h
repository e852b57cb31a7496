/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reader of v1.txt and desc.txt. It takes the text from memory, so it also works on bare metal. */
#ifndef DPUMAP_TEST_VECTORS_H
#define DPUMAP_TEST_VECTORS_H

#include <dpumap/desc.h>
#include <stdbool.h>

enum desc_vector_what { DESC_VECTOR_ENCODE, DESC_VECTOR_DECODE, DESC_VECTOR_ACCESS };

struct desc_vector {
	char title[96];
	char status[40]; /* name of the expected status */
	enum desc_vector_what what;
	bool canonical; /* encoding the fields gives the bytes */
	uint8_t bytes[DPUMAP_DESC_MAX_SIZE + 8];
	size_t size;
	uint64_t offset; /* of the byte that is wrong */
	struct dpumap_desc fields;
	uint32_t op; /* of an access */
	uint64_t first;
	uint64_t count;
};

enum desc_vector_result { DESC_VECTOR_END, DESC_VECTOR_READ, DESC_VECTOR_MALFORMED };

/*
 * Read the next vector and move *text behind it. On DESC_VECTOR_MALFORMED, *text is at the invalid
 * line.
 */
enum desc_vector_result desc_vector_next(const char **text, struct desc_vector *v);

/* Whether the kind and all values are the same, those of the kind included. */
bool desc_vector_same(const struct dpumap_desc *a, const struct dpumap_desc *b);

/* Whether this codec gives the results of the vector. */
bool desc_vector_holds(const struct desc_vector *v);

/*
 * Whether this codec refuses every truncation of the vector's bytes, and every change of one bit.
 * True for a vector that is not canonical.
 */
bool desc_vector_is_fragile(const struct desc_vector *v);

#endif
