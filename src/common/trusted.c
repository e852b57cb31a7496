/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.h"
#include "common/trusted.h"

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static doca_error_t check_file(const char *path, const struct stat *st, bool is_secret,
			       struct dpumap_fault *fault)
{
	mode_t bad = is_secret ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH;

	if (!is_ours(st))
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_PERMITTED,
					"%s belongs to user %u, neither to us nor to root", path,
					st->st_uid);
	if (st->st_mode & bad)
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_PERMITTED,
					"%s has mode %04o, which lets others %s it", path,
					st->st_mode & 07777, is_secret ? "use" : "write");
	return DOCA_SUCCESS;
}

/* -- the way to a file -- */

#define LINKS_MAX 40

struct way {
	char at[PATH_MAX];   /* the directory come to so far, without links; "" is the root */
	char rest[PATH_MAX]; /* what is still to be walked */
	char part[NAME_MAX + 1];
	int links;
	bool any_owner; /* of directories: where all above it are trusted, somebody was let in */
	struct dpumap_fault *fault;
};

static doca_error_t too_long(const struct way *way)
{
	return dpumap_fault_set(way->fault, DOCA_ERROR_INVALID_VALUE,
				"%s/%s: a path that is too long", way->at, way->rest);
}

static doca_error_t check_directory(const struct way *way)
{
	const char *path = way->at[0] ? way->at : "/";
	struct stat st;

	if (stat(path, &st) != 0)
		return dpumap_fault_errno(way->fault, errno, "cannot examine %s", path);
	if (!is_ours(&st) && !way->any_owner)
		return dpumap_fault_set(way->fault, DOCA_ERROR_NOT_PERMITTED,
					"directory %s belongs to user %u, neither to us nor to "
					"root",
					path, st.st_uid);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX))
		return dpumap_fault_set(way->fault, DOCA_ERROR_NOT_PERMITTED,
					"directory %s has mode %04o, which lets others replace "
					"what is in it",
					path, st.st_mode & 07777);
	return DOCA_SUCCESS;
}

/* In a sticky directory that all may write to, what is somebody's is anybody's. */
static doca_error_t check_entry(const struct way *way, const char *path, const struct stat *st)
{
	struct stat above;

	if (is_ours(st))
		return DOCA_SUCCESS;
	if (stat(way->at[0] ? way->at : "/", &above) != 0)
		return dpumap_fault_errno(way->fault, errno, "cannot examine %s", way->at);
	if (way->any_owner && !(above.st_mode & (S_IWGRP | S_IWOTH)))
		return DOCA_SUCCESS;
	return dpumap_fault_set(way->fault, DOCA_ERROR_NOT_PERMITTED,
				"%s belongs to user %u, neither to us nor to root", path,
				st->st_uid);
}

/* False at the end. */
static bool next_part(struct way *way)
{
	size_t skip = strspn(way->rest, "/"), len = strcspn(way->rest + skip, "/");

	if (len > NAME_MAX)
		len = NAME_MAX; /* there is no such file */
	memcpy(way->part, way->rest + skip, len);
	way->part[len] = '\0';
	memmove(way->rest, way->rest + skip + len, strlen(way->rest + skip + len) + 1);
	return len > 0;
}

static doca_error_t follow(struct way *way, const char *path)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len < 0 || way->links++ == LINKS_MAX)
		return dpumap_fault_errno(way->fault, len < 0 ? errno : ELOOP, "cannot follow %s",
					  path);
	target[len] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", target, way->rest) >= (int)sizeof(rest))
		return too_long(way);
	memcpy(way->rest, rest, sizeof(rest));
	if (target[0] == '/')
		way->at[0] = '\0';
	return DOCA_SUCCESS;
}

static doca_error_t step(struct way *way)
{
	char path[PATH_MAX];
	doca_error_t result;
	struct stat st;

	if (strcmp(way->part, ".") == 0)
		return DOCA_SUCCESS;
	if (strcmp(way->part, "..") == 0) {
		*(strrchr(way->at, '/') ? strrchr(way->at, '/') : way->at) = '\0';
		return DOCA_SUCCESS;
	}
	if (snprintf(path, sizeof(path), "%s/%s", way->at, way->part) >= (int)sizeof(path))
		return too_long(way);
	if (lstat(path, &st) != 0)
		return dpumap_fault_errno(way->fault, errno, "cannot examine %s", path);
	result = check_entry(way, path, &st);
	if (result != DOCA_SUCCESS)
		return result;
	if (S_ISLNK(st.st_mode))
		return follow(way, path);
	if (!S_ISDIR(st.st_mode))
		return DOCA_SUCCESS;
	memcpy(way->at, path, sizeof(path));
	return check_directory(way);
}

/* Every directory that decides where the path leads to, those with links on it included. */
static doca_error_t walk(const char *path, bool any_owner, struct dpumap_fault *fault)
{
	struct way way = {.any_owner = any_owner, .fault = fault};
	char here[PATH_MAX] = "";
	doca_error_t result;

	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return dpumap_fault_errno(fault, errno, "cannot examine %s", path);
	if (snprintf(way.rest, sizeof(way.rest), "%s/%s", here, path) >= (int)sizeof(way.rest))
		return too_long(&way);
	result = check_directory(&way);
	while (result == DOCA_SUCCESS && next_part(&way))
		result = step(&way);
	return result;
}

doca_error_t dpumap_trusted_place(const char *path, struct dpumap_fault *fault)
{
	doca_error_t result = walk(path, true, fault);

	return result == DOCA_ERROR_NOT_FOUND ? DOCA_SUCCESS : result;
}

doca_error_t dpumap_trusted_open(const char *path, bool is_secret, int *fd,
				 struct dpumap_fault *fault)
{
	doca_error_t result;
	struct stat st;
	uint64_t size;
	int f;

	result = dpumap_file_open(path, &f, &size, fault);
	if (result != DOCA_SUCCESS)
		return result;
	if (fstat(f, &st) != 0)
		result = dpumap_fault_errno(fault, errno, "cannot examine %s", path);
	if (result == DOCA_SUCCESS)
		result = check_file(path, &st, is_secret, fault);
	if (result == DOCA_SUCCESS)
		result = walk(path, false, fault);
	if (result != DOCA_SUCCESS) {
		close(f);
		return result;
	}
	*fd = f;
	return DOCA_SUCCESS;
}
