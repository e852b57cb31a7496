/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure encoding and decoding an export descriptor, compared with serialization libraries of the
 * distribution with the same fields. The codecs alternate in each round, so each ratio compares adjacent
 * measurements. With --codec, run only that codec, --count times, for a tool that counts the instructions
 * in desc_bench_run().
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "calls.h"
#include "desc_codec.h"
#include "stats.h"

#define MAX_ROUNDS  1001
#define PAIRS	    2000 /* in a round */
#define ROOM	    DPUMAP_DESC_MAX_SIZE
#define ALLOC_PAIRS 100

#define NUM_CODECS  ARRAY_SIZE(codecs)

static const struct desc_codec *const codecs[] = {
	&desc_codec_dpumap,
#ifdef DPUMAP_BENCH_RIVALS
	&desc_codec_protobuf_c,
	&desc_codec_nanopb,
	&desc_codec_libcbor,
#endif
};

static struct dpumap_desc usual_export(void)
{
	struct dpumap_desc d = {
		.kind = DPUMAP_DESC_KIND_PCI,
		.source = DPUMAP_DESC_SOURCE_MEMORY,
		.access = DPUMAP_DESC_ACCESS_LOCAL_READ_WRITE | DPUMAP_DESC_ACCESS_PCI_READ_WRITE,
		.device_guid = 0x0c42a10300aabbcc,
		.vhca_id = 0x11,
		.mkey = 0x00181d00,
		.addr = 0x7f3a5c000000,
		.len = 0x10000,
	};

	for (size_t i = 0; i < sizeof(d.access_key); i++)
		d.access_key[i] = (uint8_t)(0x40 + i);
	return d;
}

static struct dpumap_desc large_export(void)
{
	struct dpumap_desc d = usual_export();

	d.access = DPUMAP_DESC_ACCESS_ALL & ~DPUMAP_DESC_ACCESS_PCI_READ_ONLY;
	d.vhca_id = 0xfffe;
	d.device_guid = UINT64_MAX;
	d.mkey = UINT32_MAX;
	d.addr = UINT64_MAX / 2;
	d.len = UINT64_MAX / 2;
	return d;
}

static bool same_fields(const struct dpumap_desc *a, const struct dpumap_desc *b)
{
	return a->kind == b->kind && a->source == b->source && a->access == b->access &&
	       a->device_guid == b->device_guid && a->vhca_id == b->vhca_id && a->mkey == b->mkey &&
	       a->addr == b->addr && a->len == b->len &&
	       !memcmp(a->access_key, b->access_key, sizeof(a->access_key));
}

/* Return the length of the encoding; 0 unless it decodes to the same values. */
static size_t size_of(const struct desc_codec *codec, const struct dpumap_desc *d)
{
	struct dpumap_desc back;
	uint8_t buf[ROOM];
	size_t size = codec->encode(d, buf, sizeof(buf));

	return size && codec->decode(buf, size, &back) && same_fields(d, &back) ? size : 0;
}

/* Not static, so it is not inlined and callgrind can find it by name. */
__attribute__((noinline)) bool desc_bench_run(const struct desc_codec *codec,
					      const struct dpumap_desc *d, size_t n);

bool desc_bench_run(const struct desc_codec *codec, const struct dpumap_desc *d, size_t n)
{
	struct dpumap_desc back;
	uint8_t buf[ROOM];

	for (size_t i = 0; i < n; i++) {
		size_t size = codec->encode(d, buf, sizeof(buf));

		if (!size || !codec->decode(buf, size, &back))
			return false;
	}
	return true;
}

/* Return the nanoseconds for encoding and decoding; negative on failure. */
static double measure(const struct desc_codec *codec, const struct dpumap_desc *d)
{
	double start = bench_now();

	if (!desc_bench_run(codec, d, PAIRS))
		return -1;
	return (bench_now() - start) * 1e9 / PAIRS;
}

