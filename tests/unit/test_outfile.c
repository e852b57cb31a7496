/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files that are written completely or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/outfile.h"

static char directory[64];
static char path[96];
static struct dpumap_fault fault;

static int set_up(void **state)
{
	snprintf(directory, sizeof(directory), "/tmp/dpumap-test-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/file", directory);
	return 0;
}

/* rmdir fails, and the test with it, if a temporary file remains. */
static int tear_down(void **state)
{
	return rmdir(directory);
}

static struct dpumap_outfile *create_ok(const char *name, mode_t mode)
{
	struct dpumap_outfile *out = NULL;

	assert_int_equal(dpumap_outfile_create(name, mode, &out, &fault), DOCA_SUCCESS);
	assert_int_equal(dpumap_outfile_write(out, "abc", 3, &fault), DOCA_SUCCESS);
	return out;
}

static void test_outfile_commit(void **state)
{
	struct dpumap_outfile *out = create_ok(path, 0600);
	struct stat st;
	uint64_t size;
	char bytes[4];
	int fd;

	assert_int_not_equal(stat(path, &st), 0);
	assert_int_equal(dpumap_outfile_commit(out, &fault), DOCA_SUCCESS);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(dpumap_file_open(path, &fd, &size, &fault), DOCA_SUCCESS);
	assert_int_equal(size, 3);
	assert_int_equal(dpumap_file_read(fd, path, 1, bytes, 2, &fault), DOCA_SUCCESS);
	assert_memory_equal(bytes, "bc", 2);
	assert_int_equal(dpumap_file_read(fd, path, 1, bytes, 3, &fault), DOCA_ERROR_IO_FAILED);
	close(fd);
	assert_int_equal(unlink(path), 0);
}

static void test_outfile_discard(void **state)
{
	struct stat st;

	dpumap_outfile_discard(create_ok(path, 0666));
	dpumap_outfile_discard(NULL);
	assert_int_not_equal(stat(path, &st), 0);
}

static void test_outfile_digest(void **state)
{
	struct dpumap_outfile *out = create_ok(path, 0666);
	uint8_t digest[DPUMAP_SHA256_LEN];
	char text[DPUMAP_SHA256_TEXT_MAX];

	assert_int_equal(dpumap_outfile_digest(out, digest, &fault), DOCA_SUCCESS);
	dpumap_sha256_format(digest, text);
	assert_string_equal(text,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	dpumap_outfile_discard(out);
}

/* A link is followed: its target receives the bytes, the link remains. */
static void test_outfile_through_link(void **state)
{
	char link[96];
	struct stat st;

	snprintf(link, sizeof(link), "%s/link", directory);
	assert_int_equal(dpumap_outfile_commit(create_ok(path, 0666), &fault), DOCA_SUCCESS);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(dpumap_outfile_commit(create_ok(link, 0666), &fault), DOCA_SUCCESS);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(unlink(path), 0);
}

static void test_outfile_that_cannot_be(void **state)
{
	struct dpumap_outfile *out = NULL;
	char nowhere[128];

	assert_int_equal(dpumap_outfile_create(directory, 0666, &out, &fault),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_outfile_create("/dev/null", 0666, &out, &fault),
			 DOCA_ERROR_INVALID_VALUE);
	snprintf(nowhere, sizeof(nowhere), "%s/none/file", directory);
	assert_int_equal(dpumap_outfile_create(nowhere, 0666, &out, &fault), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(fault.text, nowhere));
	assert_null(out);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(test_outfile_commit),		FILE_TEST(test_outfile_discard),
		FILE_TEST(test_outfile_digest),		FILE_TEST(test_outfile_through_link),
		FILE_TEST(test_outfile_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
