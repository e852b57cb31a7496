/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two-level segregated fit (Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic memory allocator
 * for real-time systems", ECRTS 2004), with headers in host memory, because reading device memory
 * is slow. A run is a sequence of granules that are all free or all one piece; it is identified by
 * the number of its first granule.
 */
#include <dpumap/dm_pool.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/dm/dm.h"
#include "log/log.h"

#define LOG_CLASSES	5u /* per power of two */
#define CLASSES		(1u << LOG_CLASSES)
#define LOG_MAX_RUN	24u
#define LEVELS		(LOG_MAX_RUN - LOG_CLASSES + 2) /* the first has runs shorter than CLASSES */
#define NONE		UINT32_MAX
#define LOG_GRANULE_MIN 3u
#define LOG_GRANULE_MAX 16u
#define LOG_GRANULE	6u

/* For the first granule of a run; all zero for the others. */
struct run {
	uint32_t len;	 /* granules */
	uint32_t before; /* length of the run before this one; 0 for the first */
	union {
		uint64_t serial; /* of a piece */
		struct {
			uint32_t next, prev; /* of a free run, in the list of its class */
		};
	};
	size_t requested; /* bytes of a piece; 0 in a free run */
};

_Static_assert(sizeof(struct run) <= 24, "24 bytes for each granule, as documented in dm_pool.h");

struct dpumap_dm_pool {
	pthread_mutex_t lock;
	struct dpumap_dm *dm;
	uint32_t log_granule;
	uint32_t ngranules;
	uint32_t nfree;
	uint32_t npieces;
	uint32_t levels;	  /* bit mask: levels that have a free run */
	uint32_t classes[LEVELS]; /* bit mask for each level: classes that have a free run */
	uint32_t heads[LEVELS][CLASSES];
	struct run runs[];
};

struct size_class {
	uint32_t level, index;
};

static uint32_t log2_of(uint32_t n)
{
	return 31u - (uint32_t)__builtin_clz(n);
}

/* The class of a run of n granules. */
static struct size_class class_of(uint32_t n)
{
	uint32_t shift;

	if (n < CLASSES)
		return (struct size_class){.level = 0, .index = n};
	shift = log2_of(n) - LOG_CLASSES;
	return (struct size_class){.level = shift + 1, .index = (n >> shift) - CLASSES};
}

/* The first class whose runs all have n granules or more. */
static struct size_class class_for(uint32_t n)
{
	if (n >= CLASSES)
		n += (1u << (log2_of(n) - LOG_CLASSES)) - 1;
	return class_of(n);
}

static bool is_piece(const struct run *run)
{
	return run->len && run->requested;
}

static void insert(struct dpumap_dm_pool *pool, uint32_t first)
{
	struct run *run = &pool->runs[first];
	struct size_class at = class_of(run->len);
	uint32_t *head = &pool->heads[at.level][at.index];

	run->requested = 0;
	run->prev = NONE;
	run->next = *head;
	if (*head != NONE)
		pool->runs[*head].prev = first;
	*head = first;
	pool->classes[at.level] |= 1u << at.index;
	pool->levels |= 1u << at.level;
}

static void remove_free(struct dpumap_dm_pool *pool, uint32_t first)
{
	const struct run *run = &pool->runs[first];
	struct size_class at = class_of(run->len);

	if (run->next != NONE)
		pool->runs[run->next].prev = run->prev;
	if (run->prev != NONE) {
		pool->runs[run->prev].next = run->next;
		return;
	}
	pool->heads[at.level][at.index] = run->next;
	if (run->next != NONE)
		return;
	pool->classes[at.level] &= ~(1u << at.index);
	if (!pool->classes[at.level])
		pool->levels &= ~(1u << at.level);
}

/* Not all runs in the class of n have n granules: try the first one only. */
static uint32_t try_first(const struct dpumap_dm_pool *pool, uint32_t n)
{
	struct size_class at = class_of(n);
	uint32_t first = at.level < LEVELS ? pool->heads[at.level][at.index] : NONE;

	return first != NONE && pool->runs[first].len >= n ? first : NONE;
}

/* A run of the first class from class_for(n) on that has one. */
static uint32_t find_free(const struct dpumap_dm_pool *pool, uint32_t n)
{
	struct size_class at = class_for(n);
	uint32_t classes, levels;

	if (at.level >= LEVELS)
		return try_first(pool, n);
	classes = pool->classes[at.level] & (UINT32_MAX << at.index);
	if (!classes) {
		levels = pool->levels & (UINT32_MAX << at.level << 1);
		if (!levels)
			return try_first(pool, n);
		at.level = (uint32_t)__builtin_ctz(levels);
		classes = pool->classes[at.level];
	}
	return pool->heads[at.level][__builtin_ctz(classes)];
}

static void set_len(struct dpumap_dm_pool *pool, uint32_t first, uint32_t len)
{
	pool->runs[first].len = len;
	if (first + len < pool->ngranules)
		pool->runs[first + len].before = len;
}

/* End a run after len granules; the rest becomes a free run. */
static void cut(struct dpumap_dm_pool *pool, uint32_t first, uint32_t len)
{
	uint32_t rest = pool->runs[first].len - len;

	if (!rest)
		return;
	set_len(pool, first, len);
	set_len(pool, first + len, rest);
	insert(pool, first + len);
}

/* Merge the run at second into the one before it. Neither is in a list. */
static void join(struct dpumap_dm_pool *pool, uint32_t first, uint32_t second)
{
	uint32_t len = pool->runs[first].len + pool->runs[second].len;

	pool->runs[second] = (struct run){0};
	set_len(pool, first, len);
}

static uint32_t granules_of(const struct dpumap_dm_pool *pool, size_t len)
{
	return (uint32_t)((len - 1) >> pool->log_granule) + 1;
}

/* Unique in the process, so that freeing a piece twice cannot free a later one. */
static uint64_t next_serial(void)
{
	static _Atomic uint64_t last;

	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* Cut an aligned piece of n granules out of a listed free run. */
static void cut_piece(struct dpumap_dm_pool *pool, uint32_t first, uint32_t n, uint32_t align,
		      struct dpumap_dm_piece *piece)
{
	uint32_t start = (first + align - 1) & ~(align - 1);
	struct run *run = &pool->runs[start];
	size_t requested = piece->len;

	remove_free(pool, first);
	if (start > first) {
		cut(pool, first, start - first);
		remove_free(pool, start);
		insert(pool, first);
	}
	cut(pool, start, n);
	pool->nfree -= n;
	pool->npieces++;
	run->requested = requested;
	run->serial = next_serial();
	piece->offset = (size_t)start << pool->log_granule;
	piece->serial = run->serial;
}

static doca_error_t check_piece(const struct dpumap_dm_pool *pool, size_t len, uint32_t log_align)
{
	size_t total = (size_t)pool->ngranules << pool->log_granule;

	if (!len || len > total)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "pool %p: a piece of %zu bytes, can do 1 to %zu",
				   (const void *)pool, len, total);
	if (log_align > pool->log_granule && log_align > pool->dm->log_align)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "pool %p: a piece aligned to 2^%" PRIu32
				   ", its device memory is to 2^%" PRIu32,
				   (const void *)pool, log_align, pool->dm->log_align);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_pool_alloc(struct dpumap_dm_pool *pool, size_t len, uint32_t log_align,
				  struct dpumap_dm_piece *piece)
{
	struct dpumap_dm_piece taken = {.len = len};
	uint32_t n, align = 1, first;
	doca_error_t result;

	if (!pool || !piece)
		return dpumap_fail_null(__func__);
	result = check_piece(pool, len, log_align);
	if (result != DOCA_SUCCESS)
		return result;
	n = granules_of(pool, len);
	if (log_align > pool->log_granule)
		align <<= log_align - pool->log_granule;
	pthread_mutex_lock(&pool->lock);
	first = find_free(pool, n + align - 1);
	if (first != NONE)
		cut_piece(pool, first, n, align, &taken);
	pthread_mutex_unlock(&pool->lock);
	if (first == NONE)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "pool %p: no free space for %zu bytes",
				   (void *)pool, len);
	*piece = taken;
	return DOCA_SUCCESS;
}

