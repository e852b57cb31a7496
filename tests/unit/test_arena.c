/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arenas, compared with a model of what is allocated, and the checks of queue memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <dpumap/arena.h>

#include "device/queue_memory.h"

#define LEN    ((size_t)64 * 1024)
#define PIECES 64u
#define STEPS  20000u
#define QP     DPUMAP_RESOURCE_QP

static uint8_t space[LEN] __attribute__((aligned(4096)));

struct piece {
	uint8_t *at;
	size_t size;
	uint8_t mark;
};

static bool is_full_of(const struct piece *piece)
{
	for (size_t i = 0; i < piece->size; i++)
		if (piece->at[i] != piece->mark)
			return false;
	return true;
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void take(const struct dpumap_allocator *a, struct piece *piece, uint32_t *state)
{
	size_t alignment = (size_t)1 << next(state) % 13;

	piece->size = 1 + next(state) % 4000;
	piece->at = a->alloc(a->context, piece->size, alignment, QP);
	if (!piece->at)
		return;
	assert_true(piece->at >= space && piece->at + piece->size <= space + LEN);
	assert_int_equal((uintptr_t)piece->at % alignment, 0);
	assert_int_equal((uintptr_t)piece->at % 64, 0);
	assert_true(dpumap_queue_memory_is_zero(piece->at, piece->size));
	piece->mark = (uint8_t)(1 + next(state) % 255);
	memset(piece->at, piece->mark, piece->size);
}

static void random_pieces_never_overlap(void **state)
{
	struct piece pieces[PIECES] = {0};
	struct dpumap_allocator a;
	struct dpumap_arena *arena;
	uint32_t seed = 7, full = 0;
	size_t len, used;

	memset(space, 0xff, LEN);
	assert_int_equal(dpumap_arena_create(space, LEN, &arena), DOCA_SUCCESS);
	assert_int_equal(dpumap_arena_get_allocator(arena, &a), DOCA_SUCCESS);
	for (unsigned int i = 0; i < STEPS; i++) {
		struct piece *piece = &pieces[next(&seed) % PIECES];

		if (piece->at) {
			/* No other piece overlaps it. */
			assert_true(is_full_of(piece));
			a.free(a.context, piece->at, QP);
			piece->at = NULL;
		} else {
			take(&a, piece, &seed);
			full += !piece->at;
		}
	}
	assert_true(full > 0);
	for (unsigned int i = 0; i < PIECES; i++)
		if (pieces[i].at)
			a.free(a.context, pieces[i].at, QP);
	assert_int_equal(dpumap_arena_get_usage(arena, &len, &used), DOCA_SUCCESS);
	assert_int_equal(used, 0);
	/* All of it is one free piece again. */
	pieces[0].at = a.alloc(a.context, LEN, 4096, QP);
	assert_ptr_equal(pieces[0].at, space);
	assert_null(a.alloc(a.context, 1, 1, QP));
	a.free(a.context, pieces[0].at, QP);
	assert_int_equal(dpumap_arena_destroy(arena), DOCA_SUCCESS);
}

static void invalid_pieces_are_neither_allocated_nor_freed(void **state)
{
	struct dpumap_allocator a;
	struct dpumap_arena *arena;
	size_t len, used;
	uint8_t *piece;

	assert_int_equal(dpumap_arena_create(space, LEN, &arena), DOCA_SUCCESS);
	assert_int_equal(dpumap_arena_get_allocator(arena, &a), DOCA_SUCCESS);
	assert_null(a.alloc(a.context, 0, 64, QP));
	assert_null(a.alloc(a.context, LEN + 1, 64, QP));
	assert_null(a.alloc(a.context, SIZE_MAX, 64, QP));
	assert_null(a.alloc(a.context, 64, 3, QP));
	piece = a.alloc(a.context, 100, 64, QP);
	assert_non_null(piece);
	a.free(a.context, piece + 64, QP);
	assert_int_equal(dpumap_arena_get_usage(arena, &len, &used), DOCA_SUCCESS);
	assert_int_equal(used, 128);
	assert_int_equal(dpumap_arena_destroy(arena), DOCA_ERROR_IN_USE);
	a.free(a.context, piece, QP);
	a.free(a.context, piece, QP);
	assert_int_equal(dpumap_arena_get_usage(arena, &len, &used), DOCA_SUCCESS);
	assert_int_equal(used, 0);
	assert_int_equal(dpumap_arena_destroy(arena), DOCA_SUCCESS);
}

static void invalid_arena_arguments_are_refused(void **state)
{
	struct dpumap_arena *arena = NULL;
	struct dpumap_allocator a;
	size_t n;

	assert_int_equal(dpumap_arena_create(NULL, LEN, &arena), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create(space, LEN, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create(space, 63, &arena), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create(space + 8, 640, &arena), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create_huge_pages(0, 0, &arena), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create_huge_pages(12345, 1, &arena),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create_huge_pages(64, 1, &arena), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(dpumap_arena_create_huge_pages(0, SIZE_MAX, &arena),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create_huge_pages(0, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_create_on_node(0, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_get_allocator(NULL, &a), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(dpumap_arena_get_usage(NULL, &n, &n), DOCA_ERROR_INVALID_VALUE);
	assert_null(arena);
}

static void memory_that_fork_does_not_copy_is_fork_safe(void **state)
{
	size_t len = 8192;
	uint8_t *mine = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *ours = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

#ifdef DPUMAP_TEST_USER_MODE_EMULATION
	skip(); /* it writes /proc/self/smaps itself, without the flags of mappings */
#endif
	assert_true(mine != MAP_FAILED && ours != MAP_FAILED);
	assert_true(dpumap_queue_memory_is_fork_safe(ours + 100, 5000));
	assert_false(dpumap_queue_memory_is_fork_safe(mine + 100, 5000));
	assert_int_equal(madvise(mine, 4096, MADV_DONTFORK), 0);
	assert_true(dpumap_queue_memory_is_fork_safe(mine + 100, 3996));
	assert_false(dpumap_queue_memory_is_fork_safe(mine + 100, 3997));
	assert_int_equal(madvise(mine, len, MADV_DONTFORK), 0);
	assert_true(dpumap_queue_memory_is_fork_safe(mine, len));
	munmap(mine, len);
	assert_false(dpumap_queue_memory_is_fork_safe(mine, len));
	munmap(ours, len);
}

static void memory_of_an_arena_is_fit_for_queues(void **state)
{
	struct dpumap_allocator a;
	struct dpumap_arena *arena;
	doca_error_t result;
	void *piece;

	result = dpumap_arena_create_on_node(0, LEN, &arena);
	if (result == DOCA_ERROR_NOT_PERMITTED || result == DOCA_ERROR_NOT_SUPPORTED)
		skip();
	assert_int_equal(result, DOCA_SUCCESS);
	assert_int_equal(dpumap_arena_get_allocator(arena, &a), DOCA_SUCCESS);
	piece = a.alloc(a.context, 8192, 4096, QP);
	assert_non_null(piece);
	assert_true(dpumap_queue_memory_is_fork_safe(piece, 8192));
	assert_int_equal(dpumap_queue_memory_check(piece, 8192, 4096, QP), DOCA_SUCCESS);
	assert_int_equal(dpumap_queue_memory_check((uint8_t *)piece + 8, 64, 64, QP),
			 DOCA_ERROR_INVALID_VALUE);
	a.free(a.context, piece, QP);
	assert_int_equal(dpumap_arena_destroy(arena), DOCA_SUCCESS);
}

static void queue_memory_with_any_bit_set_is_not_zero(void **state)
{
	uint8_t bytes[100] = {0};

	assert_true(dpumap_queue_memory_is_zero(bytes, 0));
	assert_true(dpumap_queue_memory_is_zero(bytes, 100));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_false(dpumap_queue_memory_is_zero(bytes, 100));
		assert_true(dpumap_queue_memory_is_zero(bytes, i));
		bytes[i] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pieces_never_overlap),
		cmocka_unit_test(invalid_pieces_are_neither_allocated_nor_freed),
		cmocka_unit_test(invalid_arena_arguments_are_refused),
		cmocka_unit_test(memory_that_fork_does_not_copy_is_fork_safe),
		cmocka_unit_test(memory_of_an_arena_is_fit_for_queues),
		cmocka_unit_test(queue_memory_with_any_bit_set_is_not_zero),
	};

	setenv("DPUMAP_LOG_LEVEL", "off", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
