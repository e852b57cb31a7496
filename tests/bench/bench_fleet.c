/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Many DPUs in one process: each identity publishes its exports by the code of dpumapd, without a
 * device. tests/bench/fleet.py starts some of these processes, and controls them by lines on
 * standard input:
 *
 *   change DPU EXPORT   the record of an export changes; prints "changed NANOSECONDS" before
 *   state               prints "state PUBLISHED REQUESTS TRANSACTIONS FAILURES LEASES-LOST"
 *   stop                revokes all leases and ends, as dpumapd does
 *
 * "published NANOSECONDS" is printed when all identities have published everything, for the first
 * time. Times are of CLOCK_MONOTONIC.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <doca_types.h>

#include "base/array.h"
#include "base/clock.h"
#include "common/fleet_library.h"
#include "fleet/table.h"

#define ENDPOINTS_MAX 16
#define CLOSE_MS      5000
#define EVENTS	      64

struct identity {
	char name[32];
	struct dpumap_publisher *publisher;
};

struct bench {
	const struct dpumap_fleet_table *table;
	struct dpumap_publisher_config config;
	const char *endpoints[ENDPOINTS_MAX];
	unsigned int first, count;
	size_t num_exports;
	struct identity *dpus;
	struct dpumap_fleet_export *exports; /* the same for each DPU */
	char (*names)[32];
	uint64_t generation;
	int epoll;
	bool is_published;
};

static void die(const char *what, const struct dpumap_error *error)
{
	fprintf(stderr, "bench_fleet: %s: %s\n", what, error->text);
	exit(1);
}

static void on_log(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "bench_fleet: %s\n", line);
}

static void make_exports(struct bench *b)
{
	static const char *const labels[] = {"gpu=yes", "rack=17"};

	b->exports = calloc(b->num_exports, sizeof(*b->exports));
	b->names = calloc(b->num_exports, sizeof(*b->names));
	if (!b->exports || !b->names)
		exit(1);
	for (size_t i = 0; i < b->num_exports; i++) {
		snprintf(b->names[i], sizeof(b->names[i]), "export%03zu", i);
		b->exports[i] = (struct dpumap_fleet_export){
			.name = b->names[i],
			.kind = "dram",
			.via = "rdma",
			.size = 1 << 20,
			.access = DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE,
			.generation = 1,
			.labels = labels,
			.num_labels = ARRAY_SIZE(labels),
		};
	}
}

static void set(struct bench *b, const struct identity *dpu)
{
	static const char *const addresses[] = {"tls:192.0.2.1:7470"};
	const struct dpumap_fleet_dpu self = {
		.name = dpu->name,
		.addresses = addresses,
		.num_addresses = 1,
		.certificate_name = dpu->name,
		.version = b->table->version,
		.card_guid = 0x0c42a10300123456,
		.generation = 1,
	};
	struct dpumap_error error = {0};

	if (b->table->publisher_set(dpu->publisher, &self, b->exports, b->num_exports, &error) !=
	    DOCA_SUCCESS)
		die("cannot publish", &error);
}

static void create(struct bench *b, unsigned int i)
{
	struct identity *dpu = &b->dpus[i];
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = dpu};
	struct dpumap_error error = {0};

	snprintf(dpu->name, sizeof(dpu->name), "dpu%04u", b->first + i);
	if (b->table->publisher_create(&b->config, &dpu->publisher, &error) != DOCA_SUCCESS)
		die("cannot create a publisher", &error);
	epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->table->publisher_fd(dpu->publisher), &event);
	set(b, dpu);
}

/* --- commands --------------------------------------------------------------------------------- */

static void change(struct bench *b, const char *words)
{
	unsigned int dpu, export;
	uint64_t before;

	if (sscanf(words, "%u %u", &dpu, &export) != 2 || dpu < b->first ||
	    dpu - b->first >= b->count || export >= b->num_exports) {
		fprintf(stderr, "bench_fleet: change %s: wrong number\n", words);
		exit(2);
	}
	before = b->exports[export].generation;
	b->exports[export].generation = ++b->generation;
	printf("changed %" PRIu64 "\n", monotonic_ns());
	fflush(stdout);
	set(b, &b->dpus[dpu - b->first]);
	b->exports[export].generation = before;
}

