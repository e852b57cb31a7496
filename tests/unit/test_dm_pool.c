/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pool of pieces of device memory, without a device: it keeps its records elsewhere. A model
 * knows the owner of each granule, and checks the pool after each random step.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <dpumap/dm_pool.h>

#include "base/array.h"
#include "core/dm/dm.h"

#define LOG_ALIGN	12u
#define MAX_RUNS	4096u
#define STEPS		30000u
#define THREADS		4u
#define ROUNDS		20000u
#define HELD		16u

#define assert_ok(call) assert_error(call, DOCA_SUCCESS)
#define assert_error(call, wanted) \
	assert_string_equal(doca_error_get_name(call), doca_error_get_name(wanted))

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint32_t below(uint64_t *state, uint32_t n)
{
	return n ? (uint32_t)((next(state) >> 16) % n) : 0;
}

/* No device: a reference keeps this one from being freed. */
static void make_dm(struct dpumap_dm *dm, size_t len)
{
	*dm = (struct dpumap_dm){.len = len, .log_align = LOG_ALIGN};
	atomic_init(&dm->refs, 1);
}

struct model {
	struct dpumap_dm dm;
	struct dpumap_dm_pool *pool;
	uint32_t log_granule, ngranules;
	uint32_t owners[MAX_RUNS]; /* of each granule: 1 + the number of a piece, or 0 */
	struct dpumap_dm_piece pieces[MAX_RUNS];
	uint32_t npieces;
	struct dpumap_dm_piece stale; /* freed; its serial is 0 before there is one */
	uint64_t random;
	unsigned int refused, done;
};

static uint32_t granules(const struct model *m, size_t len)
{
	return (uint32_t)((len + ((size_t)1 << m->log_granule) - 1) >> m->log_granule);
}

