/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure doca_comch between a process on the host and one on the DPU: round trips of control
 * messages, compared with plain sockets; streams of messages, compared with the same by verbs and
 * with the copy engine. Both processes run this program with the same arguments.
 *
 * With --count, send messages in batches for another tool: callgrind counts the instructions in the
 * functions measured_*(), and strace the system calls of this thread between the lines "begin" and
 * "end"; the program counts allocations and locks of the measured functions itself.
 */
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "calls.h"
#include "control.h"
#include "duo.h"
#include "ping.h"
#include "stats.h"
#include "stream.h"

#define MAX_ROUNDS   101
#define ROUND_TRIPS  1000
#define IDLE_SECONDS 10
#define NOTHING	     100000000 /* calls of reap() without a message: something is wrong */

struct shape {
	const char *name;
	size_t len, stride, slots;
	size_t messages; /* of a round */
	bool pulls;	 /* compare with the copy engine too */
};

static const struct shape shapes[] = {
	{"64 bytes", 64, 4096, 64, 20000, false},
	{"1 MiB", (size_t)1 << 20, (size_t)1 << 20, 8, 128, true},
};

static struct options {
	bool is_peer;
	bool control, tls, stream, idle;
	size_t rounds;
	const struct stream_kind *count;
	bool count_receiver;
	size_t batch, messages;
} options = {.rounds = 15, .batch = 1, .messages = 1024};

static struct duo duo;
static uint8_t *memory;

/* --- round trips ------------------------------------------------------------------------------ */

static bool time_round_trips(const struct ping_kind *kind, struct ping *ping, double *us)
{
	double begin;

	if (!duo_meet(&duo))
		return false;
	begin = bench_now();
	if (!kind->run(ping, ROUND_TRIPS))
		return false;
	*us = (bench_now() - begin) / ROUND_TRIPS * 1e6;
	return true;
}

struct ratio {
	const struct ping_kind *bare, *ours;
	struct ping *bare_ping, *our_ping;
};

static void print_round_trips(const char *name, const char *how, double *bare, double *ours,
			      const char *ours_name, double *ratios)
{
	struct bench_stats b, o, r;

	bench_stats(bare, options.rounds, &b);
	bench_stats(ours, options.rounds, &o);
	bench_stats(ratios, options.rounds, &r);
	printf("  %-12s %7.2f (%.2f to %.2f)\n  %-12s %7.2f (%.2f to %.2f)\n"
	       "  ratio        %7.2f (%.2f to %.2f) (goal: at most 1.5)\n",
	       name, b.median, b.min, b.max, ours_name, o.median, o.min, o.max, r.median, r.min,
	       r.max);
	bench_record(&r, "at most 1.5", "round trip : %s, %s", name, how);
}

static bool compare_round_trips(struct ratio *r, bool waits)
{
	static double bare[MAX_ROUNDS], ours[MAX_ROUNDS], ratios[MAX_ROUNDS];
	const char *how = waits ? "waiting for a descriptor" : "polling";

	r->bare_ping->waits = r->our_ping->waits = waits;
	for (size_t i = 0; i <= options.rounds; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */
		bool first = i % 2;

		if ((first && !time_round_trips(r->ours, r->our_ping, &ours[at])) ||
		    !time_round_trips(r->bare, r->bare_ping, &bare[at]) ||
		    (!first && !time_round_trips(r->ours, r->our_ping, &ours[at])))
			return false;
		ratios[at] = ours[at] / bare[at];
	}
	if (options.is_peer)
		return true;
	printf("round trip of %u bytes, us, %s: median (range) of %zu rounds\n", PING_LEN, how,
	       options.rounds);
	print_round_trips(r->bare->name, how, bare, ours, r->ours->name, ratios);
	return true;
}

