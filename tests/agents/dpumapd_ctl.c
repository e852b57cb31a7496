/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpumapd_ctl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void dpumapd_ctl(const char *admin, const char *command, const char *argument)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		execlp("dpumapd", "dpumapd", "ctl", "--admin", admin, command, argument, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
