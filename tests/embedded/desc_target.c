/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Run every vector on a target that may lack files and a test library, with every truncation and
 * every flipped bit of the canonical ones.
 */
#include <stdio.h>

#include "vectors/vectors.h"

extern const char desc_vectors[];

int main(void)
{
	static struct desc_vector v;
	enum desc_vector_result result;
	const char *at = desc_vectors;
	unsigned int n = 0, wrong = 0;

	while ((result = desc_vector_next(&at, &v)) == DESC_VECTOR_READ) {
		n++;
		if (desc_vector_holds(&v) && desc_vector_is_fragile(&v))
			continue;
		wrong++;
		printf("vector \"%s\" fails\n", v.title);
	}
	if (result == DESC_VECTOR_MALFORMED)
		printf("malformed: %.40s\n", at);
	printf("%u vectors, %u wrong\n", n, wrong);
	return !n || wrong || result == DESC_VECTOR_MALFORMED;
}
