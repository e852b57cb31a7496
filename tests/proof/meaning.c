/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What decoding means, for Frama-C's WP: contracts of functions of src/desc, which check-meaning.sh proves. Those
 * of check_kind(), get_common() and get_own() are assumed (docs/proofs.md).
 */
#include "desc/access.c"
#include "desc/check.c"
#include "desc/decode.c"

/* Conversion to an unsigned type adds its maximum and one (C11, 6.3.1.3); WP 25 has no axiom for that. */
/*@ axiomatic Wrap {
  @   axiom wraps: \forall integer x;
  @     -0x10000000000000000 <= x < 0 ==> (uint64_t)x == x + 0x10000000000000000;
  @ } */

/* Descriptors for which dpumap_desc_check() returns OK: the contract of that function, `definition`, says so. */
/*@ axiomatic Accepted {
  @   predicate accepted{L}(struct dpumap_desc *d) reads *d;
  @ } */

/* --- an access that is permitted lies within the export --------------------------------------- */

/*@ assigns \nothing;
  @ ensures \result == DPUMAP_DESC_OK ==> addr + len <= UINT64_MAX && len > 0; */
static dpumap_desc_status_t check_range(uint64_t addr, uint64_t len);

/*@ requires \valid_read(d);
  @ assigns \nothing; */
static dpumap_desc_status_t check_kind(const struct dpumap_desc *d);

/*@ requires \valid_read(d);
  @ assigns \nothing; */
static bool check_source(const struct dpumap_desc *d);

/*@ assigns \nothing; */
static dpumap_desc_status_t check_access(uint16_t kind, uint32_t access);

/*@ assigns \nothing; */
static inline size_t dpumap_desc_size(uint16_t kind);

/*@ requires \valid_read(d);
  @ assigns \nothing;
  @ ensures range: \result == DPUMAP_DESC_OK ==> d->addr + d->len <= UINT64_MAX;
  @ ensures definition: \result == DPUMAP_DESC_OK ==> accepted(d); */
dpumap_desc_status_t dpumap_desc_check(const struct dpumap_desc *d);

/*@ assigns \nothing; */
static struct permit permit_of(uint16_t kind);

/*@ requires \valid_read(d);
  @ assigns \nothing; */
static uint32_t ops_of(const struct dpumap_desc *d);

/*@ requires \valid_read(d) && \valid(w) && \separated(d, w);
  @ assigns *w;
  @ ensures \result == DPUMAP_DESC_OK ==>
  @   w->addr == d->addr && w->len == d->len && w->addr + w->len <= UINT64_MAX; */
dpumap_desc_status_t dpumap_desc_get_window(const struct dpumap_desc *d,
					    struct dpumap_desc_window *w);

/*@ requires \valid_read(w) && w->addr + w->len <= UINT64_MAX;
  @ assigns \nothing;
  @ ensures \result == DPUMAP_DESC_OK ==> w->addr <= addr && addr + len <= w->addr + w->len; */
static inline dpumap_desc_status_t dpumap_desc_window_check(const struct dpumap_desc_window *w,
							    uint64_t addr, uint64_t len,
							    uint32_t ops);

/*@ requires \valid_read(d);
  @ assigns \nothing;
  @ ensures \result == DPUMAP_DESC_OK ==> d->addr <= addr && addr + len <= d->addr + d->len; */
dpumap_desc_status_t dpumap_desc_check_access(const struct dpumap_desc *d, uint64_t addr,
					      uint64_t len, uint32_t ops);

/* --- the fields that are decoded satisfy dpumap_desc_check() ---------------------------------- */

/*@ requires \valid(r);
  @ assigns *r; */
static inline void read_from(struct reader *r, const uint8_t *bytes, size_t len);

/*@ requires \valid(r);
  @ assigns *r; */
static inline const uint8_t *take(struct reader *r, size_t n);

/*@ requires \valid(r) && \valid(d) && \separated(r, d);
  @ assigns *r, *d; */
static void get_common(struct reader *r, struct dpumap_desc *d);

/*@ requires \valid(r) && \valid(d) && \separated(r, d);
  @ assigns *r, *d; */
static void get_own(struct reader *r, struct dpumap_desc *d);

/*@ requires \valid(r) && \valid(d) && \separated(r, d);
  @ assigns *r, *d;
  @ ensures \result == DPUMAP_DESC_OK ==> accepted(d); */
static dpumap_desc_status_t get_fields(struct reader *r, struct dpumap_desc *d);