static double count_allocations(const struct desc_codec *codec, const struct dpumap_desc *d)
{
	unsigned long before = bench_allocations;

	if (!desc_bench_run(codec, d, ALLOC_PAIRS))
		return -1;
	return (double)(bench_allocations - before) / ALLOC_PAIRS;
}

static bool take_turns(double times[][MAX_ROUNDS], const struct dpumap_desc *d, size_t rounds)
{
	for (size_t r = 0; r < rounds; r++) {
		for (size_t i = 0; i < NUM_CODECS; i++) {
			times[i][r] = measure(codecs[i], d);
			if (times[i][r] < 0)
				return false;
		}
	}
	return true;
}

static void print_row(const struct desc_codec *codec, double *times, const double *ratios_to,
		      size_t rounds)
{
	static double ratios[MAX_ROUNDS];
	const struct dpumap_desc usual = usual_export(), large = large_export();
	struct bench_stats time, ratio;

	for (size_t r = 0; r < rounds; r++)
		ratios[r] = times[r] / ratios_to[r];
	bench_stats(ratios, rounds, &ratio);
	printf("%-11s %5zu %7zu %8.1f", codec->name, size_of(codec, &usual), size_of(codec, &large),
	       count_allocations(codec, &usual));
	bench_stats(times, rounds, &time);
	printf("  %8.1f (%.1f to %.1f)  %6.2f (%.2f to %.2f)\n", time.median, time.min, time.max,
	       ratio.median, ratio.min, ratio.max);
	if (codec != codecs[0])
		bench_record(&ratio, "", "%s : dpumap", codec->name);
}

static int compare(size_t rounds)
{
	static double times[NUM_CODECS][MAX_ROUNDS], first[MAX_ROUNDS];
	const struct dpumap_desc usual = usual_export(), large = large_export();

	for (size_t i = 0; i < NUM_CODECS; i++) {
		if (!size_of(codecs[i], &usual) || !size_of(codecs[i], &large)) {
			fprintf(stderr, "bench: %s changes the values\n", codecs[i]->name);
			return 1;
		}
	}
	if (!take_turns(times, &usual, rounds)) {
		fprintf(stderr, "bench: a codec fails\n");
		return 1;
	}
	memcpy(first, times[0], sizeof(first));
	printf("a PCI export, encode and decode: median (range) of %zu rounds\n"
	       "            bytes:          allo-\n"
	       "codec       usual largest cations  ns                         times dpumap\n",
	       rounds);
	for (size_t i = 0; i < NUM_CODECS; i++)
		print_row(codecs[i], times[i], first, rounds);
	return 0;
}

static int run_alone(const char *name, size_t n)
{
	const struct dpumap_desc d = usual_export();

	for (size_t i = 0; i < NUM_CODECS; i++)
		if (!strcmp(codecs[i]->name, name))
			return desc_bench_run(codecs[i], &d, n) ? 0 : 1;
	fprintf(stderr, "bench: unknown codec %s; --list prints all codecs\n", name);
	return 2;
}

static int usage(FILE *to)
{
	fprintf(to, "usage: bench_desc [--rounds N]\n"
		    "       bench_desc --list\n"
		    "       bench_desc --codec NAME --count N\n");
	return to == stderr ? 2 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"rounds", required_argument, NULL, 'r'}, {"codec", required_argument, NULL, 'c'},
		{"count", required_argument, NULL, 'n'},  {"list", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},	  {0}};
	size_t rounds = 101, count = 1;
	const char *codec = NULL;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (opt) {
		case 'r':
			rounds = strtoul(optarg, NULL, 10);
			break;
		case 'c':
			codec = optarg;
			break;
		case 'n':
			count = strtoul(optarg, NULL, 10);
			break;
		case 'l':
			for (size_t i = 0; i < NUM_CODECS; i++)
				puts(codecs[i]->name);
			return 0;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if (optind != argc || rounds < 1 || rounds > MAX_ROUNDS || !count)
		return usage(stderr);
	return codec ? run_alone(codec, count) : compare(rounds);
}
