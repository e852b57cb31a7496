/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/ipc/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MENTION "infiniband" /* in the paths of /dev and /sys */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

const char *emu_program_find(const char *file, char path[static PATH_MAX])
{
	const char *at = getenv("PATH"), *end;

	if (strchr(file, '/'))
		return file;
	if (!at)
		at = "/bin:/usr/bin"; /* as execvp() */
	for (; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ':');
		snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - at), end > at ? at : ".", file);
		if (is_program(path))
			return path;
	}
	return NULL;
}

/* The loader then ignores LD_PRELOAD (AT_SECURE). */
static bool gains_privileges(const char *path, const struct stat *st)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	return (st->st_mode & S_ISUID && st->st_uid != getuid()) ||
	       (st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != getgid()) ||
	       (getuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* A file without a loader, as the Go compiler without cgo and the option -static make it. */
static bool is_static(const uint8_t *file, size_t size)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
	const Elf64_Phdr *part;

	if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_phentsize != sizeof(*part) ||
	    head->e_phoff % _Alignof(Elf64_Phdr) || head->e_phoff > size ||
	    (size - head->e_phoff) / sizeof(*part) < head->e_phnum)
		return false;
	part = (const Elf64_Phdr *)(file + head->e_phoff);
	for (size_t i = 0; i < head->e_phnum; i++)
		if (part[i].p_type == PT_INTERP)
			return false;
	return true;
}

/* A static shell or launcher starts other programs as well as any; only those with RDMA matter. */
static bool is_static_with_rdma(const char *path, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	void *file;

	if (fd < 0)
		return false;
	file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	syscall(SYS_close, fd);
	if (file != MAP_FAILED) {
		found = is_static(file, size) && memmem(file, size, MENTION, strlen(MENTION));
		munmap(file, size);
	}
	return found;
}

static void warn(const char *path, const char *why)
{
	char line[PATH_MAX + 512];
	int n = snprintf(line, sizeof(line),
			 "dpumap-emu: %s will not see the emulated device: %s\n", path, why);
	ssize_t done = write(STDERR_FILENO, line, (size_t)n);

	(void)done;
}

void emu_program_warn(const char *path)
{
	int saved = errno;
	struct stat st;

	if (!path || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(Elf64_Ehdr))
		goto out;
	if (gains_privileges(path, &st))
		warn(path, "it is setuid or setgid or has file capabilities, so the loader does "
			   "not preload the "
			   "emulator's library; use `dpumap-emu run' below it, or a copy without "
			   "these rights");
	else if (is_static_with_rdma(path, (size_t)st.st_size))
		warn(path, "it is a static program, into which no library can be preloaded; link "
			   "it dynamically "
			   "(without -static, Go with CGO_ENABLED=1)");
out:
	errno = saved;
}
