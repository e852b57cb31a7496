/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Descriptors that a peer passes: one is taken, any other number leaves nothing open. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "local/passed_fd.h"

#define MOST 253 /* the kernel's limit for a message */

static int ends[2];

static int make_pair(void **state)
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

static int close_pair(void **state)
{
	return close(ends[0]) | close(ends[1]);
}

static unsigned int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Sends `text` with the same descriptor `n` times. */
static void pass(const char *text, unsigned int n)
{
	static union {
		struct cmsghdr head;
		char space[CMSG_SPACE(MOST * sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = (void *)(uintptr_t)text, .iov_len = strlen(text)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	memset(&control, 0, sizeof(control));
	control.head = (struct cmsghdr){CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	for (unsigned int i = 0; i < n; i++)
		memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &ends[0], sizeof(int));
	if (n) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	assert_int_equal(sendmsg(ends[0], &msg, 0), strlen(text));
}

static void one_descriptor_is_taken(void **state)
{
	unsigned int before = open_files();
	struct stat sent, got;
	char buf[8];
	int fd;

	pass("abc", 1);
	assert_int_equal(dpumap_receive_fd(ends[1], buf, sizeof(buf), 0, &fd), 3);
	assert_memory_equal(buf, "abc", 3);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(ends[0], &sent) | fstat(fd, &got), 0);
	assert_int_equal(sent.st_ino, got.st_ino);
	assert_int_equal(open_files(), before + 1);
	close(fd);
}

/* It receives more descriptors than its program has room for, and forgets them. */
static void skip_in_qemu(void)
{
	char name[16] = "";
	FILE *f = fopen("/proc/self/comm", "r");

	assert_non_null(f);
	assert_non_null(fgets(name, sizeof(name), f));
	fclose(f);
	if (!strncmp(name, "qemu-", 5))
		skip();
}

static void any_other_number_leaves_nothing_open(void **state)
{
	static const unsigned int numbers[] = {0, 2, 3, 4, 16, MOST};
	unsigned int before = open_files(), i;
	char buf[8];
	int fd = 99;

	skip_in_qemu();
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		pass("x", numbers[i]);
		assert_int_equal(dpumap_receive_fd(ends[1], buf, sizeof(buf), 0, &fd), 1);
		assert_int_equal(fd, -1);
		assert_int_equal(open_files(), before);
	}
}

/* As a peer that splits its request would do. */
static void each_message_passes_its_own(void **state)
{
	unsigned int before = open_files();
	char buf[8];
	int fd[3], i;

	skip_in_qemu();
	pass("a", 1);
	pass("b", 2);
	pass("c", 1);
	for (i = 0; i < 3; i++)
		assert_int_equal(dpumap_receive_fd(ends[1], buf, sizeof(buf), 0, &fd[i]), 1);
	assert_true(fd[0] >= 0 && fd[1] == -1 && fd[2] >= 0);
	assert_int_equal(open_files(), before + 2);
	close(fd[0]);
	close(fd[2]);
}

static void nothing_and_the_end_pass_nothing(void **state)
{
	char buf[8];
	int fd = 99;

	assert_int_equal(dpumap_receive_fd(ends[1], buf, sizeof(buf), MSG_DONTWAIT, &fd), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fd, -1);
	assert_int_equal(shutdown(ends[0], SHUT_WR), 0);
	assert_int_equal(dpumap_receive_fd(ends[1], buf, sizeof(buf), 0, &fd), 0);
	assert_int_equal(fd, -1);
}

#define test(function) cmocka_unit_test_setup_teardown(function, make_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(one_descriptor_is_taken),
		test(any_other_number_leaves_nothing_open),
		test(each_message_passes_its_own),
		test(nothing_and_the_end_pass_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
