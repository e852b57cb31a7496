/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "fixture.h"

#define QUEUE_DEPTH 64

struct rig_options rig_options;

void rig_parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"emu", required_argument, NULL, 'e'},
		{"peer-as", required_argument, NULL, 'p'},
		{"engine", required_argument, NULL, 'n'},
		{"shares-direct", no_argument, NULL, 'd'},
		{"be-peer", no_argument, NULL, 'b'},
		{"skip", required_argument, NULL, 's'},
		{0},
	};
	int c;

	rig_options.self = argv[0];
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'e':
			rig_options.emu = optarg;
			break;
		case 'p':
			rig_options.peer_as = optarg;
			break;
		case 'n':
			rig_options.engine = optarg;
			break;
		case 'd':
			rig_options.shares_direct = true;
			break;
		case 's':
			cmocka_set_skip_filter(optarg);
			break;
		case 'b':
			rig_options.is_peer = true;
			break;
		default:
			exit(2);
		}
	}
}

struct ibv_context *rig_open_context(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	if (!list)
		return NULL;
	if (list[0])
		context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	return context;
}

doca_error_t rig_open_device(struct doca_dev **dev)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;
	struct doca_devinfo **list;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_FOUND;
	if (n)
		result = doca_dev_open(list[0], dev);
	doca_devinfo_destroy_list(list);
	return result;
}

