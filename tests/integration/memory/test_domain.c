/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queues on parent domains: the user's allocator provides their memory and receives it back, bad
 * memory is an error, and no failure leaves objects behind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/verbs.h>

#include <dpumap/arena.h>
#include <dpumap/parent_domain.h>

#include "base/array.h"
#include "faults.h"
#include "fixture.h"

#define LEN	    8192u
#define DEPTH	    64u
#define MAX_RECORDS 32u
#define ARENA_LEN   ((size_t)1 << 20)
#define ANY	    ((enum dpumap_resource)0)

/* What the allocator of a test does wrong, if anything. */
enum habit { GIVE, LEAVE_TO_DEFAULT, RUN_OUT, MISALIGN, SOIL, COPY_ON_FORK };

struct record {
	uint8_t *memory;
	size_t size, alignment;
	enum dpumap_resource resource;
	bool live;
};

static struct recorder {
	struct record records[MAX_RECORDS];
	unsigned int n;
	unsigned int asked, freed, wrong;
	enum habit habit;
	unsigned int nth;	      /* the request that the habit is about; 0: all */
	enum dpumap_resource of_kind; /* or only those of a kind */
} recorder;

static struct fixture_buf from, to;

static bool has_habit(const struct recorder *r, enum dpumap_resource resource)
{
	return (!r->nth || r->nth == r->asked) && (r->of_kind == ANY || r->of_kind == resource);
}

static void *record_alloc(void *context, size_t size, size_t alignment,
			  enum dpumap_resource resource)
{
	struct recorder *r = context;
	enum habit habit;
	uint8_t *memory;

	r->asked++;
	habit = has_habit(r, resource) ? r->habit : GIVE;
	if (habit == LEAVE_TO_DEFAULT)
		return DPUMAP_ALLOC_DEFAULT;
	if (habit == RUN_OUT || r->n == MAX_RECORDS)
		return NULL;
	/* One byte more than asked for: room to be misaligned. */
	memory = mmap(NULL, size + 1, PROT_READ | PROT_WRITE,
		      MAP_ANONYMOUS | (habit == COPY_ON_FORK ? MAP_PRIVATE : MAP_SHARED), -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (habit == SOIL)
		memory[size - 1] = 1;
	if (habit == MISALIGN)
		memory++;
	r->records[r->n++] = (struct record){memory, size, alignment, resource, true};
	return memory;
}

static void record_free(void *context, void *memory, enum dpumap_resource resource)
{
	struct recorder *r = context;

	for (unsigned int i = 0; i < r->n; i++) {
		struct record *record = &r->records[i];

		if (record->memory != memory || !record->live)
			continue;
		record->live = false;
		r->freed++;
		r->wrong += record->resource != resource;
		munmap((void *)((uintptr_t)memory & ~(uintptr_t)1), record->size + 1);
		return;
	}
	r->wrong++;
}

static const struct dpumap_allocator recording = {record_alloc, record_free, &recorder};

static int open_fixture(void **state)
{
	recorder = (struct recorder){0};
	if (fixture_open(&fixture) != DOCA_SUCCESS || !fixture_open_bufs(LEN, &from, &to))
		return -1;
	return fixture_count(state);
}

static int close_fixture(void **state)
{
	if (fixture_recount(state) || !fixture_close_bufs(&from, &to))
		return -1;
	return fixture_close(&fixture) == DOCA_SUCCESS ? 0 : -1;
}

static doca_error_t create(const struct dpumap_allocator *allocator, bool single_thread,
			   struct dpumap_parent_domain **domain)
{
	struct dpumap_parent_domain_attr attr = {allocator, single_thread};

	return dpumap_parent_domain_create(fixture.dev, &attr, domain);
}

static void copy_on(struct dpumap_dma *dma, uint32_t seed)
{
	struct fixture on = {.dev = fixture.dev, .dma = dma};

	fixture_fill(from.bytes, LEN, seed);
	memset(to.bytes, 0, LEN);
	assert_ok(fixture_copy(
		&on, &(struct fixture_copy){to.mmap, to.bytes, from.mmap, from.bytes, LEN}));
	assert_memory_equal(to.bytes, from.bytes, LEN);
}

static unsigned int count_of(enum dpumap_resource resource)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < recorder.n; i++)
		n += recorder.records[i].resource == resource;
	return n;
}