static bool measure_control(const struct ping_kind *bare_kind)
{
	struct ping bare = {.duo = &duo, .is_server = options.is_peer};
	struct ping ours = {.duo = &duo, .is_server = options.is_peer};
	struct ratio r = {bare_kind, &ping_comch, &bare, &ours};
	bool done = bare_kind->open(&bare) && ping_comch.open(&ours) &&
		    compare_round_trips(&r, false) && compare_round_trips(&r, true);

	bare_kind->close(&bare);
	ping_comch.close(&ours);
	return done;
}

/* --- streams ---------------------------------------------------------------------------------- */

static bool transfer(const struct stream_kind *kind, struct stream *s, size_t messages)
{
	size_t posted = s->slots, done = 0;

	/* All receives are posted before the sender begins. */
	if (!s->is_sender && !kind->post(s, s->slots))
		return false;
	if (!duo_meet(&duo) || (s->is_sender && !kind->post(s, s->slots)))
		return false;
	while (done < messages) {
		int got = kind->reap(s, posted - done);
		size_t again;

		if (got < 0)
			return false;
		if (!got) /* two programs and two engines share the processors */
			sched_yield();
		done += (size_t)got;
		again = messages - posted < (size_t)got ? messages - posted : (size_t)got;
		if (again && !kind->post(s, again))
			return false;
		posted += again;
	}
	return duo_meet(&duo);
}

static bool time_transfer(const struct stream_kind *kind, struct stream *s,
			  const struct shape *shape, double *rate)
{
	double begin;

	if (!duo_meet(&duo))
		return false;
	begin = bench_now();
	if (!transfer(kind, s, shape->messages)) {
		fprintf(stderr, "bench: %s: a message failed\n", kind->name);
		return false;
	}
	*rate = (double)shape->messages / (bench_now() - begin);
	return true;
}

static double memcpy_rate(const struct shape *shape)
{
	double begin = bench_now();

	for (size_t i = 0; i < 64; i++)
		memcpy(memory + i % 4 * shape->len, memory + (8 + i % 4) * shape->len, shape->len);
	return 64 / (bench_now() - begin);
}

static void print_rates(const struct shape *shape, const char *name, double *rates)
{
	struct bench_stats r;
	double scale = shape->len >= 4096 ? (double)shape->len / 1e9 : 1e-6;

	bench_stats(rates, options.rounds, &r);
	printf("  %-12s %7.3f (%.3f to %.3f)\n", name, r.median * scale, r.min * scale,
	       r.max * scale);
}

static const struct stream_kind *const kinds[] = {&stream_verbs, &stream_comch, &stream_dma};
#define KINDS 3

static bool run_rounds(struct stream *streams, size_t n, const struct shape *shape)
{
	static double rates[KINDS][MAX_ROUNDS], ratios[MAX_ROUNDS], limit[MAX_ROUNDS];
	struct bench_stats r;

	for (size_t i = 0; i <= options.rounds; i++) {
		size_t at = i ? i - 1 : 0;

		for (size_t k = 0; k < n; k++) {
			size_t kind = (i + k) % n;

			if (!time_transfer(kinds[kind], &streams[kind], shape, &rates[kind][at]))
				return false;
		}
		limit[at] = memcpy_rate(shape);
		ratios[at] = rates[1][at] / rates[0][at];
	}
	if (options.is_peer)
		return true;
	printf("streamed messages of %s, %zu in flight, %s: median (range) of %zu rounds\n",
	       shape->name, shape->slots, shape->len >= 4096 ? "GB/s" : "millions a second",
	       options.rounds);
	for (size_t k = 0; k < n; k++)
		print_rates(shape, kinds[k]->name, rates[k]);
	print_rates(shape, "memcpy", limit);
	bench_stats(ratios, options.rounds, &r);
	printf("  ratio        %7.3f (%.3f to %.3f), doca_comch : verbs (goal: at least 0.97)\n",
	       r.median, r.min, r.max);
	bench_record(&r, "at least 0.97", "stream of %s : verbs", shape->name);
	return true;
}