doca_error_t rig_open(struct rig *rig)
{
	doca_error_t result = rig_open_device(&rig->dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dma_create(rig->dev, QUEUE_DEPTH, &rig->dma);
	if (result != DOCA_SUCCESS)
		doca_dev_close(rig->dev);
	return result;
}

doca_error_t rig_close(struct rig *rig)
{
	doca_error_t result = dpumap_dma_destroy(rig->dma);

	return result == DOCA_SUCCESS ? doca_dev_close(rig->dev) : result;
}

doca_error_t rig_buf_create(const struct rig *rig, size_t len, uint32_t access, struct rig_buf *buf)
{
	doca_error_t result;

	buf->bytes = calloc(1, len);
	buf->len = len;
	if (!buf->bytes)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_mmap_create(&buf->mmap);
	if (result != DOCA_SUCCESS)
		goto free_bytes;
	result = doca_mmap_set_memrange(buf->mmap, buf->bytes, len);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(buf->mmap, access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(buf->mmap, rig->dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(buf->mmap));
	if (result == DOCA_SUCCESS)
		return result;
	doca_mmap_destroy(buf->mmap);
free_bytes:
	free(buf->bytes);
	return result;
}

doca_error_t rig_buf_destroy(struct rig_buf *buf)
{
	doca_error_t result = doca_mmap_destroy(buf->mmap);

	free(buf->bytes);
	return result;
}

void rig_fill(uint8_t *bytes, size_t len, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;

	for (size_t i = 0; i < len; i++) {
		state = state * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(state >> 24);
	}
}

uint64_t rig_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

doca_error_t rig_wait(struct dpumap_dma *dma, unsigned int patience_ms,
		      struct dpumap_dma_completion *completion)
{
	uint64_t deadline = rig_now_ms() + patience_ms;
	doca_error_t result;
	uint32_t n;

	do {
		result = dpumap_dma_poll(dma, completion, 1, &n);
		if (result != DOCA_SUCCESS || n)
			return result;
		sched_yield();
	} while (rig_now_ms() < deadline);
	return DOCA_ERROR_TIME_OUT;
}

doca_error_t rig_copy_within(const struct rig *rig, const struct rig_copy *copy,
			     unsigned int patience_ms)
{
	struct dpumap_dma_completion completion;
	union doca_data cookie = {.u64 = 0x1122334455667788};
	doca_error_t result;

	result = dpumap_dma_memcpy(rig->dma, copy->dst, copy->dst_addr, copy->src, copy->src_addr,
				   copy->len, cookie);
	if (result != DOCA_SUCCESS)
		return result;
	result = rig_wait(rig->dma, patience_ms, &completion);
	if (result != DOCA_SUCCESS)
		return result;
	if (completion.user_data.u64 != cookie.u64)
		return DOCA_ERROR_UNEXPECTED;
	result = dpumap_dma_reset(rig->dma);
	return completion.status == DOCA_SUCCESS ? result : completion.status;
}

doca_error_t rig_copy(const struct rig *rig, const struct rig_copy *copy)
{
	return rig_copy_within(rig, copy, RIG_PATIENCE_MS);
}

/* No fork(): the child would be without the memory that the device has, and copying the maps of a
 * sanitized process takes ten times as long. */
static pid_t start(const char *const argv[], const int in[2], const int out[2])
{
	posix_spawn_file_actions_t ends;
	pid_t pid;
	int err;

	if (posix_spawn_file_actions_init(&ends))
		return -1;
	err = in[0] < 0 ? 0 : posix_spawn_file_actions_adddup2(&ends, in[0], STDIN_FILENO);
	if (!err && out[1] >= 0)
		err = posix_spawn_file_actions_adddup2(&ends, out[1], STDOUT_FILENO);
	if (!err)
		err = posix_spawnp(&pid, argv[0], &ends, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&ends);
	return err ? -1 : pid;
}

static void close_pipe(int ends[2])
{
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

pid_t rig_spawn(const char *const argv[], int *to, int *from)
{
	int in[2] = {-1, -1};
	int out[2] = {-1, -1};
	pid_t pid = -1;

	if ((to && pipe2(in, O_CLOEXEC)) || (from && pipe2(out, O_CLOEXEC)))
		goto close_pipes;
	fflush(NULL);
	pid = start(argv, in, out);
	if (pid < 0)
		goto close_pipes;
	if (to) {
		*to = in[1];
		close(in[0]);
	}
	if (from) {
		*from = out[0];
		close(out[1]);
	}
	return pid;

close_pipes:
	close_pipe(in);
	close_pipe(out);
	return pid;
}

pid_t rig_spawn_self(const char *side, const char *env, int *socket)
{
	const char *const argv[] = {
		rig_options.emu, "run", "--as", side, "--", rig_options.self, NULL,
	};
	char number[16];
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	fcntl(pair[1], F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", pair[1]);
	setenv(env, number, 1);
	pid = rig_spawn(argv, NULL, NULL);
	unsetenv(env);
	close(pair[1]);
	*socket = pair[0];
	return pid;
}

int rig_inherited(const char *env)
{
	const char *number = getenv(env);

	return number ? (int)strtol(number, NULL, 10) : -1;
}

bool rig_send(int fd, const void *buf, size_t len)
{
	const uint8_t *at = buf;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool rig_receive(int fd, void *buf, size_t len)
{
	uint8_t *at = buf;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

int rig_reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static bool is_object(const char *name)
{
	/* They tell what the emulator is and what was done, not what it holds. */
	static const char *const others[] = {
		"profile",  "nodes",	      "cards",	"functions", "clients", "channels",
		"commands", "command_errors", "copies", "bytes",     "errors",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

bool rig_read_counts(struct rig_counts *counts)
{
	const char *const argv[] = {rig_options.emu, "status", NULL};
	struct rig_count one = {0};
	char line[256];
	FILE *stream;
	int from;
	pid_t pid = rig_spawn(argv, NULL, &from);

	if (pid < 0)
		return false;
	counts->n = 0;
	stream = fdopen(from, "r");
	if (!stream) {
		close(from);
		rig_reap(pid);
		return false;
	}
	while (fgets(line, sizeof(line), stream) && counts->n < RIG_MAX_COUNTS)
		if (sscanf(line, "%31s %lu", one.name, &one.value) == 2 && is_object(one.name))
			counts->counts[counts->n++] = one;
	fclose(stream);
	return !rig_reap(pid) && counts->n > 0;
}

bool rig_counts_equal(const struct rig_counts *a, const struct rig_counts *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned int i = 0; i < a->n; i++)
		if (strcmp(a->counts[i].name, b->counts[i].name) != 0 ||
		    a->counts[i].value != b->counts[i].value)
			return false;
	return true;
}

bool rig_counts_return(const struct rig_counts *before)
{
	uint64_t deadline = rig_now_ms() + 5000;
	struct rig_counts after;

	do {
		if (!rig_read_counts(&after))
			return false;
		if (rig_counts_equal(before, &after))
			return true;
		usleep(20000);
	} while (rig_now_ms() < deadline);
	for (unsigned int i = 0; i < before->n && i < after.n; i++)
		if (before->counts[i].value != after.counts[i].value)
			fprintf(stderr, "%s: %lu before, %lu after\n", before->counts[i].name,
				before->counts[i].value, after.counts[i].value);
	return false;
}
