/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/aeth.h"

#define CODES	    32u
#define NS_PER_UNIT 10000u

/* End-to-end credits of codes 0 to 30 (IBA 9.7.7.2). */
static const uint16_t credits[CODES - 1] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

/* Times in units of 10 us. */
static const uint32_t rnr_units[CODES] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

uint8_t wire_credit_code(uint32_t count)
{
	uint8_t code = 0;

	while (code + 1u < CODES - 1 && credits[code + 1] <= count)
		code++;
	return code;
}

uint32_t wire_credits(uint8_t code)
{
	return credits[code < CODES - 1 ? code : 0];
}

uint64_t wire_rnr_ns(uint8_t code)
{
	return (uint64_t)rnr_units[code & (CODES - 1)] * NS_PER_UNIT;
}