static bool is_zero(const struct record *record)
{
	for (size_t i = 0; i < record->size; i++)
		if (record->memory[i])
			return false;
	return true;
}

static void memory_comes_from_the_callbacks(void **state)
{
	struct dpumap_parent_domain *domain;
	struct dpumap_dma *dma;

	assert_ok(create(&recording, false, &domain));
	assert_int_equal(recorder.asked, 0);
	assert_ok(dpumap_dma_create_on(domain, DEPTH, &dma));
	assert_int_equal(count_of(DPUMAP_RESOURCE_QP), 1);
	assert_int_equal(count_of(DPUMAP_RESOURCE_CQ), 1);
	assert_int_equal(count_of(DPUMAP_RESOURCE_DOORBELL), 2);
	assert_int_equal(recorder.asked, 4);
	for (uint32_t seed = 1; seed <= 3 * DEPTH; seed++)
		copy_on(dma, seed);
	/* Work requests, completions and doorbells went through this memory. */
	for (unsigned int i = 0; i < recorder.n; i++) {
		assert_true(recorder.records[i].live);
		assert_false(is_zero(&recorder.records[i]));
		if (recorder.records[i].resource == DPUMAP_RESOURCE_DOORBELL)
			assert_int_equal(recorder.records[i].size, 8);
	}
	assert_int_equal(recorder.asked, 4);
	assert_ok(dpumap_dma_destroy(dma));
	assert_int_equal(recorder.freed, 4);
	assert_int_equal(recorder.wrong, 0);
	assert_ok(dpumap_parent_domain_destroy(domain));
	assert_int_equal(recorder.freed, 4);
}

static void allocator_may_leave_the_choice_to_the_library(void **state)
{
	static const enum dpumap_resource kinds[] = {ANY, DPUMAP_RESOURCE_QP, DPUMAP_RESOURCE_CQ,
						     DPUMAP_RESOURCE_DOORBELL};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct dpumap_parent_domain *domain;
		struct dpumap_dma *dma;

		recorder = (struct recorder){.habit = LEAVE_TO_DEFAULT, .of_kind = kinds[i]};
		assert_ok(create(&recording, false, &domain));
		assert_ok(dpumap_dma_create_on(domain, DEPTH, &dma));
		assert_int_equal(recorder.asked, 4);
		assert_int_equal(count_of(kinds[i]), 0);
		copy_on(dma, 1);
		assert_ok(dpumap_dma_destroy(dma));
		assert_int_equal(recorder.freed, recorder.n);
		assert_int_equal(recorder.wrong, 0);
		assert_ok(dpumap_parent_domain_destroy(domain));
	}
}

/* The allocator misbehaves at each of the four requests of a queue, one after the other. */
static void refuse_at_each(enum habit habit, doca_error_t wanted)
{
	struct dpumap_parent_domain *domain;
	struct dpumap_dma *dma;

	assert_ok(create(&recording, false, &domain));
	for (unsigned int n = 1; n <= 4; n++) {
		struct objects before;

		recorder = (struct recorder){.habit = habit, .nth = n};
		dma = (void *)&recorder;
		assert_true(objects_read(&before));
		assert_error(dpumap_dma_create_on(domain, DEPTH, &dma), wanted);
		assert_ptr_equal(dma, &recorder);
		assert_int_equal(recorder.asked, n);
		assert_int_equal(recorder.freed, recorder.n);
		assert_int_equal(recorder.wrong, 0);
		assert_true(objects_wait(&before));
	}
	recorder = (struct recorder){0};
	assert_ok(dpumap_dma_create_on(domain, DEPTH, &dma));
	copy_on(dma, 1);
	assert_ok(dpumap_dma_destroy(dma));
	assert_ok(dpumap_parent_domain_destroy(domain));
}

