/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "local/file.h"

#define SPARSE_BLOCK	((size_t)64 * 1024)
#define WRITE_BEHIND	((uint64_t)8 << 20)
#define ACCESS_LIST	"system.posix_acl_access"
#define ACCESS_LIST_MAX 8192
#define FD_PATH_MAX	32

struct dpumap_outfile {
	int fd;
	mode_t mode; /* of a new file */
	bool is_new; /* an existing file is not replaced */
	bool has_name;
	uint64_t size;
	uint64_t behind; /* the kernel was asked to write the bytes before this one to the disk */
	char path[PATH_MAX];
	char directory[PATH_MAX];
	char temporary[PATH_MAX]; /* a file if has_name */
};

/*
 * rename() would replace a link or a device node in place of writing to it: follow links, and
 * refuse what is not a regular file.
 */
static doca_error_t resolve(const char *path, char resolved[static PATH_MAX],
			    struct dpumap_error *error)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		if (errno != ENOENT)
			return dpumap_error_errno(error, errno, "cannot write %s", path);
		if (strlen(path) >= PATH_MAX)
			return dpumap_error_errno(error, ENAMETOOLONG, "cannot write %s", path);
		memcpy(resolved, path, strlen(path) + 1);
		return DOCA_SUCCESS;
	}
	if (!S_ISREG(st.st_mode))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"cannot write %s: it exists and is not a regular file",
					path);
	if (!realpath(path, resolved))
		return dpumap_error_errno(error, errno, "cannot write %s", path);
	return DOCA_SUCCESS;
}

static doca_error_t exists(const char *path, struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_ALREADY_EXIST, "%s already exists", path);
}

static doca_error_t check_new(const char *path, char resolved[static PATH_MAX],
			      struct dpumap_error *error)
{
	struct stat st;

	if (strlen(path) >= PATH_MAX)
		return dpumap_error_errno(error, ENAMETOOLONG, "cannot write %s", path);
	memcpy(resolved, path, strlen(path) + 1);
	return lstat(path, &st) == 0 ? exists(path, error) : DOCA_SUCCESS;
}

/* --- owner, mode and access list of a file that is replaced ----------------------------------- */

static doca_error_t cannot_keep(const struct dpumap_outfile *out, const char *what,
				struct dpumap_error *error)
{
	return dpumap_error_errno(error, errno,
				  "cannot keep the %s of %s: remove the file or use another name",
				  what, out->path);
}

/* A file that another user has put into a folder for all would give the content to that user. */
static doca_error_t check_owner(const struct dpumap_outfile *out, const struct stat *st,
				struct dpumap_error *error)
{
	struct stat dir;

	if (st->st_uid == geteuid())
		return DOCA_SUCCESS;
	if (stat(out->directory, &dir) != 0)
		return dpumap_error_errno(error, errno, "cannot write %s", out->path);
	if (!(dir.st_mode & S_ISVTX) || !(dir.st_mode & S_IWOTH) || st->st_uid == dir.st_uid)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
				"cannot write %s: it belongs to user %u, and all users can write "
				"to its directory: remove the file or use another name",
				out->path, st->st_uid);
}

/* The new file may have inherited a list from the directory. */
static int copy_access_list(int fd, const char *path)
{
	char list[ACCESS_LIST_MAX];
	ssize_t len = getxattr(path, ACCESS_LIST, list, sizeof(list));

	if (len >= 0)
		return fsetxattr(fd, ACCESS_LIST, list, (size_t)len, 0);
	if (errno != ENODATA)
		return errno == ENOTSUP ? 0 : -1;
	return fremovexattr(fd, ACCESS_LIST) == 0 || errno == ENODATA || errno == ENOTSUP ? 0 : -1;
}

static doca_error_t keep_attributes(const struct dpumap_outfile *out, const struct stat *old,
				    struct dpumap_error *error)
{
	mode_t mode = old->st_mode & 0777;
	doca_error_t result;
	struct stat own;

	result = check_owner(out, old, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (fstat(out->fd, &own) != 0)
		return dpumap_error_errno(error, errno, "cannot examine %s", out->path);
	if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
	    fchown(out->fd, old->st_uid, old->st_gid) != 0)
		return cannot_keep(out, "owner", error);
	if (copy_access_list(out->fd, out->path) != 0)
		return cannot_keep(out, "access list", error);
	if (!(out->mode & S_IRWXO))
		mode &= ~(mode_t)S_IRWXO;
	return fchmod(out->fd, mode) == 0 ? DOCA_SUCCESS : cannot_keep(out, "mode", error);
}

