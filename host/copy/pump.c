/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two rings of local memory: one from the source to the export, one from the export to the sink.
 * Threads read, write and hash; the calling thread copies, and asks the DPU for its digest.
 */
#include "host/copy/pump.h"

#include <inttypes.h>

#include "host/base/interrupt.h"
#include "host/copy/flow.h"
#include "host/import/import_queue.h"
#include "host/remote/remote.h"

/*
 * Memory that is registered for each direction: two milliseconds of hashing. Both fit below the
 * usual limit on locked memory, 8 MiB.
 */
#define RING_MAX ((uint64_t)3 << 20)
/* A small window has several pieces in flight; smaller pieces cost more than they gain. */
#define WINDOW_PIECES 4u
#define PIECE_MIN     ((uint64_t)16 << 10)
#define PIECE_ALIGN   64u
#define SPIN_PIECE    ((uint64_t)256 << 10)
/* The DPU answers each request within --timeout; of a large export it is asked for some megabytes at once. */
#define DIGEST_MAX     ((uint64_t)4 << 20)
#define DIGEST_MIN     ((uint64_t)2 << 20)
#define DIGESTS_FLIGHT 4u

/* What is under way belongs to the calling thread. */
struct run {
	struct pump *pump;
	struct flow *flow;
	uint64_t ring;
	uint64_t piece;			    /* largest copy */
	bool spin;			    /* while copies are in flight */
	uint64_t posted[IMPORT_DIRECTIONS]; /* positions */
	uint64_t asked;			    /* position of the digest */
	uint64_t digest_min;		    /* before the end */
	uint64_t digests[DIGESTS_FLIGHT];   /* lengths, a ring */
	uint64_t num_asked, num_answered;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint8_t *ring_at(const struct run *r, enum import_direction direction, uint64_t at)
{
	return (uint8_t *)r->pump->import->buffers[direction].memory + at % r->ring;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The export is full: the stream must end here, or it does not fit. */
static doca_error_t check_end(const struct pump *p, struct dpumap_error *error)
{
	size_t len;
	char more;

	if (source_read(p->source, &more, 1, &len, error) != DOCA_SUCCESS)
		return error->code;
	if (len > 0)
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"%s does not fit into export %s, which has %" PRIu64
					" bytes from offset %" PRIu64,
					p->source->name, p->import->name, p->room, p->offset);
	return DOCA_SUCCESS;
}

static doca_error_t read_piece(void *context, uint64_t at, size_t *len, struct dpumap_error *error)
{
	const struct run *r = context;
	const struct pump *p = r->pump;
	doca_error_t result;

	if (!p->is_loop)
		*len = (size_t)least(*len, p->room - at);
	result = source_read(p->source, ring_at(r, IMPORT_PUT, at), *len, len, error);
	if (result == DOCA_SUCCESS && p->source->is_endless && !p->is_loop && at + *len == p->room)
		result = check_end(p, error);
	return result;
}

static doca_error_t hash_source(void *context, uint64_t at, size_t *len, struct dpumap_error *error)
{
	const struct run *r = context;

	return source_hash(r->pump->source, ring_at(r, IMPORT_PUT, at), *len, error);
}

static doca_error_t write_piece(void *context, uint64_t at, size_t *len, struct dpumap_error *error)
{
	const struct run *r = context;

	return sink_write(r->pump->sink, ring_at(r, IMPORT_GET, at), *len, error);
}

/* The source's bytes are still in the ring, if there is one: to compare is cheaper than to hash. */
static doca_error_t check_sink(void *context, uint64_t at, size_t *len, struct dpumap_error *error)
{
	const struct run *r = context;
	const uint8_t *source = r->pump->source ? ring_at(r, IMPORT_PUT, at) : NULL;

	return sink_check(r->pump->sink, at, ring_at(r, IMPORT_GET, at), source, *len, error);
}

/* --- the calling thread ----------------------------------------------------------------------- */

/* The longest range at a position, up to a limit, that is in one piece in the export; or in ring and export. */
static uint64_t export_range_at(const struct pump *p, uint64_t at, uint64_t limit)
{
	return p->is_loop ? least(limit - at, p->room - at % p->room) : limit - at;
}

static uint64_t range_at(const struct run *r, uint64_t at, uint64_t limit)
{
	return least(export_range_at(r->pump, at, limit), r->ring - at % r->ring);
}

static uint64_t offset_of(const struct pump *p, uint64_t at)
{
	return p->offset + (p->is_loop ? at % p->room : at);
}

static doca_error_t post_copies(struct run *r, enum import_direction direction,
				struct dpumap_error *error)
{
	enum flow_stage stage = direction == IMPORT_PUT ? FLOW_PUT : FLOW_GET;
	uint64_t limit = flow_limit(r->flow, stage);
	struct import *import = r->pump->import;
	uint64_t *at = &r->posted[direction];
	struct import_piece piece = {.direction = direction,
				     .local = import->buffers[direction].map};
	doca_error_t result;

