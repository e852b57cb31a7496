/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files that are written completely or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/outfile.h"
#include "local/file.h"
#include "temporary.h"

static struct dpumap_error error;

/* What the test sees and decides of the system calls below. */
static struct {
	bool fails; /* fsync() of a file */
	bool has_no_proc;
	bool has_old_name; /* when the file was synced, path was another file or none */
	bool has_new_name; /* when the directory was synced, path was the synced file */
	ino_t inode;	   /* of the synced file */
} disk;

/* In place of the C library's functions. */
int fsync(int fd)
{
	struct stat st, named = {0};

	if (fstat(fd, &st) != 0)
		return -1;
	stat(temporary_path, &named);
	if (S_ISDIR(st.st_mode)) {
		disk.has_new_name = named.st_ino == disk.inode;
		return 0;
	}
	disk.has_old_name = st.st_size == 3 && named.st_ino != st.st_ino;
	disk.inode = st.st_ino;
	errno = EIO;
	return disk.fails ? -1 : 0;
}

int access(const char *name, int mode)
{
	errno = ENOENT;
	return disk.has_no_proc ? -1 : faccessat(AT_FDCWD, name, mode, 0);
}

static int set_up(void **state)
{
	memset(&disk, 0, sizeof(disk));
	return temporary_set_up(state);
}

static struct dpumap_outfile *create_ok(const char *name, mode_t mode)
{
	struct dpumap_outfile *out = NULL;

	assert_int_equal(dpumap_outfile_create(name, mode, &out, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_outfile_write(out, "abc", 3, &error), DOCA_SUCCESS);
	return out;
}

static void a_committed_file_is_complete(void **state)
{
	struct dpumap_outfile *out = create_ok(temporary_path, 0600);
	struct stat st;
	uint64_t size;
	char bytes[4];
	int fd;

	assert_int_not_equal(stat(temporary_path, &st), 0);
	assert_int_equal(dpumap_outfile_commit(out, &error), DOCA_SUCCESS);
	assert_int_equal(stat(temporary_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(dpumap_file_open(temporary_path, &fd, &size, &error), DOCA_SUCCESS);
	assert_int_equal(size, 3);
	assert_int_equal(dpumap_file_read(fd, temporary_path, 1, bytes, 2, &error), DOCA_SUCCESS);
	assert_memory_equal(bytes, "bc", 2);
	assert_int_equal(dpumap_file_read(fd, temporary_path, 1, bytes, 3, &error),
			 DOCA_ERROR_IO_FAILED);
	close(fd);
	assert_int_equal(unlink(temporary_path), 0);
}

static void a_discarded_file_does_not_exist(void **state)
{
	struct stat st;

	dpumap_outfile_discard(create_ok(temporary_path, 0666));
	dpumap_outfile_discard(NULL);
	assert_int_not_equal(stat(temporary_path, &st), 0);
}

static void a_file_is_read_back_before_it_is_committed(void **state)
{
	struct dpumap_outfile *out = create_ok(temporary_path, 0666);
	char bytes[2];

	assert_int_equal(dpumap_outfile_read_back(out, 1, bytes, sizeof(bytes), &error),
			 DOCA_SUCCESS);
	assert_memory_equal(bytes, "bc", sizeof(bytes));
	assert_int_equal(dpumap_outfile_read_back(out, 2, bytes, sizeof(bytes), &error),
			 DOCA_ERROR_IO_FAILED);
	dpumap_outfile_discard(out);
}

/* A link is followed: its target receives the bytes, the link remains. */
static void a_link_is_followed_and_remains(void **state)
{
	char link[96];
	struct stat st;

	snprintf(link, sizeof(link), "%s/link", temporary_directory);
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, 0666), &error),
			 DOCA_SUCCESS);
	assert_int_equal(truncate(temporary_path, 0), 0);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(dpumap_outfile_commit(create_ok(link, 0666), &error), DOCA_SUCCESS);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(temporary_path, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(unlink(temporary_path), 0);
}

static void a_file_needs_a_directory_and_a_regular_name(void **state)
{
	struct dpumap_outfile *out = NULL;
	char nowhere[128];

	assert_int_equal(dpumap_outfile_create(temporary_directory, 0666, &out, &error),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_outfile_create("/dev/null", 0666, &out, &error),
			 DOCA_ERROR_INVALID_VALUE);
	snprintf(nowhere, sizeof(nowhere), "%s/none/file", temporary_directory);
	assert_int_equal(dpumap_outfile_create(nowhere, 0666, &out, &error), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.text, nowhere));
	assert_null(out);
}

