/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Print a line "STATUS BYTE" for each line of hex, in the format of tests/vectors/read-desc.py. */
#include <dpumap/desc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES 1024

static int value_of(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool read_hex(const char *line, uint8_t *bytes, size_t *size)
{
	*size = strcspn(line, "\n") / 2;
	if (*size > MAX_BYTES)
		return false;
	for (size_t i = 0; i < *size; i++) {
		int high = value_of(line[2 * i]), low = value_of(line[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return line[2 * *size] == '\n';
}

int main(void)
{
	char line[2 * MAX_BYTES + 3];
	uint8_t bytes[MAX_BYTES];
	struct dpumap_desc d;
	size_t size, offset;

	while (fgets(line, sizeof(line), stdin)) {
		dpumap_desc_status_t status;

		if (!read_hex(line, bytes, &size)) {
			fprintf(stderr, "desc_judge: a line is not hexadecimal\n");
			return 2;
		}
		status = dpumap_desc_diagnose(bytes, size, &offset);
		if (dpumap_desc_decode(bytes, size, &d) != status) {
			fprintf(stderr,
				"desc_judge: decoding returns another status than validating\n");
			return 1;
		}
		printf("%s %zu\n", dpumap_desc_status_name(status), offset);
	}
	return ferror(stdin) ? 2 : 0;
}
