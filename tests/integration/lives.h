/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs that use the device at random until somebody ends them. */
#ifndef DPUMAP_TESTS_LIVES_H
#define DPUMAP_TESTS_LIVES_H

#include <stdint.h>

#include "side.h"

#define LIVES_BYTES 16384
#define LIVES_SEED  77u /* of what the map holds that every life gets on its stdin */

struct random_state {
	uint64_t state;
};

uint32_t lives_draw(struct random_state *random, uint32_t below);

/*
 * Live: takes a struct side_desc from stdin, may write one of its own to stdout. Returns an exit
 * status if it came to an end by itself; 0 unless something was wrong.
 */
int lives_run(uint32_t seed);

/* Copy with the data checked until stdin ends: 0 if all was right. */
int lives_witness(void);

#endif
