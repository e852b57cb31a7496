/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/copy/hexdump.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

void hexdump_begin(struct hexdump *dump, FILE *to, uint64_t at)
{
	*dump = (struct hexdump){.to = to, .at = at};
}

static void print_line(const struct hexdump *dump)
{
	fprintf(dump->to, "%08" PRIx64 " ", dump->at);
	for (size_t i = 0; i < HEXDUMP_LINE; i++) {
		if (i % 8 == 0)
			fputc(' ', dump->to);
		if (i < dump->len)
			fprintf(dump->to, "%02x ", dump->line[i]);
		else
			fputs("   ", dump->to);
	}
	fputs(" |", dump->to);
	for (size_t i = 0; i < dump->len; i++)
		fputc(dump->line[i] < 0x80 && isprint(dump->line[i]) ? dump->line[i] : '.',
		      dump->to);
	fputs("|\n", dump->to);
}

static void flush_line(struct hexdump *dump)
{
	if (dump->has_last && memcmp(dump->line, dump->last, HEXDUMP_LINE) == 0 &&
	    dump->len == HEXDUMP_LINE) {
		if (!dump->is_repeating)
			fputs("*\n", dump->to);
		dump->is_repeating = true;
	} else {
		print_line(dump);
		dump->is_repeating = false;
		dump->has_last = true;
		memcpy(dump->last, dump->line, HEXDUMP_LINE);
	}
	dump->at += dump->len;
	dump->len = 0;
}

void hexdump_add(struct hexdump *dump, const uint8_t *bytes, size_t len)
{
	size_t room;

	while (len > 0) {
		room = HEXDUMP_LINE - dump->len;
		if (room > len)
			room = len;
		memcpy(dump->line + dump->len, bytes, room);
		dump->len += room;
		bytes += room;
		len -= room;
		if (dump->len == HEXDUMP_LINE)
			flush_line(dump);
	}
}

void hexdump_end(struct hexdump *dump)
{
	if (dump->len > 0)
		flush_line(dump);
	fprintf(dump->to, "%08" PRIx64 "\n", dump->at);
}
