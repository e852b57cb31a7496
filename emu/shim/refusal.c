/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/ipc/proto.h"

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

/* Once, although libraries try again. */
static bool was_printed(void)
{
	static _Atomic pid_t printed_by;

	return atomic_exchange(&printed_by, getpid()) == getpid();
}

void emu_refusal_print(int err, pid_t server)
{
	int pid = (int)getpid(), scope = yama_scope();
	char label[256];

	if (was_printed())
		return;
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

void emu_refusal_print_build(pid_t server)
{
	const char *dir = getenv(EMU_ENV_DIR);

	if (was_printed())
		return;
	fprintf(stderr,
		"dpumap-emu: process %d has a library of dpumap-emu of another build than the "
		"emulator in %s, process %d; start the program by the `dpumap-emu run' that "
		"belongs to the emulator, or stop the emulator and start it again\n",
		(int)getpid(), dir ? dir : "", (int)server);
}

/* --- no connection ---------------------------------------------------------------------------- */

static bool is_there(const char *dir, const char *role)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, role);
	return !syscall(SYS_faccessat, AT_FDCWD, path, F_OK);
}

static void print_denied(const char *dir, const struct stat *st)
{
	int user = (int)syscall(SYS_geteuid);

	if (st && (int)st->st_uid == user)
		fprintf(stderr,
			"dpumap-emu: a security policy or a sandbox denies process %d the sockets "
			"in %s; "
			"permit it, or run the program without it\n",
			(int)getpid(), dir);
	else
		fprintf(stderr,
			"dpumap-emu: process %d runs as user %d, who has no access to the emulator "
			"in %s; "
			"change the user first, and then use `dpumap-emu run' as that user, with a "
			"directory of that user (--dir)\n",
			(int)getpid(), user, dir);
}

static void print_lost(int err, const char *dir, const char *role)
{
	struct stat st;
	bool visible = !stat(dir, &st);

	if (err == EACCES || err == EPERM)
		print_denied(dir, visible ? &st : NULL);
	else if (visible && err == ENOENT)
		fprintf(stderr,
			"dpumap-emu: the emulator in %s has no function '%s'; `dpumap-emu gid "
			"list' "
			"prints the functions\n",
			dir, role);
	else if (!visible || err == ECONNREFUSED)
		fprintf(stderr,
			"dpumap-emu: process %d finds no emulator in %s: it has ended, or a "
			"chroot, "
			"container or sandbox hides its directory; start it (dpumap-emu start "
			"--dir %s), "
			"or make the directory visible there\n",
			(int)getpid(), dir, dir);
	else
		fprintf(stderr, "dpumap-emu: process %d cannot use the emulator in %s: %s\n",
			(int)getpid(), dir, strerror(err));
}

void emu_refusal_print_lost(int err)
{
	const char *dir = getenv(EMU_ENV_DIR), *role = getenv(EMU_ENV_ROLE);

	if (dir && role && !(err == ENOENT && is_there(dir, role)) && !was_printed())
		print_lost(err, dir, role);
}