static bool is_allocated(const struct dpumap_dm_pool *pool, const struct dpumap_dm_piece *piece)
{
	size_t first = piece->offset >> pool->log_granule;
	const struct run *run;

	if (first >= pool->ngranules || first << pool->log_granule != piece->offset)
		return false;
	run = &pool->runs[first];
	return is_piece(run) && run->requested == piece->len && run->serial == piece->serial;
}

static void free_run(struct dpumap_dm_pool *pool, uint32_t first)
{
	uint32_t len = pool->runs[first].len;
	uint32_t next = first + len;
	uint32_t before = pool->runs[first].before;

	pool->nfree += len;
	pool->npieces--;
	if (next < pool->ngranules && !is_piece(&pool->runs[next])) {
		remove_free(pool, next);
		join(pool, first, next);
	}
	if (before && !is_piece(&pool->runs[first - before])) {
		remove_free(pool, first - before);
		join(pool, first - before, first);
		first -= before;
	}
	insert(pool, first);
}

doca_error_t dpumap_dm_pool_free(struct dpumap_dm_pool *pool, const struct dpumap_dm_piece *piece)
{
	bool found;

	if (!pool || !piece)
		return dpumap_fail_null(__func__);
	pthread_mutex_lock(&pool->lock);
	found = is_allocated(pool, piece);
	if (found)
		free_run(pool, (uint32_t)(piece->offset >> pool->log_granule));
	pthread_mutex_unlock(&pool->lock);
	if (!found)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "pool %p: %zu bytes at offset %zu are not an allocated piece",
				   (void *)pool, piece->len, piece->offset);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_pool_get_usage(struct dpumap_dm_pool *pool,
				      struct dpumap_dm_pool_usage *usage)
{
	if (!pool || !usage)
		return dpumap_fail_null(__func__);
	pthread_mutex_lock(&pool->lock);
	*usage = (struct dpumap_dm_pool_usage){
		.total = (size_t)pool->ngranules << pool->log_granule,
		.free = (size_t)pool->nfree << pool->log_granule,
		.pieces = pool->npieces,
	};
	pthread_mutex_unlock(&pool->lock);
	return DOCA_SUCCESS;
}

