/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char temporary_directory[64];
char temporary_path[96];

int temporary_set_up(void **state)
{
	(void)state;
	snprintf(temporary_directory, sizeof(temporary_directory), "/tmp/dpumap-test-XXXXXX");
	if (!mkdtemp(temporary_directory))
		return -1;
	snprintf(temporary_path, sizeof(temporary_path), "%s/file", temporary_directory);
	return 0;
}

int temporary_tear_down(void **state)
{
	(void)state;
	return rmdir(temporary_directory);
}
