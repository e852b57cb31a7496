/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reader of desc.txt. Takes text from memory and needs no files, so that bare metal can use it. */
#ifndef DPUMAP_TEST_VECTORS_H
#define DPUMAP_TEST_VECTORS_H

#include <dpumap/desc.h>
#include <stdbool.h>

struct desc_vector {
	char title[96];
	char status[40]; /* name of the status to expect */
	bool decodes;	 /* has bytes: a case for decoding, otherwise one for encoding */
	bool canonical;	 /* encoding the fields gives the bytes */
	uint8_t bytes[DPUMAP_DESC_MAX_SIZE + 8];
	size_t size;
	struct dpumap_desc fields;
};

enum desc_vector_result { DESC_VECTOR_END, DESC_VECTOR_READ, DESC_VECTOR_MALFORMED };

/*
 * Read the next vector and move *text behind it. On DESC_VECTOR_MALFORMED, *text is at the line
 * that makes no sense.
 */
enum desc_vector_result desc_vector_next(const char **text, struct desc_vector *v);

/* Whether this codec does what the vector says. */
bool desc_vector_holds(const struct desc_vector *v);

#endif