	while (*at < limit) {
		piece.len = (size_t)least(range_at(r, *at, limit), r->piece);
		piece.local_addr = ring_at(r, direction, *at);
		piece.remote_addr = import->base + offset_of(r->pump, *at);
		result = import_post(import, &piece, error);
		if (result != DOCA_SUCCESS)
			return result == DOCA_ERROR_AGAIN ? DOCA_SUCCESS : result;
		*at += piece.len;
	}
	return DOCA_SUCCESS;
}

static doca_error_t take_copies(struct run *r, bool *moved, struct dpumap_error *error)
{
	uint64_t done[IMPORT_DIRECTIONS] = {0};
	doca_error_t result = import_poll(r->pump->import, done, error);

	if (result != DOCA_SUCCESS)
		return result;
	if (done[IMPORT_PUT] > 0)
		flow_advance(r->flow, FLOW_PUT, done[IMPORT_PUT]);
	if (done[IMPORT_GET] > 0)
		flow_advance(r->flow, FLOW_GET, done[IMPORT_GET]);
	*moved |= done[IMPORT_PUT] + done[IMPORT_GET] > 0;
	r->pump->dma_bytes += done[IMPORT_PUT] + done[IMPORT_GET];
	return DOCA_SUCCESS;
}

/* Each request costs wake-ups; the rest of the stream is asked for at once. */
static bool is_worth_a_digest(const struct run *r, uint64_t limit)
{
	uint64_t len = limit - r->asked;

	return len > 0 && (len >= r->digest_min || flow_is_end(r->flow, limit));
}

static doca_error_t ask_digests(struct run *r, struct dpumap_error *error)
{
	uint64_t limit = flow_limit(r->flow, FLOW_DIGEST);
	doca_error_t result = DOCA_SUCCESS;

	while (is_worth_a_digest(r, limit) && r->num_asked - r->num_answered < DIGESTS_FLIGHT &&
	       result == DOCA_SUCCESS) {
		uint64_t len = least(export_range_at(r->pump, r->asked, limit), DIGEST_MAX);

		result = remote_digest_send(r->pump->client, r->pump->digest,
					    offset_of(r->pump, r->asked), len, error);
		r->digests[r->num_asked++ % DIGESTS_FLIGHT] = len;
		r->asked += len;
	}
	return result;
}

static doca_error_t take_digests(struct run *r, bool *moved, struct dpumap_error *error)
{
	doca_error_t result;

	while (r->num_answered < r->num_asked) {
		result = remote_digest_take(r->pump->client, error);
		if (result != DOCA_SUCCESS)
			return result == DOCA_ERROR_AGAIN ? DOCA_SUCCESS : result;
		flow_advance(r->flow, FLOW_DIGEST, r->digests[r->num_answered++ % DIGESTS_FLIGHT]);
		*moved = true;
	}
	return DOCA_SUCCESS;
}

static doca_error_t compare_digests(struct run *r, bool *moved, struct dpumap_error *error)
{
	doca_error_t result;

	if (!r->pump->verify)
		return DOCA_SUCCESS;
	result = ask_digests(r, error);
	return result == DOCA_SUCCESS ? take_digests(r, moved, error) : result;
}

static doca_error_t turn(struct run *r, bool *moved, struct dpumap_error *error)
{
	const struct pump *p = r->pump;
	doca_error_t result = flow_check(r->flow, error);

	/* What ends a piece's way comes first. */
	if (result == DOCA_SUCCESS && p->sink)
		result = post_copies(r, IMPORT_GET, error);
	if (result == DOCA_SUCCESS && p->source)
		result = post_copies(r, IMPORT_PUT, error);
	if (result == DOCA_SUCCESS)
		result = take_copies(r, moved, error);
	if (result == DOCA_SUCCESS)
		result = compare_digests(r, moved, error);
	return result;
}

static doca_error_t walk(struct run *r, struct dpumap_error *error)
{
	struct pollfd fds[] = {{.fd = flow_fd(r->flow), .events = POLLIN},
			       {.fd = dpumap_client_fd(r->pump->client), .events = POLLIN}};
	doca_error_t result = DOCA_SUCCESS;
	bool moved;

	while (result == DOCA_SUCCESS && !flow_is_complete(r->flow)) {
		moved = false;
		result = turn(r, &moved, error);
		if (result == DOCA_SUCCESS && !moved)
			result = import_wait(r->pump->import, r->spin, fds, 2, error);
		if (fds[0].revents)
			flow_listen(r->flow);
		fds[0].revents = 0;
		progress_update(r->pump->progress, flow_done(r->flow));
	}
	return result;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static void add_stages(const struct run *r)
{
	const struct pump *p = r->pump;
	unsigned int first = p->source ? FLOW_BIT(FLOW_PUT) : 0;
	const struct flow_rule rules[FLOW_STAGES] = {
		[FLOW_READ] = {.ahead = FLOW_BIT(FLOW_HASH_SOURCE) | FLOW_BIT(FLOW_PUT) |
					FLOW_BIT(FLOW_CHECK_SINK),
			       .room = r->ring,
			       .work = read_piece},
		[FLOW_HASH_SOURCE] = {.after = FLOW_BIT(FLOW_READ), .work = hash_source},
		[FLOW_PUT] = {.after = FLOW_BIT(FLOW_READ),
			      .ahead = p->is_loop ? FLOW_BIT(FLOW_DIGEST) | FLOW_BIT(FLOW_GET) : 0,
			      .room = p->room},
		[FLOW_DIGEST] = {.after = first},
		[FLOW_GET] = {.after = first,
			      .ahead = FLOW_BIT(FLOW_WRITE) | FLOW_BIT(FLOW_CHECK_SINK),
			      .room = r->ring},
		[FLOW_WRITE] = {.after = FLOW_BIT(FLOW_GET), .work = write_piece},
		[FLOW_CHECK_SINK] = {.after = FLOW_BIT(FLOW_WRITE), .work = check_sink},
	};
	const bool exists[FLOW_STAGES] = {
		[FLOW_READ] = p->source,
		[FLOW_HASH_SOURCE] = p->source && p->verify,
		[FLOW_PUT] = p->source,
		[FLOW_DIGEST] = p->verify,
		[FLOW_GET] = p->sink,
		[FLOW_WRITE] = p->sink,
		[FLOW_CHECK_SINK] = p->sink && p->verify,
	};

	for (unsigned int i = 0; i < FLOW_STAGES; i++) {
		if (exists[i])
			flow_add(r->flow, i, &rules[i]);
	}
}

static void choose_sizes(struct run *r)
{
	const struct pump *p = r->pump;
	uint64_t piece = p->room / WINDOW_PIECES / PIECE_ALIGN * PIECE_ALIGN;

	r->ring = least(p->total, RING_MAX);
	if (!p->is_loop)
		r->ring = least(r->ring, p->room);
	/* A buffer cannot be empty, even if nothing is copied. */
	if (r->ring == 0)
		r->ring = 1;
	r->piece = p->import->max_request;
	if (p->is_loop)
		r->piece = least(r->piece, piece > PIECE_MIN ? piece : PIECE_MIN);
	r->digest_min = p->is_loop ? least(DIGEST_MIN, p->room / 2) : DIGEST_MIN;
	/* Hashing takes longer than copying and needs the processors, but a small window waits for each copy. */
	r->spin = !p->verify || (p->is_loop && r->piece < SPIN_PIECE);
}

static doca_error_t add_buffers(const struct run *r, struct dpumap_error *error)
{
	const struct pump *p = r->pump;
	doca_error_t result = DOCA_SUCCESS;

	if (p->source)
		result = import_add_buffer(p->import, IMPORT_PUT, (size_t)r->ring, error);
	if (result == DOCA_SUCCESS && p->sink)
		result = import_add_buffer(p->import, IMPORT_GET, (size_t)r->ring, error);
	return result;
}

doca_error_t pump_run(struct pump *pump, struct dpumap_error *error)
{
	struct run r = {.pump = pump};
	doca_error_t result;

	choose_sizes(&r);
	result = add_buffers(&r, error);
	if (result == DOCA_SUCCESS)
		result = flow_create(pump->total, (size_t)r.ring, &r, &r.flow, error);
	if (result != DOCA_SUCCESS)
		return result;
	add_stages(&r);
	result = flow_start(r.flow, error);
	if (result == DOCA_SUCCESS)
		result = walk(&r, error);
	if (pump->source)
		source_stop(pump->source);
	flow_destroy(r.flow, &pump->total);
	if (result == DOCA_SUCCESS && pump->sink)
		sink_end(pump->sink);
	return result;
}