static void write_old(mode_t mode)
{
	FILE *file = fopen(temporary_path, "w");

	assert_non_null(file);
	assert_true(fputs("old content", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(temporary_path, mode), 0);
}

static void expect_old(void)
{
	char text[32] = {0};
	FILE *file = fopen(temporary_path, "r");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_int_equal(fclose(file), 0);
	assert_string_equal(text, "old content");
}

static mode_t mode_after_overwriting(mode_t old, mode_t new)
{
	struct stat st;

	write_old(old);
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, new), &error),
			 DOCA_SUCCESS);
	assert_int_equal(stat(temporary_path, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(unlink(temporary_path), 0);
	return st.st_mode & 07777;
}

static void overwriting_a_file_keeps_its_mode(void **state)
{
	assert_int_equal(mode_after_overwriting(0600, 0666), 0600);
	assert_int_equal(mode_after_overwriting(0664, 0666), 0664);
	assert_int_equal(mode_after_overwriting(0400, 0666), 0400);
	assert_int_equal(mode_after_overwriting(0755, 0666), 0755);
	/* Writing to a file removes these bits. */
	assert_int_equal(mode_after_overwriting(06755, 0666), 0755);
}

static void secret_is_never_accessible_to_all_users(void **state)
{
	assert_int_equal(mode_after_overwriting(0640, 0600), 0640);
	assert_int_equal(mode_after_overwriting(0646, 0600), 0640);
}

static void mode_that_changes_while_the_file_is_written_is_kept(void **state)
{
	struct dpumap_outfile *out;
	struct stat st;

	write_old(0644);
	out = create_ok(temporary_path, 0666);
	assert_int_equal(chmod(temporary_path, 0600), 0);
	assert_int_equal(dpumap_outfile_commit(out, &error), DOCA_SUCCESS);
	assert_int_equal(stat(temporary_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(unlink(temporary_path), 0);
}

#define NOBODY 65534

static void overwriting_a_file_keeps_its_owner(void **state)
{
	struct stat st;

	if (geteuid() != 0)
		skip();
	write_old(0640);
	assert_int_equal(chown(temporary_path, NOBODY, NOBODY), 0);
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, 0666), &error),
			 DOCA_SUCCESS);
	assert_int_equal(stat(temporary_path, &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_gid, NOBODY);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(unlink(temporary_path), 0);
}

static void owner_that_cannot_be_kept_is_refused(void **state)
{
	struct dpumap_outfile *out;
	int status = -1;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	write_old(0666);
	assert_int_equal(chmod(temporary_directory, 0777), 0);
	pid = fork();
	if (pid == 0) {
		if (setresuid(NOBODY, NOBODY, NOBODY) != 0)
			_exit(1);
		_exit(dpumap_outfile_create(temporary_path, 0666, &out, &error) !=
			      DOCA_ERROR_NOT_PERMITTED ||
		      !strstr(error.text, "owner"));
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
	expect_old();
	assert_int_equal(unlink(temporary_path), 0);
}

/* As the kernel's fs.protected_regular: another user waits for the content there. */
static void file_of_another_user_in_a_directory_for_all_is_refused(void **state)
{
	struct dpumap_outfile *out;

	if (geteuid() != 0)
		skip();
	write_old(0666);
	assert_int_equal(chown(temporary_path, NOBODY, NOBODY), 0);
	assert_int_equal(chmod(temporary_directory, 01777), 0);
	assert_int_equal(dpumap_outfile_create(temporary_path, 0600, &out, &error),
			 DOCA_ERROR_NOT_PERMITTED);
	expect_old();
	assert_int_equal(unlink(temporary_path), 0);
}

#define ACCESS_LIST "system.posix_acl_access"
/* Version 2; user::rw-, user:65534:rw-, group::---, mask::rw-, other::--- */
static const uint8_t access_list[] = {
	2, 0,	 0,    0,    0x01, 0,	 6,    0, 0xff, 0xff, 0xff, 0xff, 0x02, 0,    6,
	0, 0xfe, 0xff, 0,    0,	   0x04, 0,    0, 0,	0xff, 0xff, 0xff, 0xff, 0x10, 0,
	6, 0,	 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0,	0,    0xff, 0xff, 0xff, 0xff,
};

/* Without the list, the mask of the old file would be the rights of the new file's group. */
static void overwriting_a_file_keeps_its_access_list(void **state)
{
	uint8_t list[128];

	write_old(0600);
	if (setxattr(temporary_path, ACCESS_LIST, access_list, sizeof(access_list), 0) != 0) {
		assert_int_equal(errno, ENOTSUP);
		assert_int_equal(unlink(temporary_path), 0);
		skip();
	}
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, 0666), &error),
			 DOCA_SUCCESS);
	assert_int_equal(getxattr(temporary_path, ACCESS_LIST, list, sizeof(list)),
			 sizeof(access_list));
	assert_memory_equal(list, access_list, sizeof(access_list));
	assert_int_equal(unlink(temporary_path), 0);
}