static void print_state(const struct bench *b)
{
	struct dpumap_publisher_state sum = {0}, one;
	unsigned int published = 0;

	for (unsigned int i = 0; i < b->count; i++) {
		b->table->publisher_get_state(b->dpus[i].publisher, &one);
		published += one.phase == DPUMAP_PUBLISHER_PUBLISHED;
		sum.num_requests += one.num_requests;
		sum.num_transactions += one.num_transactions;
		sum.num_failures += one.num_failures;
		sum.num_leases_lost += one.num_leases_lost;
	}
	printf("state %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", published,
	       sum.num_requests, sum.num_transactions, sum.num_failures, sum.num_leases_lost);
	fflush(stdout);
}

static void check_published(struct bench *b)
{
	struct dpumap_publisher_state state;

	for (unsigned int i = 0; i < b->count && !b->is_published; i++) {
		b->table->publisher_get_state(b->dpus[i].publisher, &state);
		if (state.phase != DPUMAP_PUBLISHER_PUBLISHED)
			return;
	}
	if (!b->is_published)
		printf("published %" PRIu64 "\n", monotonic_ns());
	fflush(stdout);
	b->is_published = true;
}

/* False at the end. */
static bool obey(struct bench *b)
{
	char line[80];

	if (!fgets(line, sizeof(line), stdin) || strncmp(line, "stop", 4) == 0)
		return false;
	if (strncmp(line, "change ", 7) == 0)
		change(b, line + 7);
	else if (strncmp(line, "state", 5) == 0)
		print_state(b);
	return true;
}

/* --- the loop --------------------------------------------------------------------------------- */

static int next_ms(const struct bench *b)
{
	int least = 1000;

	for (unsigned int i = 0; i < b->count; i++) {
		int ms = b->table->publisher_next_ms(b->dpus[i].publisher);

		if (ms >= 0 && ms < least)
			least = ms;
	}
	return least;
}

static void process_due(struct bench *b)
{
	for (unsigned int i = 0; i < b->count; i++)
		if (b->table->publisher_next_ms(b->dpus[i].publisher) == 0)
			b->table->publisher_process(b->dpus[i].publisher);
}

static void run(struct bench *b)
{
	struct epoll_event events[EVENTS];
	bool is_told = false;

	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		int n = epoll_wait(b->epoll, events, EVENTS, next_ms(b));

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				b->table->publisher_process(
					((struct identity *)events[i].data.ptr)->publisher);
			else
				is_told = true;
		}
		process_due(b);
		check_published(b);
		if (is_told && !obey(b))
			return;
		is_told = false;
	}
}

static void parse(struct bench *b, int argc, char **argv)
{
	static const struct option options[] = {
		{"endpoint", required_argument, NULL, 'e'},
		{"fleet", required_argument, NULL, 'f'},
		{"first", required_argument, NULL, 'i'},
		{"dpus", required_argument, NULL, 'd'},
		{"exports", required_argument, NULL, 'x'},
		{"ttl", required_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'e':
			if (b->config.num_endpoints < ENDPOINTS_MAX)
				b->endpoints[b->config.num_endpoints++] = optarg;
			break;
		case 'f':
			b->config.fleet = optarg;
			break;
		case 'i':
			b->first = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'd':
			b->count = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'x':
			b->num_exports = strtoul(optarg, NULL, 10);
			break;
		case 't':
			b->config.ttl_s = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		default:
			exit(2);
		}
	}
	b->config.endpoints = b->endpoints;
	b->config.log = on_log;
}

int main(int argc, char **argv)
{
	struct bench b = {.generation = 1, .config.fleet = "bench"};
	struct epoll_event event = {.events = EPOLLIN};
	struct dpumap_error error = {0};

	parse(&b, argc, argv);
	if (dpumap_fleet_library_load(&b.table, &error) != DOCA_SUCCESS)
		die("cannot start", &error);
	b.epoll = epoll_create1(EPOLL_CLOEXEC);
	b.dpus = calloc(b.count + 1, sizeof(*b.dpus));
	if (b.epoll < 0 || !b.dpus)
		exit(1);
	make_exports(&b);
	epoll_ctl(b.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &event);
	printf("begin %" PRIu64 "\n", monotonic_ns());
	fflush(stdout);
	for (unsigned int i = 0; i < b.count; i++)
		create(&b, i);
	run(&b);
	for (unsigned int i = 0; i < b.count; i++)
		b.table->publisher_close(b.dpus[i].publisher, CLOSE_MS);
	free(b.dpus);
	free(b.exports);
	free(b.names);
	return 0;
}
