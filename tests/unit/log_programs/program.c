/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program of several files that log, as users write them; also compiled as C++ (program.cc). Each
 * line that it logs is compared with what is due.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "program.h"

DOCA_LOG_REGISTER(PROGRAM::MAIN)

static char buffer[512];
static char lines[16][512];
static int nlines;

static void keep(char *line)
{
	if (nlines < 16)
		snprintf(lines[nlines], sizeof(lines[nlines]), "%s", line);
	nlines++;
}

/* Before main(), and after every file has registered its source. */
static void __attribute__((constructor(102))) log_early(void)
{
	struct doca_log_backend *backend;

	if (!log_source || !other_source() || !third_source())
		abort();
	if (doca_log_backend_create_with_buf(buffer, sizeof(buffer), keep, &backend) !=
	    DOCA_SUCCESS)
		abort();
	DOCA_LOG_INFO("before main");
}

static void expect(int number, const char *end)
{
	size_t len, want = strlen(end);

	if (number >= nlines) {
		printf("line %d is missing\n", number);
		exit(1);
	}
	len = strlen(lines[number]);
	if (len < want || strcmp(lines[number] + len - want, end) != 0) {
		printf("line %d is %snot ...%s", number, lines[number], end);
		exit(1);
	}
}

int main(void)
{
	if (log_source == 0 || log_source == other_source() || log_source == third_source())
		return 1;
	if (doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE) != DOCA_SUCCESS)
		return 1;
	DOCA_LOG_ERR("%s of %d", doca_error_get_name(DOCA_ERROR_FULL), 3);
	DOCA_LOG_TRC("not here");
	log_other();
	log_third();
	doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 1, NULL, "x");
	expect(0, "[log_early] before main\n");
	expect(1, "[main] DOCA_ERROR_FULL of 3\n");
	expect(2, "[log_other] traced 1\n");
	expect(3, "[OTHER:2][-] x\n");
	expect(4, "[THIRD FILE::of.three:3][-] x\n");
	expect(5, "[PROGRAM::MAIN:1][-] x\n");
	if (nlines != 6) {
		printf("%d lines\n", nlines);
		return 1;
	}
	return 0;
}
