/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>

int cli_open_standard_files(void)
{
	static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0)
			return errno;
	return 0;
}