static void list_of_the_directory_does_not_change_a_file(void **state)
{
	uint8_t list[128];

	write_old(0660);
	if (setxattr(temporary_directory, "system.posix_acl_default", access_list,
		     sizeof(access_list), 0)) {
		assert_int_equal(errno, ENOTSUP);
		assert_int_equal(unlink(temporary_path), 0);
		skip();
	}
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, 0666), &error),
			 DOCA_SUCCESS);
	assert_int_equal(getxattr(temporary_path, ACCESS_LIST, list, sizeof(list)), -1);
	assert_int_equal(errno, ENODATA);
	assert_int_equal(unlink(temporary_path), 0);
}

static void bytes_are_on_the_disk_before_the_name(void **state)
{
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, 0666), &error),
			 DOCA_SUCCESS);
	assert_true(disk.has_old_name && disk.has_new_name);
	memset(&disk, 0, sizeof(disk));
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, 0666), &error),
			 DOCA_SUCCESS);
	assert_true(disk.has_old_name && disk.has_new_name);
	assert_int_equal(unlink(temporary_path), 0);
}

static void bytes_that_do_not_reach_the_disk_leave_the_old_file(void **state)
{
	write_old(0644);
	disk.fails = true;
	assert_int_equal(dpumap_outfile_commit(create_ok(temporary_path, 0666), &error),
			 DOCA_ERROR_IO_FAILED);
	expect_old();
	assert_int_equal(unlink(temporary_path), 0);
}

static bool has_nameless_files(void)
{
	int fd = open(temporary_directory, O_TMPFILE | O_RDWR, 0600);

	return fd >= 0 && close(fd) == 0;
}

/* The directory is empty, or tear_down() fails. */
static void killed_writer_leaves_nothing(void **state)
{
	int status = -1, ready[2];
	char byte;
	pid_t pid;

	if (!has_nameless_files())
		skip();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		create_ok(temporary_path, 0666);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(ready[0]);
	close(ready[1]);
}

static void named_file_serves_where_there_is_no_proc(void **state)
{
	disk.has_no_proc = true;
	a_committed_file_is_complete(state);
	a_link_is_followed_and_remains(state);
	a_discarded_file_does_not_exist(state);
	overwriting_a_file_keeps_its_mode(state);
	bytes_are_on_the_disk_before_the_name(state);
}

static void expect_new_only(void)
{
	struct dpumap_outfile *out;

	assert_int_equal(dpumap_outfile_create_new(temporary_path, 0600, &out, &error),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_outfile_write(out, "abc", 3, &error), DOCA_SUCCESS);
	write_old(0644);
	assert_int_equal(dpumap_outfile_commit(out, &error), DOCA_ERROR_ALREADY_EXIST);
	assert_int_equal(dpumap_outfile_create_new(temporary_path, 0600, &out, &error),
			 DOCA_ERROR_ALREADY_EXIST);
	expect_old();
	assert_int_equal(unlink(temporary_path), 0);
	assert_int_equal(dpumap_outfile_create_new(temporary_path, 0600, &out, &error),
			 DOCA_SUCCESS);
	assert_int_equal(dpumap_outfile_commit(out, &error), DOCA_SUCCESS);
	assert_int_equal(unlink(temporary_path), 0);
}

static void new_file_replaces_none(void **state)
{
	expect_new_only();
	disk.has_no_proc = true;
	expect_new_only();
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, temporary_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(a_committed_file_is_complete),
		FILE_TEST(a_discarded_file_does_not_exist),
		FILE_TEST(a_file_is_read_back_before_it_is_committed),
		FILE_TEST(a_link_is_followed_and_remains),
		FILE_TEST(a_file_needs_a_directory_and_a_regular_name),
		FILE_TEST(overwriting_a_file_keeps_its_mode),
		FILE_TEST(secret_is_never_accessible_to_all_users),
		FILE_TEST(mode_that_changes_while_the_file_is_written_is_kept),
		FILE_TEST(overwriting_a_file_keeps_its_owner),
		FILE_TEST(owner_that_cannot_be_kept_is_refused),
		FILE_TEST(file_of_another_user_in_a_directory_for_all_is_refused),
		FILE_TEST(overwriting_a_file_keeps_its_access_list),
		FILE_TEST(list_of_the_directory_does_not_change_a_file),
		FILE_TEST(bytes_are_on_the_disk_before_the_name),
		FILE_TEST(bytes_that_do_not_reach_the_disk_leave_the_old_file),
		FILE_TEST(killed_writer_leaves_nothing),
		FILE_TEST(named_file_serves_where_there_is_no_proc),
		FILE_TEST(new_file_replaces_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