static void allocator_that_runs_out_is_no_memory(void **state)
{
	refuse_at_each(RUN_OUT, DOCA_ERROR_NO_MEMORY);
}

static void misaligned_memory_of_the_callbacks_is_refused(void **state)
{
	refuse_at_each(MISALIGN, DOCA_ERROR_INVALID_VALUE);
}

#ifdef NDEBUG
#define only_without_ndebug() skip()
#else
#define only_without_ndebug() (void)0
#endif

static void memory_that_is_not_zero_is_refused(void **state)
{
	only_without_ndebug();
	refuse_at_each(SOIL, DOCA_ERROR_INVALID_VALUE);
}

static void memory_that_fork_copies_is_refused(void **state)
{
	only_without_ndebug();
	if (ibv_is_fork_initialized() != IBV_FORK_ENABLED)
		skip();
	refuse_at_each(COPY_ON_FORK, DOCA_ERROR_INVALID_VALUE);
}

static void domain_functions_need_their_arguments(void **state)
{
	const struct dpumap_allocator no_alloc = {NULL, record_free, NULL};
	const struct dpumap_allocator no_free = {record_alloc, NULL, NULL};
	struct dpumap_parent_domain *domain = NULL;
	struct dpumap_dma *dma = NULL;

	assert_error(dpumap_parent_domain_create(NULL, NULL, &domain), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_parent_domain_create(fixture.dev, NULL, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(create(&no_alloc, false, &domain), DOCA_ERROR_INVALID_VALUE);
	assert_error(create(&no_free, false, &domain), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_parent_domain_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_create_on(NULL, 1, &dma), DOCA_ERROR_INVALID_VALUE);
	assert_null(domain);
	assert_ok(dpumap_parent_domain_create(fixture.dev, NULL, &domain));
	assert_error(dpumap_dma_create_on(domain, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_create_on(domain, 0, &dma), DOCA_ERROR_INVALID_VALUE);
	assert_null(dma);
	assert_ok(dpumap_parent_domain_destroy(domain));
}

static void destroy_with_users_is_in_use(void **state)
{
	struct dpumap_parent_domain *domain;
	struct dpumap_dma *first, *second;
	struct doca_dev *dev;

	assert_ok(create(&recording, true, &domain));
	assert_ok(dpumap_dma_create_on(domain, DEPTH, &first));
	assert_ok(dpumap_dma_create_on(domain, DEPTH, &second));
	assert_error(dpumap_parent_domain_destroy(domain), DOCA_ERROR_IN_USE);
	copy_on(first, 1);
	copy_on(second, 2);
	assert_ok(dpumap_dma_destroy(first));
	assert_error(dpumap_parent_domain_destroy(domain), DOCA_ERROR_IN_USE);
	copy_on(second, 3);
	assert_ok(dpumap_dma_destroy(second));
	assert_ok(fixture_open_device(&dev));
	assert_ptr_equal(dev, fixture.dev);
	assert_ok(dpumap_parent_domain_destroy(domain));
	assert_ok(doca_dev_close(dev));
	assert_int_equal(recorder.freed, recorder.n);
}

static void domain_keeps_its_device(void **state)
{
	struct dpumap_parent_domain *domain;
	struct doca_dev *dev;
	struct objects before;

	assert_true(objects_read(&before));
	assert_ok(fixture_open_device(&dev));
	assert_ok(dpumap_parent_domain_create(dev, NULL, &domain));
	assert_error(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(dpumap_parent_domain_destroy(domain));
	assert_ok(doca_dev_close(dev));
	assert_true(objects_wait(&before));
}

static void copies_run_in_a_thread_domain(void **state)
{
	struct dpumap_parent_domain *domain;
	struct dpumap_dma *dma;

	assert_ok(create(NULL, true, &domain));
	assert_ok(dpumap_dma_create_on(domain, DEPTH, &dma));
	for (uint32_t seed = 1; seed <= 3 * DEPTH; seed++)
		copy_on(dma, seed);
	/* Failing and undoing work there as well. */
	assert_error(fixture_copy(&(struct fixture){fixture.dev, dma},
				  &(struct fixture_copy){to.mmap, to.bytes + 1, from.mmap,
							 from.bytes, LEN}),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_dma_destroy(dma));
	assert_ok(dpumap_parent_domain_destroy(domain));
}

static void use_arena(struct dpumap_arena *arena)
{
	struct dpumap_allocator allocator;
	struct dpumap_parent_domain *domain;
	struct dpumap_dma *dma;
	size_t len, used;

	assert_ok(dpumap_arena_get_allocator(arena, &allocator));
	assert_ok(create(&allocator, false, &domain));
	assert_ok(dpumap_dma_create_on(domain, DEPTH, &dma));
	assert_ok(dpumap_arena_get_usage(arena, &len, &used));
	assert_true(used > DEPTH * 64 && used < len);
	for (uint32_t seed = 1; seed <= 3 * DEPTH; seed++)
		copy_on(dma, seed);
	assert_error(dpumap_arena_destroy(arena), DOCA_ERROR_IN_USE);
	assert_ok(dpumap_dma_destroy(dma));
	assert_ok(dpumap_arena_get_usage(arena, &len, &used));
	assert_int_equal(used, 0);
	assert_ok(dpumap_parent_domain_destroy(domain));
	assert_ok(dpumap_arena_destroy(arena));
}

static void copies_run_in_an_arena_of_the_user(void **state)
{
	struct dpumap_arena *arena;
	void *memory =
		mmap(NULL, ARENA_LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	/* Dirty: the arena clears what it allocates. */
	memset(memory, 0xa5, ARENA_LEN);
	assert_ok(dpumap_arena_create(memory, ARENA_LEN, &arena));
	use_arena(arena);
	munmap(memory, ARENA_LEN);
}

static void arena_that_is_too_small_is_no_memory(void **state)
{
	static uint8_t memory[4096] __attribute__((aligned(64)));
	struct dpumap_parent_domain *domain;
	struct dpumap_allocator allocator;
	struct dpumap_arena *arena;
	struct dpumap_dma *dma;

	assert_ok(dpumap_arena_create(memory, sizeof(memory), &arena));
	assert_ok(dpumap_arena_get_allocator(arena, &allocator));
	assert_ok(create(&allocator, false, &domain));
	assert_error(dpumap_dma_create_on(domain, DEPTH, &dma), DOCA_ERROR_NO_MEMORY);
	assert_ok(dpumap_parent_domain_destroy(domain));
	assert_ok(dpumap_arena_destroy(arena));
}

static void copies_run_in_an_arena_of_huge_pages(void **state)
{
	struct dpumap_arena *arena;
	doca_error_t result;

	result = dpumap_arena_create_huge_pages(0, ARENA_LEN, &arena);
	if (result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_NOT_SUPPORTED) {
		print_message("no huge pages here: %s\n", doca_error_get_name(result));
		skip();
	}
	assert_ok(result);
	use_arena(arena);
}

static void copies_run_in_an_arena_on_a_node(void **state)
{
	struct dpumap_arena *arena;
	doca_error_t result;

	result = dpumap_arena_create_on_node(0, ARENA_LEN, &arena);
	if (result == DOCA_ERROR_NOT_PERMITTED || result == DOCA_ERROR_NOT_SUPPORTED) {
		print_message("nodes cannot be chosen here: %s\n", doca_error_get_name(result));
		skip();
	}
	assert_ok(result);
	use_arena(arena);
}

/* Create, use and destroy a domain while the n-th event fails. Returns false if there is no n-th event. */
static bool live(bool single_thread, enum fault_kind kind, unsigned int n, int err)
{
	doca_error_t wanted =
		kind == FAULT_ALLOC || err == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
	struct dpumap_parent_domain *domain = NULL;
	struct dpumap_dma *dma = NULL;
	doca_error_t result;

	recorder = (struct recorder){0};
	fault_arm(kind, n, err);
	result = create(&recording, single_thread, &domain);
	if (result != DOCA_SUCCESS) {
		assert_true(fault_fired());
		assert_error(result, wanted);
		assert_null(domain);
		assert_ok(create(&recording, single_thread, &domain));
	}
	result = dpumap_dma_create_on(domain, DEPTH, &dma);
	if (result != DOCA_SUCCESS) {
		assert_true(fault_fired());
		assert_true(result == wanted || result == DOCA_ERROR_DRIVER);
		assert_null(dma);
		assert_int_equal(recorder.freed, recorder.n);
		assert_ok(dpumap_dma_create_on(domain, DEPTH, &dma));
	}
	copy_on(dma, n);
	result = dpumap_dma_destroy(dma);
	if (result != DOCA_SUCCESS) {
		assert_error(result, DOCA_ERROR_DRIVER);
		assert_error(dpumap_parent_domain_destroy(domain), DOCA_ERROR_IN_USE);
		assert_ok(dpumap_dma_destroy(dma));
	}
	assert_int_equal(recorder.freed, recorder.n);
	result = dpumap_parent_domain_destroy(domain);
	if (result != DOCA_SUCCESS) {
		assert_error(result, DOCA_ERROR_DRIVER);
		assert_ok(dpumap_parent_domain_destroy(domain));
	}
	fault_disarm();
	return fault_fired();
}

static unsigned int sweep(bool single_thread, enum fault_kind kind, int err)
{
	unsigned int n = 1;

	while (live(single_thread, kind, n, err)) {
		assert_true(n < 100);
		n++;
	}
	return n - 1;
}

static void each_failure_of_a_domain_leaves_nothing_behind(void **state)
{
	static const int errors[] = {EIO, ENOMEM, EREMOTEIO};
	unsigned int live_before, points = 0;

	/* What libmlx5 creates with the first thread domain remains with the device. */
	live(true, FAULT_NONE, 1, 0);
	live_before = fault_count_live();
	for (int single = 0; single <= 1; single++) {
		points += sweep(single, FAULT_ALLOC, ENOMEM);
		for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
			points += sweep(single, FAULT_COMMAND, errors[i]);
			points += sweep(single, FAULT_DESTROY, errors[i]);
		}
	}
	print_message("%u points swept\n", points);
	assert_true(points > 20);
	assert_int_equal(fault_count_live(), live_before);
}

/* libmlx5 keeps the doorbell pages of a thread domain for the next one. */
static int open_warm(void **state)
{
	struct dpumap_parent_domain *domain;

	if (open_fixture(state) || create(NULL, true, &domain) != DOCA_SUCCESS ||
	    dpumap_parent_domain_destroy(domain) != DOCA_SUCCESS)
		return -1;
	return fixture_count(state);
}

#define domain_test(function) cmocka_unit_test_setup_teardown(function, open_warm, close_fixture)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		domain_test(memory_comes_from_the_callbacks),
		domain_test(allocator_may_leave_the_choice_to_the_library),
		domain_test(allocator_that_runs_out_is_no_memory),
		domain_test(misaligned_memory_of_the_callbacks_is_refused),
		domain_test(memory_that_is_not_zero_is_refused),
		domain_test(memory_that_fork_copies_is_refused),
		domain_test(domain_functions_need_their_arguments),
		domain_test(destroy_with_users_is_in_use),
		counted_test(domain_keeps_its_device),
		domain_test(copies_run_in_a_thread_domain),
		domain_test(copies_run_in_an_arena_of_the_user),
		domain_test(arena_that_is_too_small_is_no_memory),
		domain_test(copies_run_in_an_arena_of_huge_pages),
		domain_test(copies_run_in_an_arena_on_a_node),
		domain_test(each_failure_of_a_domain_leaves_nothing_behind),
	};

	test_parse_options(argc, argv);
	setenv("RDMAV_FORK_SAFE", "1",
	       0); /* so that fork safety is requested where it has an effect */
	setenv("DPUMAP_LOG_LEVEL", "off", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
