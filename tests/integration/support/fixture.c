/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fixture.h"

#include <getopt.h>
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define QUEUE_DEPTH 64
#define PAGE	    4096u

struct test_options test_options;
struct fixture fixture;

static struct objects before;

void test_parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{"emu", required_argument, NULL, 'e'},	  {"peer-as", required_argument, NULL, 'p'},
		{"engine", required_argument, NULL, 'n'}, {"shares-direct", no_argument, NULL, 'd'},
		{"be-peer", no_argument, NULL, 'b'},	  {"skip", required_argument, NULL, 's'},
		{"only", required_argument, NULL, 'o'},	  {0},
	};
	int c;

	test_options.self = argv[0];
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'e':
			test_options.emu = optarg;
			break;
		case 'p':
			test_options.peer_as = optarg;
			break;
		case 'n':
			test_options.engine = optarg;
			break;
		case 'd':
			test_options.shares_direct = true;
			break;
		case 's':
			cmocka_set_skip_filter(optarg);
			break;
		case 'o':
			cmocka_set_test_filter(optarg);
			break;
		case 'b':
			test_options.is_peer = true;
			break;
		default:
			exit(2);
		}
	}
}

void test_lacks(const char *what)
{
	printf("lacks %s\n", what);
	skip();
}

void test_needs_emulator(void)
{
	if (!getenv("DPUMAP_EMU"))
		test_lacks("faults of the emulated card");
}

