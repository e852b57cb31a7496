/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libdeflate multiplies 128 bits at a time; from version 1.20 on more, if the processor can. As distributions have
 * older ones, long inputs are shortened here with 256 bits at a time, and libdeflate computes the CRC of what is left.
 */
#include "emu/wire/crc32.h"

#include <libdeflate.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET static __attribute__((target("avx2,pclmul,vpclmulqdq")))

/*
 * A CRC is a remainder. 128 bits may be added to those that follow n bits later if they are multiplied by
 * x^n modulo the polynomial: the first 64 by x^(n + 32), the others by x^(n - 32), as the bits are reflected.
 */
#define FIRST_1024  0x1e88ef372
#define SECOND_1024 0x14a7fe880
#define FIRST_128   0x1751997d0
#define SECOND_128  0x0ccaa009e

#define LANES	    4
#define STEP	    (LANES * sizeof(__m256i)) /* 1024 bits */
#define FOLD_MIN    (2 * STEP)
#define NOTHING	    0xffffffffu /* the CRC with which libdeflate begins with a remainder of 0 */

TARGET __m256i load(const uint8_t *bytes)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

TARGET __m256i fold(__m256i bits, __m256i factors, __m256i next)
{
	return _mm256_clmulepi64_epi128(bits, factors, 0x00) ^
	       _mm256_clmulepi64_epi128(bits, factors, 0x11) ^ next;
}

/* 128 bits in place of all lanes. */
TARGET __m128i fold_lanes(const __m256i lane[static LANES])
{
	const __m128i factors = _mm_set_epi64x(SECOND_128, FIRST_128);
	__m128i all = _mm_setzero_si128();

	for (size_t i = 0; i < 2 * LANES; i++) {
		__m128i next = i % 2 ? _mm256_extracti128_si256(lane[i / 2], 1)
				     : _mm256_castsi256_si128(lane[i / 2]);

		all = _mm_clmulepi64_si128(all, factors, 0x00) ^
		      _mm_clmulepi64_si128(all, factors, 0x11) ^ next;
	}
	return all;
}

/* `steps` times STEP bytes. */
TARGET uint32_t crc_of_steps(uint32_t crc, const uint8_t *bytes, size_t steps)
{
	const __m256i factors =
		_mm256_broadcastsi128_si256(_mm_set_epi64x(SECOND_1024, FIRST_1024));
	__m256i lane[LANES];
	__m128i left;

	for (size_t i = 0; i < LANES; i++)
		lane[i] = load(bytes + i * sizeof(__m256i));
	lane[0] ^= _mm256_set_epi64x(0, 0, 0, ~crc);
	while (--steps) {
		bytes += STEP;
		for (size_t i = 0; i < LANES; i++)
			lane[i] = fold(lane[i], factors, load(bytes + i * sizeof(__m256i)));
	}
	left = fold_lanes(lane);
	return libdeflate_crc32(NOTHING, &left, sizeof(left));
}

/* Returns how many bytes it took. */
static size_t take_steps(uint32_t *crc, const uint8_t *bytes, size_t len)
{
	if (len < FOLD_MIN || !__builtin_cpu_supports("vpclmulqdq") ||
	    !__builtin_cpu_supports("avx2"))
		return 0;
	*crc = crc_of_steps(*crc, bytes, len / STEP);
	return len / STEP * STEP;
}
#else
static size_t take_steps(uint32_t *crc, const uint8_t *bytes, size_t len)
{
	(void)crc;
	(void)bytes;
	(void)len;
	return 0;
}
#endif

uint32_t wire_crc32(uint32_t crc, const uint8_t *bytes, size_t len)
{
	size_t n = take_steps(&crc, bytes, len);

	return libdeflate_crc32(crc, bytes + n, len - n);
}
