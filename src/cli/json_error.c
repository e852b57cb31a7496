/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/json_error.h"

void cli_json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			fprintf(out, "\\u%04x", (unsigned int)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

void cli_json_error(FILE *out, const char *status, const char *error, int exit)
{
	fputs("{ \"status\": ", out);
	cli_json_text(out, status);
	fputs(", \"error\": ", out);
	cli_json_text(out, error);
	fprintf(out, ", \"exit\": %d }\n", exit);
	fflush(out);
}