unsigned long test_setting(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

uint32_t test_draw(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % below;
}

const char *test_state_name(enum doca_ctx_states state)
{
	static const char *const names[] = {"IDLE", "STARTING", "RUNNING", "STOPPING"};

	return names[state];
}

unsigned int test_count_word(const char *line, const char *word)
{
	size_t len = strlen(word);
	unsigned int n = 0;

	for (const char *at = line; (at = strstr(at, word)); at += len)
		if ((at == line || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			n++;
	return n;
}

uint32_t test_crc32c(const uint8_t *bytes, size_t len)
{
	uint32_t crc = UINT32_MAX;

	while (len--) {
		crc ^= *bytes++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

void test_put_le32(uint8_t *at, uint32_t value)
{
	for (unsigned int i = 0; i < sizeof(value); i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

struct ibv_context *fixture_open_context(void)
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

doca_error_t fixture_open_device(struct doca_dev **dev)
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

doca_error_t fixture_open(struct fixture *f)
{
	doca_error_t result = fixture_open_device(&f->dev);

	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dma_create(f->dev, QUEUE_DEPTH, &f->dma);
	if (result != DOCA_SUCCESS)
		doca_dev_close(f->dev);
	return result;
}

doca_error_t fixture_close(struct fixture *f)
{
	doca_error_t result = dpumap_dma_destroy(f->dma);

	return result == DOCA_SUCCESS ? doca_dev_close(f->dev) : result;
}

/* The page before the memory. */
struct memfd_head {
	size_t len; /* with this page */
	int fd;
};

static uint8_t *create_memfd(size_t len)
{
	struct memfd_head head = {len + PAGE, memfd_create("test", MFD_CLOEXEC)};
	void *mapped = MAP_FAILED;

	if (head.fd >= 0 && ftruncate(head.fd, (off_t)head.len) == 0)
		mapped = mmap(NULL, head.len, PROT_READ | PROT_WRITE, MAP_SHARED, head.fd, 0);
	if (mapped == MAP_FAILED) {
		if (head.fd >= 0)
			close(head.fd);
		return NULL;
	}
	memcpy(mapped, &head, sizeof(head));
	return (uint8_t *)mapped + PAGE;
}

uint8_t *fixture_memory_create(size_t len)
{
	if (getenv("DPUMAP_TEST_MEMFDS"))
		return create_memfd(len);
	return aligned_alloc(PAGE, (len + PAGE - 1) / PAGE * PAGE);
}

void fixture_memory_destroy(uint8_t *bytes)
{
	struct memfd_head head;

	if (!bytes || !getenv("DPUMAP_TEST_MEMFDS")) {
		free(bytes);
		return;
	}
	memcpy(&head, bytes - PAGE, sizeof(head));
	munmap(bytes - PAGE, head.len);
	close(head.fd);
}

doca_error_t fixture_buf_create(const struct fixture *f, size_t len, uint32_t access,
				struct fixture_buf *buf)
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
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(buf->mmap, f->dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(buf->mmap));
	if (result == DOCA_SUCCESS)
		return result;
	doca_mmap_destroy(buf->mmap);
free_bytes:
	free(buf->bytes);
	return result;
}

doca_error_t fixture_buf_destroy(struct fixture_buf *buf)
{
	doca_error_t result = doca_mmap_destroy(buf->mmap);

	free(buf->bytes);
	return result;
}

bool fixture_open_bufs(size_t len, struct fixture_buf *from, struct fixture_buf *to)
{
	if (fixture_buf_create(&fixture, len, LOCAL_RW, from) != DOCA_SUCCESS ||
	    fixture_buf_create(&fixture, len, LOCAL_RW, to) != DOCA_SUCCESS)
		return false;
	fixture_fill(from->bytes, len, 1);
	return true;
}

bool fixture_close_bufs(struct fixture_buf *from, struct fixture_buf *to)
{
	return fixture_buf_destroy(from) == DOCA_SUCCESS && fixture_buf_destroy(to) == DOCA_SUCCESS;
}

void fixture_assert_no_growth(void (*call)(void *context), void *context)
{
	size_t warm = 0;

	for (unsigned int i = 0; i < 150; i++) {
		if (i == 50)
			warm = mallinfo2().uordblks;
		call(context);
	}
	assert_true(mallinfo2().uordblks <= warm + 1024);
}

struct doca_mmap *fixture_import_pci(struct doca_dev *dev, struct doca_mmap *from)
{
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_pci(from, dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, dev, &mmap));
	return mmap;
}

void fixture_fill(uint8_t *bytes, size_t len, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;

	for (size_t i = 0; i < len; i++) {
		state = state * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(state >> 24);
	}
}

doca_error_t fixture_wait(struct dpumap_dma *dma, unsigned int timeout_ms,
			  struct dpumap_dma_completion *completion)
{
	uint64_t deadline = monotonic_ms() + timeout_ms;
	doca_error_t result;
	bool late;
	uint32_t n;

	do { /* at least once after the deadline: a busy machine may leave no turn before it */
		late = monotonic_ms() >= deadline;
		result = dpumap_dma_poll(dma, completion, 1, &n);
		if (result != DOCA_SUCCESS || n)
			return result;
		sched_yield();
	} while (!late);
	return DOCA_ERROR_TIME_OUT;
}

doca_error_t fixture_copy_within(const struct fixture *f, const struct fixture_copy *copy,
				 unsigned int timeout_ms)
{
	struct dpumap_dma_completion completion;
	union doca_data cookie = {.u64 = 0x1122334455667788};
	doca_error_t result;

	result = dpumap_dma_memcpy(f->dma, copy->dst, copy->dst_addr, copy->src, copy->src_addr,
				   copy->len, cookie);
	if (result != DOCA_SUCCESS)
		return result;
	result = fixture_wait(f->dma, timeout_ms, &completion);
	if (result != DOCA_SUCCESS)
		return result;
	if (completion.user_data.u64 != cookie.u64)
		return DOCA_ERROR_UNEXPECTED;
	result = dpumap_dma_reset(f->dma);
	return completion.status == DOCA_SUCCESS ? result : completion.status;
}

doca_error_t fixture_copy(const struct fixture *f, const struct fixture_copy *copy)
{
	return fixture_copy_within(f, copy, FIXTURE_TIMEOUT_MS);
}

int fixture_count(void **state)
{
	return objects_read(&before) ? 0 : -1;
}

int fixture_recount(void **state)
{
	return objects_wait(&before) ? 0 : -1;
}

int fixture_setup(void **state)
{
	return fixture_count(state) || fixture_open(&fixture) != DOCA_SUCCESS ? -1 : 0;
}

int fixture_teardown(void **state)
{
	return fixture_close(&fixture) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