static struct stream stream_of(const struct shape *shape)
{
	return (struct stream){
		.duo = &duo,
		.is_sender = !options.is_peer,
		.memory = memory,
		.len = shape->len,
		.stride = shape->stride,
		.slots = shape->slots,
	};
}

static bool measure_stream(const struct shape *shape)
{
	struct stream streams[KINDS];
	size_t n = shape->pulls ? KINDS : KINDS - 1, opened = 0;
	bool done = true;

	for (; opened < n && done; opened++) {
		streams[opened] = stream_of(shape);
		done = kinds[opened]->open(&streams[opened]);
	}
	done = done && run_rounds(streams, n, shape);
	while (opened--)
		kinds[opened]->close(&streams[opened]);
	return done;
}

/* --- what a message costs --------------------------------------------------------------------- */

/* Not inlined, so that callgrind can detect calls and returns. */
__attribute__((noinline)) static bool measured_post(struct stream *s, size_t n)
{
	return options.count->post(s, n);
}

__attribute__((noinline)) static bool measured_reap(struct stream *s, size_t n, size_t *empty)
{
	size_t done = 0;

	while (done < n) {
		int got = options.count->reap(s, n - done);

		if (got < 0 || *empty > NOTHING)
			return false;
		*empty += !got;
		done += (size_t)got;
	}
	return true;
}

/*
 * Each step is complete on the device before it is measured, so no call is in vain. `before` are the
 * messages so far.
 */
static bool count_batch(struct stream *s, size_t before, size_t *empty)
{
	size_t slot = (before + options.batch - 1) % s->slots;
	volatile uint8_t *last = s->memory + slot * s->stride + s->len - 1;

	*last = s->is_sender;
	if (!s->is_sender && !measured_post(s, options.batch))
		return false;
	if (!duo_meet(&duo) || (s->is_sender && !measured_post(s, options.batch)))
		return false;
	while (!*last)
		bench_pause(2);
	if (s->is_sender && !duo_meet(&duo))
		return false;
	bench_pause(2);
	return measured_reap(s, options.batch, empty) && (s->is_sender || duo_meet(&duo));
}

static void mark(const char *line)
{
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		perror("bench");
}

