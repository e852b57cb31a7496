/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/nearest.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 32

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove, replace or exchange with the next one (optimal string alignment). */
static unsigned int distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int rows[3][WORD_MAX + 1] = {0};
	unsigned int *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= b_len; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = min(min(last[j], row[j - 1]) + 1,
				     last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[b_len];
}

/* One letter in three may be wrong; the beginning of a name counts as one wrong letter. */
void cli_nearest_offer(struct cli_nearest *nearest, const char *name, const char *meant)
{
	size_t word_len = strlen(nearest->word), name_len = strlen(name);
	unsigned int d;

	if (word_len > WORD_MAX || name_len > WORD_MAX || word_len < 2)
		return;
	d = distance(nearest->word, word_len, name, name_len);
	if (d > 1 && strncmp(name, nearest->word, word_len) == 0)
		d = 1;
	if (d > (word_len + 2) / 3 || (nearest->found[0] && d >= nearest->distance))
		return;
	nearest->distance = d;
	snprintf(nearest->found, sizeof(nearest->found), "%s", meant);
}