static doca_error_t count_granules(const struct dpumap_dm *dm, uint32_t log_granule, uint32_t *n)
{
	size_t granules;

	if (log_granule < LOG_GRANULE_MIN || log_granule > LOG_GRANULE_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "invalid pool: granules of 2^%" PRIu32
				   " bytes, must be 2^%u to 2^%u",
				   log_granule, LOG_GRANULE_MIN, LOG_GRANULE_MAX);
	granules = dm->len >> log_granule;
	if (!granules || granules > 1u << LOG_MAX_RUN)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "invalid pool: %zu granules of 2^%" PRIu32
				   " bytes, must be 1 to %u",
				   granules, log_granule, 1u << LOG_MAX_RUN);
	*n = (uint32_t)granules;
	return DOCA_SUCCESS;
}

static void fill(struct dpumap_dm_pool *pool, uint32_t ngranules)
{
	for (uint32_t i = 0; i < LEVELS; i++)
		for (uint32_t j = 0; j < CLASSES; j++)
			pool->heads[i][j] = NONE;
	pool->ngranules = ngranules;
	pool->nfree = ngranules;
	set_len(pool, 0, ngranules);
	insert(pool, 0);
}

doca_error_t dpumap_dm_pool_create(struct dpumap_dm *dm, uint32_t log_granule,
				   struct dpumap_dm_pool **pool)
{
	struct dpumap_dm_pool *created;
	doca_error_t result;
	uint32_t n;

	if (!dm || !pool)
		return dpumap_fail_null(__func__);
	if (!log_granule)
		log_granule = LOG_GRANULE;
	result = count_granules(dm, log_granule, &n);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created) + n * sizeof(struct run));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "no memory for a pool of %" PRIu32 " granules", n);
	if (pthread_mutex_init(&created->lock, NULL)) {
		free(created);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a pool's lock");
	}
	created->log_granule = log_granule;
	fill(created, n);
	created->dm = dpumap_dm_get(dm);
	atomic_fetch_add(&dm->pools, 1);
	*pool = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_pool_destroy(struct dpumap_dm_pool *pool)
{
	if (!pool)
		return dpumap_fail_null(__func__);
	if (pool->npieces)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "pool %p: %" PRIu32 " pieces are allocated; free them first",
				   (void *)pool, pool->npieces);
	atomic_fetch_sub(&pool->dm->pools, 1);
	dpumap_dm_put(pool->dm);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
	return DOCA_SUCCESS;
}
