/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/refusal.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define YAMA  "/proc/sys/kernel/yama/ptrace_scope"
#define LABEL "/proc/self/attr/current"

enum yama_scope {
	YAMA_CHILDREN = 1, /* and processes that permit it, as those below the emulator do */
	YAMA_CAPABLE,
	YAMA_NOBODY,
};

/* The first line of a file of the kernel; empty if there is none. */
static void read_line(const char *path, char *text, int size)
{
	FILE *in = fopen(path, "re");

	text[0] = '\0';
	if (!in)
		return;
	if (!fgets(text, size, in))
		text[0] = '\0';
	fclose(in);
	text[strcspn(text, "\n")] = '\0';
}

static int yama_scope(void)
{
	char text[16];

	read_line(YAMA, text, sizeof(text));
	return (int)strtol(text, NULL, 10);
}

/* The profile of AppArmor, or the context of SELinux. */
static bool is_confined(char *label, int size)
{
	read_line(LABEL, label, size);
	return *label && strcmp(label, "unconfined") != 0 && !strstr(label, ":unconfined_t:");
}

/* Process 0 is this one. */
static uint64_t permitted_capabilities(pid_t pid)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, pid};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &head, data))
		return 0;
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

static const char *advice_for_yama(int scope)
{
	if (scope == YAMA_CAPABLE)
		return "run the emulator and the program with CAP_SYS_PTRACE (podman, docker: "
		       "--user 0 --cap-add SYS_PTRACE), or set it to 1 with sysctl";
	return "only a restart of the machine lowers it, so set it to 1 in /etc/sysctl.d";
}

void emu_refusal_print(int err, pid_t server)
{
	int pid = (int)getpid(), scope = yama_scope();
	char label[256];

	if (err == ESRCH)
		fprintf(stderr,
			"dpumap-emu: process %d is in another PID namespace than the emulator; "
			"share the "
			"namespace (podman, docker: --pid container:NAME; Kubernetes: "
			"shareProcessNamespace: true), or start an emulator in this one, with a "
			"directory of its own (--dir)\n",
			pid);
	else if (err == EPERM && scope >= YAMA_CAPABLE)
		fprintf(stderr,
			"dpumap-emu: the emulator cannot reach the memory of process %d, because "
			"kernel.yama.ptrace_scope is %d; %s\n",
			pid, scope, advice_for_yama(scope));
	else if (err == EPERM && server &&
		 permitted_capabilities(0) & ~permitted_capabilities(server))
		fprintf(stderr,
			"dpumap-emu: the emulator cannot reach the memory of process %d, which has "
			"capabilities that the emulator lacks; run both with the same ones "
			"(podman, "
			"docker: --cap-drop all)\n",
			pid);
	else if (err == EPERM && is_confined(label, sizeof(label)))
		fprintf(stderr,
			"dpumap-emu: the emulator cannot reach the memory of process %d; the "
			"security "
			"policy of '%s' must let such processes trace each other (podman, docker: "
			"--security-opt apparmor=unconfined or --security-opt label=disable)\n",
			pid, label);
	else
		fprintf(stderr,
			"dpumap-emu: the emulator cannot reach the memory of process %d: %s; start "
			"both as the same user in the same container\n",
			pid, strerror(err));
}