static bool count_messages(void)
{
	const struct shape *shape = &shapes[0];
	struct stream s = stream_of(shape);
	bool is_counted = options.count_receiver == options.is_peer;
	size_t empty = 0, n = 0;
	bool done = options.count->open(&s) && transfer(options.count, &s, shape->messages) &&
		    count_batch(&s, shape->messages, &empty);
	unsigned long a = bench_allocations, l = bench_locks;

	empty = 0;
	if (is_counted)
		mark("begin\n");
	for (; done && n < options.messages; n += options.batch)
		done = count_batch(&s, shape->messages + options.batch + n, &empty);
	if (is_counted)
		mark("end\n");
	if (is_counted && done)
		fprintf(stderr,
			"%s, %s: %zu messages of %s in batches of %zu: %lu allocations, %lu locks, "
			"%zu empty polls\n",
			options.count->name, s.is_sender ? "sender" : "receiver", n, shape->name,
			options.batch, bench_allocations - a, bench_locks - l, empty);
	options.count->close(&s);
	return done;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static double thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool measure_idle(void)
{
	struct stream s = stream_of(&shapes[0]);
	bool done = stream_comch.open(&s) && transfer(&stream_comch, &s, shapes[0].messages) &&
		    (s.is_sender || stream_comch.post(&s, s.slots)) && duo_meet(&duo);
	double begin = thread_time();
	long wakeups = done ? stream_comch_wait(&s, IDLE_SECONDS) : -1;

	/* What is printed by the other process comes first. */
	if (wakeups >= 0 && (options.is_peer || duo_meet(&duo))) {
		printf("%s waits for the handles of 2 engines, %d s: %ld wake-ups, %.3f ms of CPU "
		       "time\n",
		       s.is_sender ? "client with producer" : "server with consumer", IDLE_SECONDS,
		       wakeups, (thread_time() - begin) * 1e3);
		(void)fflush(stdout);
		done = !options.is_peer || duo_meet(&duo);
	}
	stream_comch.close(&s);
	return done && wakeups >= 0;
}

/* --- the program ------------------------------------------------------------------------------ */

static int usage(FILE *to)
{
	fprintf(to, "usage: bench_comch [--rounds N] [--only control|tls|stream|idle]... -- "
		    "COMMAND...\n"
		    "       bench_comch --count KIND [--receiver] [--batch N] [--messages N] -- "
		    "COMMAND...\n\n"
		    "COMMAND is this program with the same options and --peer, on the DPU.\n"
		    "KIND is verbs, sparse (verbs with one completion for each batch) or comch.\n");
	return to == stderr ? 2 : 0;
}

static bool set_only(const char *what)
{
	if (!what)
		return false;
	if (!strcmp(what, "control"))
		options.control = true;
	else if (!strcmp(what, "tls"))
		options.tls = true;
	else if (!strcmp(what, "stream"))
		options.stream = true;
	else if (!strcmp(what, "idle"))
		options.idle = true;
	else
		return false;
	return true;
}

static bool set_count(const char *kind)
{
	if (!kind)
		return false;
	options.count = !strcmp(kind, "verbs")	  ? &stream_verbs
			: !strcmp(kind, "sparse") ? &stream_sparse
			: !strcmp(kind, "comch")  ? &stream_comch
						  : NULL;
	return options.count;
}

/* Return 0 to continue, or the exit status plus 1. */
static int parse(int argc, char **argv)
{
	static const struct option long_options[] = {{"rounds", required_argument, NULL, 'r'},
						     {"only", required_argument, NULL, 'o'},
						     {"count", required_argument, NULL, 'c'},
						     {"receiver", no_argument, NULL, 'R'},
						     {"batch", required_argument, NULL, 'b'},
						     {"messages", required_argument, NULL, 'm'},
						     {"peer", no_argument, NULL, 'p'},
						     {"help", no_argument, NULL, 'h'},
						     {0}};
	int opt;

	while ((opt = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
		size_t number = optarg ? strtoul(optarg, NULL, 10) : 0;
		bool valid = true;

		switch (opt) {
		case 'h':
			return usage(stdout) + 1;
		case 'r':
			valid = number && number <= MAX_ROUNDS;
			options.rounds = number;
			break;
		case 'b':
			valid = number && number <= shapes[0].slots;
			options.batch = number;
			break;
		case 'm':
			valid = number;
			options.messages = number;
			break;
		case 'o':
			valid = set_only(optarg);
			break;
		case 'c':
			valid = set_count(optarg);
			break;
		case 'R':
			options.count_receiver = true;
			break;
		case 'p':
			options.is_peer = true;
			break;
		default:
			valid = false;
		}
		if (!valid)
			return usage(stderr) + 1;
	}
	if (!options.control && !options.tls && !options.stream && !options.idle)
		options.control = options.stream = options.idle = true;
	return (optind < argc) == options.is_peer ? usage(stderr) + 1 : 0;
}

static bool measure(void)
{
	if (options.count)
		return count_messages();
	if (options.control && !measure_control(&ping_unix))
		return false;
	if (options.tls && !measure_control(&ping_tls))
		return false;
	if (options.idle && !measure_idle())
		return false;
	for (size_t i = 0; options.stream && i < ARRAY_SIZE(shapes); i++)
		if (!measure_stream(&shapes[i]))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	int status = parse(argc, argv);
	bool done;

	if (status)
		return status - 1;
	memory = mmap(NULL, STREAM_MEMORY, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED ||
	    !(options.is_peer ? duo_join(&duo) : duo_start(&duo, argv + optind)))
		return 1;
	done = measure();
	duo_end(&duo);
	return done ? 0 : 1;
}
