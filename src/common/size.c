/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/size.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suffixes[] = "KMGT";

/* strtoull() would also accept spaces, signs and other bases. */
static bool parse_digits(const char *text, char **end, uint64_t *value)
{
	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, end, 10);
	return errno == 0;
}

bool dpumap_number_parse(const char *text, uint64_t max, uint64_t *value)
{
	uint64_t number;
	char *end;

	if (!parse_digits(text, &end, &number) || *end != '\0' || number > max)
		return false;
	*value = number;
	return true;
}

bool dpumap_size_parse(const char *text, uint64_t *bytes)
{
	unsigned int shift = 0;
	uint64_t number;
	const char *suffix;
	char *end;

	if (!parse_digits(text, &end, &number))
		return false;
	if (*end != '\0') {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1] != '\0')
			return false;
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
	}
	if (number > UINT64_MAX >> shift)
		return false;
	*bytes = number << shift;
	return true;
}

void dpumap_size_format(uint64_t bytes, char text[static DPUMAP_SIZE_TEXT_MAX])
{
	size_t unit = 0;

	while (unit < strlen(suffixes) && bytes != 0 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	if (unit > 0)
		snprintf(text, DPUMAP_SIZE_TEXT_MAX, "%" PRIu64 "%c", bytes, suffixes[unit - 1]);
	else
		snprintf(text, DPUMAP_SIZE_TEXT_MAX, "%" PRIu64, bytes);
}
