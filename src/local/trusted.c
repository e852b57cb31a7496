/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local/file.h"

static uid_t secret_owner; /* root, unless dpumap_trusted_secret_owner() names another user */

void dpumap_trusted_secret_owner(uid_t uid)
{
	secret_owner = uid;
}

uid_t dpumap_trusted_get_secret_owner(void)
{
	return secret_owner;
}

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static bool is_of_service(const struct stat *st, bool is_secret)
{
	return is_secret && S_ISREG(st->st_mode) && st->st_uid == secret_owner;
}

static doca_error_t check_file(const char *path, const struct stat *st, bool is_secret,
			       struct dpumap_error *error)
{
	mode_t bad = is_secret ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH;

	if (!is_ours(st) && !is_of_service(st, is_secret))
		return dpumap_error_set(
			error, DOCA_ERROR_NOT_PERMITTED,
			"%s belongs to user %u; its owner must be root or the current user", path,
			st->st_uid);
	if (st->st_mode & bad)
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"%s has mode %04o, which lets others %s it; use chmod %s",
					path, st->st_mode & 07777, is_secret ? "use" : "write",
					is_secret ? "600" : "go-w");
	return DOCA_SUCCESS;
}

/* --- the directories of a path ---------------------------------------------------------------- */

#define LINKS_MAX 40

struct path_walk {
	char at[PATH_MAX];   /* the directory reached so far, links resolved; "" is the root */
	char rest[PATH_MAX]; /* the rest of the path */
	char part[NAME_MAX + 1];
	int links;
	bool any_owner; /* directories may have any owner if all above them are trusted */
	bool is_secret; /* what the path leads to */
	struct dpumap_error *error;
};

static doca_error_t too_long(const struct path_walk *walk)
{
	return dpumap_error_set(walk->error, DOCA_ERROR_INVALID_VALUE,
				"%s/%s: the path is too long", walk->at, walk->rest);
}

static doca_error_t check_directory(const struct path_walk *walk)
{
	const char *path = walk->at[0] ? walk->at : "/";
	struct stat st;

	if (stat(path, &st) != 0)
		return dpumap_error_errno(walk->error, errno, "cannot examine %s", path);
	if (!is_ours(&st) && !walk->any_owner)
		return dpumap_error_set(walk->error, DOCA_ERROR_NOT_PERMITTED,
					"directory %s belongs to user %u; its owner must be root "
					"or the current user",
					path, st.st_uid);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX))
		return dpumap_error_set(walk->error, DOCA_ERROR_NOT_PERMITTED,
					"directory %s has mode %04o, which lets others replace "
					"files in it; use chmod go-w",
					path, st.st_mode & 07777);
	return DOCA_SUCCESS;
}

/* In a sticky directory that all users can write to, another user's entry is not trusted. */
static doca_error_t check_entry(const struct path_walk *walk, const char *path,
				const struct stat *st)
{
	struct stat above;

	if (is_ours(st) || is_of_service(st, walk->is_secret))
		return DOCA_SUCCESS;
	if (stat(walk->at[0] ? walk->at : "/", &above) != 0)
		return dpumap_error_errno(walk->error, errno, "cannot examine %s", walk->at);
	if (walk->any_owner && !(above.st_mode & (S_IWGRP | S_IWOTH)))
		return DOCA_SUCCESS;
	return dpumap_error_set(walk->error, DOCA_ERROR_NOT_PERMITTED,
				"%s belongs to user %u; its owner must be root or the current user",
				path, st->st_uid);
}

/* False at the end. */
static bool next_part(struct path_walk *walk)
{
	size_t skip = strspn(walk->rest, "/"), len = strcspn(walk->rest + skip, "/");

	if (len > NAME_MAX)
		len = NAME_MAX; /* such a file cannot exist */
	memcpy(walk->part, walk->rest + skip, len);
	walk->part[len] = '\0';
	memmove(walk->rest, walk->rest + skip + len, strlen(walk->rest + skip + len) + 1);
	return len > 0;
}

static doca_error_t follow(struct path_walk *walk, const char *path)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len < 0 || walk->links++ == LINKS_MAX)
		return dpumap_error_errno(walk->error, len < 0 ? errno : ELOOP, "cannot follow %s",
					  path);
	target[len] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >= (int)sizeof(rest))
		return too_long(walk);
	memcpy(walk->rest, rest, sizeof(rest));
	if (target[0] == '/')
		walk->at[0] = '\0';
	return DOCA_SUCCESS;
}

static doca_error_t step(struct path_walk *walk)
{
	char path[PATH_MAX];
	doca_error_t result;
	struct stat st;

	if (strcmp(walk->part, ".") == 0)
		return DOCA_SUCCESS;
	if (strcmp(walk->part, "..") == 0) {
		*(strrchr(walk->at, '/') ? strrchr(walk->at, '/') : walk->at) = '\0';
		return DOCA_SUCCESS;
	}
	if (snprintf(path, sizeof(path), "%s/%s", walk->at, walk->part) >= (int)sizeof(path))
		return too_long(walk);
	if (lstat(path, &st) != 0)
		return dpumap_error_errno(walk->error, errno, "cannot examine %s", path);
	result = check_entry(walk, path, &st);
	if (result != DOCA_SUCCESS)
		return result;
	if (S_ISLNK(st.st_mode))
		return follow(walk, path);
	if (!S_ISDIR(st.st_mode))
		return DOCA_SUCCESS;
	memcpy(walk->at, path, sizeof(path));
	return check_directory(walk);
}

/* Checks every directory of the path, links included. */
static doca_error_t check_path(const char *path, bool any_owner, bool is_secret,
			       struct dpumap_error *error)
{
	struct path_walk walk = {.any_owner = any_owner, .is_secret = is_secret, .error = error};
	char here[PATH_MAX] = "";
	doca_error_t result;

	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return dpumap_error_errno(error, errno, "cannot examine %s", path);
	if (snprintf(walk.rest, sizeof(walk.rest), "%s/%s", here, path) >= (int)sizeof(walk.rest))
		return too_long(&walk);
	result = check_directory(&walk);
	while (result == DOCA_SUCCESS && next_part(&walk))
		result = step(&walk);
	return result;
}

doca_error_t dpumap_trusted_directory(const char *path, struct dpumap_error *error)
{
	doca_error_t result = check_path(path, true, false, error);

	return result == DOCA_ERROR_NOT_FOUND ? DOCA_SUCCESS : result;
}

doca_error_t dpumap_trusted_open(const char *path, bool is_secret, int *fd,
				 struct dpumap_error *error)
{
	doca_error_t result;
	struct stat st;
	uint64_t size;
	int f;

	result = dpumap_file_open(path, &f, &size, error);
	if (result == DOCA_ERROR_NOT_PERMITTED)
		return dpumap_error_set(error, result, "user %u cannot read %s: use %s", geteuid(),
					path, is_secret ? "chown" : "chmod a+r");
	if (result != DOCA_SUCCESS)
		return result;
	if (fstat(f, &st) != 0)
		result = dpumap_error_errno(error, errno, "cannot examine %s", path);
	if (result == DOCA_SUCCESS)
		result = check_file(path, &st, is_secret, error);
	if (result == DOCA_SUCCESS)
		result = check_path(path, false, is_secret, error);
	if (result != DOCA_SUCCESS) {
		close(f);
		return result;
	}
	*fd = f;
	return DOCA_SUCCESS;
}