static doca_error_t set_attributes(const struct dpumap_outfile *out, struct dpumap_error *error)
{
	struct stat old;

	if (lstat(out->path, &old) == 0 && S_ISREG(old.st_mode))
		return keep_attributes(out, &old, error);
	if (fchmod(out->fd, out->mode) != 0)
		return dpumap_error_errno(error, errno, "cannot set the mode of %s", out->path);
	return DOCA_SUCCESS;
}

/* --- the file until it is complete: without a name where the file system supports that -------- */

static doca_error_t name_temporary(struct dpumap_outfile *out, struct dpumap_error *error)
{
	const char *slash = strrchr(out->path, '/');
	int dir_len = slash ? (int)(slash - out->path) + 1 : 0;
	int n = snprintf(out->temporary, sizeof(out->temporary), "%.*s.dpumap-XXXXXX", dir_len,
			 out->path);

	if (n < 0 || (size_t)n >= sizeof(out->temporary))
		return dpumap_error_errno(error, ENAMETOOLONG, "cannot write %s", out->path);
	snprintf(out->directory, sizeof(out->directory), "%.*s", dir_len > 0 ? dir_len : 1,
		 dir_len > 0 ? out->path : ".");
	return DOCA_SUCCESS;
}

/* mkostemp() creates files with mode 0600 whatever the umask is, and so does open_nameless(). */
static mode_t apply_umask(mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	return mode & ~mask;
}

/* The file gets its name by way of /proc. */
static void format_fd_path(int fd, char path[static FD_PATH_MAX])
{
	snprintf(path, FD_PATH_MAX, "/proc/self/fd/%d", fd);
}

static int open_nameless(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[FD_PATH_MAX];

	if (fd < 0)
		return -1;
	format_fd_path(fd, path);
	if (access(path, F_OK) == 0)
		return fd;
	close(fd);
	return -1;
}

static int open_named(struct dpumap_outfile *out)
{
	int fd = mkostemp(out->temporary, O_CLOEXEC);

	out->has_name = fd >= 0;
	return fd;
}

static doca_error_t open_temporary(struct dpumap_outfile *out, struct dpumap_error *error)
{
	doca_error_t result;

	out->fd = open_nameless(out->directory);
	if (out->fd < 0)
		out->fd = open_named(out);
	if (out->fd < 0)
		return dpumap_error_errno(error, errno, "cannot write %s", out->path);
	/* Here as well, to fail before the first byte. */
	result = set_attributes(out, error);
	if (result != DOCA_SUCCESS) {
		close(out->fd);
		if (out->has_name)
			unlink(out->temporary);
	}
	return result;
}

static doca_error_t create(const char *path, mode_t mode, bool is_new, struct dpumap_outfile **out,
			   struct dpumap_error *error)
{
	struct dpumap_outfile *o = calloc(1, sizeof(*o));
	doca_error_t result;

	if (!o)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory to write %s", path);
	o->mode = apply_umask(mode);
	o->is_new = is_new;
	result = is_new ? check_new(path, o->path, error) : resolve(path, o->path, error);
	if (result == DOCA_SUCCESS)
		result = name_temporary(o, error);
	if (result == DOCA_SUCCESS)
		result = open_temporary(o, error);
	if (result != DOCA_SUCCESS) {
		free(o);
		return result;
	}
	*out = o;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_outfile_create(const char *path, mode_t mode, struct dpumap_outfile **out,
				   struct dpumap_error *error)
{
	return create(path, mode, false, out, error);
}

doca_error_t dpumap_outfile_create_new(const char *path, mode_t mode, struct dpumap_outfile **out,
				       struct dpumap_error *error)
{
	return create(path, mode, true, out, error);
}

/*
 * Otherwise the disk would be idle until commit(). fsync() reports errors, and the call is not
 * essential.
 */
static void write_behind(struct dpumap_outfile *out)
{
	if (out->size - out->behind < WRITE_BEHIND)
		return;
	sync_file_range(out->fd, (off_t)out->behind, (off_t)(out->size - out->behind),
			SYNC_FILE_RANGE_WRITE);
	out->behind = out->size;
}

doca_error_t dpumap_outfile_write(struct dpumap_outfile *out, const void *buf, size_t len,
				  struct dpumap_error *error)
{
	const char *from = buf;
	ssize_t n;