static uint32_t longest_free(const struct model *m)
{
	uint32_t longest = 0, run = 0;

	for (uint32_t i = 0; i < m->ngranules; i++) {
		run = m->owners[i] ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* A size class is exact below 64 granules, and from there a 32nd of the power of two below. */
static uint32_t round_up_to_class(uint32_t n)
{
	uint32_t width = 1;

	while (n >= 64 * width)
		width *= 2;
	return (n + width - 1) / width * width;
}

static void mark(struct model *m, const struct dpumap_dm_piece *piece, uint32_t from, uint32_t to)
{
	uint32_t first = (uint32_t)(piece->offset >> m->log_granule);
	uint32_t n = granules(m, piece->len);

	assert_true(n > 0 && first < m->ngranules && n <= m->ngranules - first);
	for (uint32_t i = first; i < first + n; i++) {
		assert_int_equal(m->owners[i], from);
		m->owners[i] = to;
	}
}

static void check_usage(struct model *m)
{
	struct dpumap_dm_pool_usage usage;
	uint32_t nfree = 0;

	for (uint32_t i = 0; i < m->ngranules; i++)
		nfree += !m->owners[i];
	assert_ok(dpumap_dm_pool_get_usage(m->pool, &usage));
	assert_int_equal(usage.total, (size_t)m->ngranules << m->log_granule);
	assert_int_equal(usage.free, (size_t)nfree << m->log_granule);
	assert_int_equal(usage.pieces, m->npieces);
}

/* Mostly small ones, and all sizes now and then. */
static size_t some_len(struct model *m)
{
	size_t total = (size_t)m->ngranules << m->log_granule;
	size_t bound = below(&m->random, 8) ? 12u << m->log_granule : total;

	return 1 + below(&m->random, (uint32_t)(bound < total ? bound : total));
}

static void step_alloc(struct model *m)
{
	uint32_t log_align = below(&m->random, 4) ? 0 : below(&m->random, LOG_ALIGN + 1);
	struct dpumap_dm_piece piece = {.serial = UINT64_MAX};
	size_t len = some_len(m);
	uint32_t align = 1, need;
	doca_error_t result;

	if (log_align > m->log_granule)
		align <<= log_align - m->log_granule;
	need = round_up_to_class(granules(m, len) + align - 1);
	result = dpumap_dm_pool_alloc(m->pool, len, log_align, &piece);
	if (result != DOCA_SUCCESS) {
		assert_error(result, DOCA_ERROR_NO_MEMORY);
		assert_true(longest_free(m) < need);
		assert_true(piece.serial == UINT64_MAX);
		m->refused++;
		return;
	}
	assert_int_equal(piece.len, len);
	assert_int_equal(piece.offset % ((size_t)align << m->log_granule), 0);
	mark(m, &piece, 0, m->npieces + 1);
	m->pieces[m->npieces++] = piece;
}

static void step_free(struct model *m)
{
	uint32_t i;

	if (!m->npieces)
		return;
	i = below(&m->random, m->npieces);
	assert_ok(dpumap_dm_pool_free(m->pool, &m->pieces[i]));
	mark(m, &m->pieces[i], i + 1, 0);
	m->stale = m->pieces[i];
	if (i != --m->npieces) {
		m->pieces[i] = m->pieces[m->npieces];
		mark(m, &m->pieces[i], m->npieces + 1, i + 1);
	}
}

/* An invalid piece is refused, even at the start of a valid one. */
static void step_wrong(struct model *m)
{
	struct dpumap_dm_piece wrong = m->stale;

	if (wrong.serial)
		assert_error(dpumap_dm_pool_free(m->pool, &wrong), DOCA_ERROR_NOT_FOUND);
	if (!m->npieces)
		return;
	wrong = m->pieces[below(&m->random, m->npieces)];
	switch (below(&m->random, 5)) {
	case 0:
		wrong.offset += (size_t)1 << m->log_granule;
		break;
	case 1:
		wrong.offset++;
		break;
	case 2:
		wrong.len++;
		break;
	case 3:
		wrong.serial += 1 + below(&m->random, 1000);
		break;
	default:
		wrong.offset = (size_t)next(&m->random);
		break;
	}
	assert_error(dpumap_dm_pool_free(m->pool, &wrong), DOCA_ERROR_NOT_FOUND);
}

static void run_model(size_t len, uint32_t log_granule, uint64_t seed)
{
	struct model *m = calloc(1, sizeof(*m));
	struct dpumap_dm_piece all;

	assert_non_null(m);
	m->random = seed | 1;
	m->log_granule = log_granule ? log_granule : 6;
	m->ngranules = (uint32_t)(len >> m->log_granule);
	make_dm(&m->dm, len);
	assert_ok(dpumap_dm_pool_create(&m->dm, log_granule, &m->pool));
	for (m->done = 0; m->done < STEPS; m->done++) {
		/* The pool fills and empties in turn, to reach all states. */
		uint32_t eager = m->done / 2000 % 2 ? 35 : 60;
		uint32_t dice = below(&m->random, 100);

		if (dice < eager)
			step_alloc(m);
		else if (dice < 95)
			step_free(m);
		else
			step_wrong(m);
		if (m->done % 64 == 0)
			check_usage(m);
	}
	check_usage(m);
	assert_true(m->refused > 0);
	if (m->npieces)
		assert_error(dpumap_dm_pool_destroy(m->pool), DOCA_ERROR_IN_USE);
	while (m->npieces)
		step_free(m);
	/* All pieces have merged again. */
	assert_ok(dpumap_dm_pool_alloc(m->pool, (size_t)m->ngranules << m->log_granule, 0, &all));
	assert_int_equal(all.offset, 0);
	assert_ok(dpumap_dm_pool_free(m->pool, &all));
	assert_ok(dpumap_dm_pool_destroy(m->pool));
	assert_int_equal(atomic_load(&m->dm.refs), 1);
	assert_int_equal(atomic_load(&m->dm.pools), 0);
	print_message("%zu bytes, granules of 2^%u, seed 0x%" PRIx64 ": %u steps, %u refused\n",
		      len, m->log_granule, seed, STEPS, m->refused);
	free(m);
}

static uint64_t new_seed(void)
{
	const char *given = getenv("DPUMAP_TEST_SEED");
	struct timespec now;
	uint64_t seed;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = given ? strtoull(given, NULL, 0)
		     : (uint64_t)now.tv_nsec * 1000003u + (uint64_t)now.tv_sec;
	print_message("DPUMAP_TEST_SEED=0x%" PRIx64 "\n", seed);
	return seed;
}

static void random_pieces_agree_with_the_model(void **state)
{
	uint64_t seed = new_seed();

	run_model((size_t)128 << 10, 0, seed);
	run_model((size_t)4096, 3, seed + 1);
	run_model((size_t)100000, 6, seed + 2); /* with a remainder below one granule */
	run_model((size_t)32768, 3, seed + 3);
	run_model((size_t)4096 << 12, 12, seed + 4);
	run_model((size_t)64 * 3, 6, seed + 5);
}

static void invalid_pool_arguments_are_refused(void **state)
{
	struct dpumap_dm_pool_usage usage;
	struct dpumap_dm_pool *pool = NULL;
	struct dpumap_dm_piece piece = {0};
	struct dpumap_dm dm;

	make_dm(&dm, 4100);
	assert_error(dpumap_dm_pool_create(NULL, 0, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_create(&dm, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_create(&dm, 2, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_create(&dm, 17, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_create(&dm, 64, &pool), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_create(&dm, 13, &pool), DOCA_ERROR_INVALID_VALUE);
	dm.len = ((size_t)8 << 24) + 8;
	assert_error(dpumap_dm_pool_create(&dm, 3, &pool), DOCA_ERROR_INVALID_VALUE);
	dm.len = 4100;
	assert_null(pool);
	assert_ok(dpumap_dm_pool_create(&dm, 0, &pool));
	assert_error(dpumap_dm_pool_alloc(NULL, 64, 0, &piece), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_alloc(pool, 64, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_alloc(pool, 0, 0, &piece), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_alloc(pool, 4097, 0, &piece), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_alloc(pool, SIZE_MAX, 0, &piece), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_alloc(pool, 64, 13, &piece), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_alloc(pool, 64, UINT32_MAX, &piece), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_free(NULL, &piece), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_free(pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_free(pool, &piece), DOCA_ERROR_NOT_FOUND);
	assert_error(dpumap_dm_pool_get_usage(NULL, &usage), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_get_usage(pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_pool_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_dm_pool_destroy(pool));
}

static void a_piece_is_freed_once_and_to_its_pool(void **state)
{
	struct dpumap_dm_piece a, b, again;
	struct dpumap_dm_pool *one, *two;
	struct dpumap_dm dm;

	make_dm(&dm, 4096);
	assert_ok(dpumap_dm_pool_create(&dm, 0, &one));
	assert_ok(dpumap_dm_pool_create(&dm, 0, &two));
	assert_ok(dpumap_dm_pool_alloc(one, 64, 0, &a));
	assert_ok(dpumap_dm_pool_alloc(two, 64, 0, &b));
	assert_int_equal(a.offset, b.offset);
	assert_error(dpumap_dm_pool_free(two, &a), DOCA_ERROR_NOT_FOUND);
	assert_error(dpumap_dm_pool_free(one, &b), DOCA_ERROR_NOT_FOUND);
	assert_error(dpumap_dm_pool_destroy(one), DOCA_ERROR_IN_USE);
	assert_ok(dpumap_dm_pool_free(one, &a));
	assert_error(dpumap_dm_pool_free(one, &a), DOCA_ERROR_NOT_FOUND);
	/* Nor when another piece has the same bytes by now. */
	assert_ok(dpumap_dm_pool_alloc(one, 64, 0, &again));
	assert_int_equal(a.offset, again.offset);
	assert_error(dpumap_dm_pool_free(one, &a), DOCA_ERROR_NOT_FOUND);
	assert_ok(dpumap_dm_pool_free(one, &again));
	assert_ok(dpumap_dm_pool_free(two, &b));
	assert_ok(dpumap_dm_pool_destroy(one));
	assert_ok(dpumap_dm_pool_destroy(two));
}

/* Threads: each granule has at most one owner at a time. */

static struct dpumap_dm_pool *shared;
static _Atomic uint32_t owned[1024];

static bool own(const struct dpumap_dm_piece *piece, uint32_t from, uint32_t to)
{
	bool good = true;

	for (size_t i = piece->offset / 64; i < (piece->offset + piece->len + 63) / 64; i++)
		good = atomic_exchange(&owned[i], to) == from && good;
	return good;
}

static void *work(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;
	struct dpumap_dm_piece held[HELD] = {0};
	uint64_t random = 0x9e3779b97f4a7c15u * me;
	bool good = true;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct dpumap_dm_piece *piece = &held[below(&random, HELD)];

		if (piece->serial) {
			good = own(piece, me, 0) && good;
			good = dpumap_dm_pool_free(shared, piece) == DOCA_SUCCESS && good;
			piece->serial = 0;
		} else if (dpumap_dm_pool_alloc(shared, 1 + below(&random, 3000), 0, piece) ==
			   DOCA_SUCCESS) {
			good = own(piece, 0, me) && good;
		}
	}
	for (uint32_t i = 0; i < HELD; i++) {
		if (!held[i].serial)
			continue;
		good = own(&held[i], me, 0) && good;
		good = dpumap_dm_pool_free(shared, &held[i]) == DOCA_SUCCESS && good;
	}
	return good ? NULL : (void *)1;
}

static void threads_share_a_pool(void **state)
{
	struct dpumap_dm_pool_usage usage;
	pthread_t threads[THREADS];
	struct dpumap_dm dm;
	void *bad;

	make_dm(&dm, ARRAY_SIZE(owned) * 64);
	assert_ok(dpumap_dm_pool_create(&dm, 0, &shared));
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &bad), 0);
		assert_null(bad);
	}
	assert_ok(dpumap_dm_pool_get_usage(shared, &usage));
	assert_int_equal(usage.free, usage.total);
	assert_int_equal(usage.pieces, 0);
	assert_ok(dpumap_dm_pool_destroy(shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pieces_agree_with_the_model),
		cmocka_unit_test(invalid_pool_arguments_are_refused),
		cmocka_unit_test(a_piece_is_freed_once_and_to_its_pool),
		cmocka_unit_test(threads_share_a_pool),
	};

	setenv("DPUMAP_LOG_LEVEL", "off", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