	while (len > 0) {
		n = write(out->fd, from, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dpumap_error_errno(error, errno, "cannot write %s", out->path);
		from += n;
		out->size += (uint64_t)n;
		len -= (size_t)n;
	}
	write_behind(out);
	return DOCA_SUCCESS;
}

static bool is_zero(const char *bytes, size_t len)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0;
}

static doca_error_t skip(struct dpumap_outfile *out, size_t len, struct dpumap_error *error)
{
	out->size += len;
	/* Sets the length, in case the file ends with a hole. */
	if (ftruncate(out->fd, (off_t)out->size) != 0 ||
	    lseek(out->fd, (off_t)out->size, SEEK_SET) < 0)
		return dpumap_error_errno(error, errno, "cannot write %s", out->path);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_outfile_write_sparse(struct dpumap_outfile *out, const void *buf, size_t len,
					 struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;
	const char *from = buf;

	while (len > 0 && result == DOCA_SUCCESS) {
		/* Up to the end of the file's block, so that a hole covers whole blocks. */
		size_t piece = SPARSE_BLOCK - (size_t)(out->size % SPARSE_BLOCK);

		if (piece > len)
			piece = len;
		result = is_zero(from, piece) ? skip(out, piece, error)
					      : dpumap_outfile_write(out, from, piece, error);
		from += piece;
		len -= piece;
	}
	return result;
}

doca_error_t dpumap_outfile_read_back(const struct dpumap_outfile *out, uint64_t at, void *buf,
				      size_t len, struct dpumap_error *error)
{
	return dpumap_file_read(out->fd, out->path, at, buf, len, error);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Some file systems report a failed write only here; some special ones support no fsync(). */
static int sync_to_disk(int fd)
{
	int result;

	do
		result = fsync(fd);
	while (result != 0 && errno == EINTR);
	return result != 0 && errno == EINVAL ? 0 : result;
}

static int sync_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result;

	/* A directory that may be written to but not read. */
	if (fd < 0)
		return errno == EACCES ? 0 : -1;
	result = sync_to_disk(fd);
	close(fd);
	return result;
}

static int link_as(const struct dpumap_outfile *out, const char *name)
{
	char fd_path[FD_PATH_MAX];

	if (out->has_name)
		return link(out->temporary, name);
	format_fd_path(out->fd, fd_path);
	return linkat(AT_FDCWD, fd_path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int give_temporary_name(struct dpumap_outfile *out)
{
	char *digits = out->temporary + strlen(out->temporary) - 6;
	unsigned int number;
	int result;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -1;
		snprintf(digits, 7, "%06x", number & 0xffffff);
		result = link_as(out, out->temporary);
	} while (result != 0 && errno == EEXIST);
	out->has_name = result == 0;
	return result;
}

/* linkat() does not replace a file, so that a name is needed for rename(). */
static int replace(struct dpumap_outfile *out)
{
	if (!out->has_name && give_temporary_name(out) != 0)
		return -1;
	if (rename(out->temporary, out->path) != 0)
		return -1;
	out->has_name = false;
	return 0;
}

/* Only SIGKILL may come between the two names. */
static int replace_unsignalled(struct dpumap_outfile *out)
{
	sigset_t all, before;
	int result, saved;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = replace(out);
	saved = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return result;
}

/* A new name needs no other before it. */
static int replace_target(struct dpumap_outfile *out)
{
	if (!out->has_name) {
		if (link_as(out, out->path) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
	}
	return replace_unsignalled(out);
}

static doca_error_t publish(struct dpumap_outfile *out, struct dpumap_error *error)
{
	int result = out->is_new ? link_as(out, out->path) : replace_target(out);

	if (result == 0)
		return DOCA_SUCCESS;
	if (out->is_new && errno == EEXIST)
		return exists(out->path, error);
	return dpumap_error_errno(error, errno, "cannot write %s", out->path);
}

doca_error_t dpumap_outfile_commit(struct dpumap_outfile *out, struct dpumap_error *error)
{
	/* Again: the file that is replaced may have changed since. */
	doca_error_t result = set_attributes(out, error);

	if (result == DOCA_SUCCESS && sync_to_disk(out->fd) != 0)
		result = dpumap_error_errno(error, errno, "cannot write %s", out->path);
	if (result == DOCA_SUCCESS)
		result = publish(out, error);
	if (result == DOCA_SUCCESS && sync_directory(out->directory) != 0)
		result = dpumap_error_errno(error, errno,
					    "%s is complete, but a power failure may undo it: "
					    "cannot write its directory to the disk",
					    out->path);
	dpumap_outfile_discard(out);
	return result;
}

void dpumap_outfile_discard(struct dpumap_outfile *out)
{
	if (!out)
		return;
	close(out->fd);
	if (out->has_name)
		unlink(out->temporary);
	free(out);
}
