/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queue pairs of two emulators over UDP, compared in the same rounds with plain UDP between the same processes, and
 * with UDP that only copies and computes CRCs as an emulated card must:
 * bandwidth with messages of 64 KiB, the latency of small ones, what idle processes cost, and 1,000 queue pairs.
 * Both sides wait by events.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "duo.h"
#include "stats.h"
#include "udp.h"

#define MESSAGE	   ((size_t)65536)
#define WINDOW	   64u /* messages in flight */
#define SMALL	   64u
#define PINGS	   400u
#define MANY	   1000u
#define MAX_ROUNDS 100u
#define PSN	   7u
#define RIGHTS	   (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* What one end must know of the other. */
struct place {
	union ibv_gid gid;
	uint64_t address;
	uint32_t rkey, qpn[MANY];
};

static struct {
	struct duo duo;
	struct udp udp;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qps[MANY];
	struct place ours, peer;
	uint8_t *memory;
	int gid_index;
	size_t rounds, messages;
} b = {.gid_index = 3, .rounds = 7, .messages = 2048};

static bool failed(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	return false;
}

/* --- verbs ------------------------------------------------------------------------------------ */

static bool open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list && list[0])
		b.context = ibv_open_device(list[0]);
	if (list)
		ibv_free_device_list(list);
	if (!b.context)
		return failed("opening the device");
	b.memory = aligned_alloc(4096, WINDOW * MESSAGE);
	b.pd = ibv_alloc_pd(b.context);
	b.channel = ibv_create_comp_channel(b.context);
	if (!b.memory || !b.pd || !b.channel)
		return failed("memory, protection domain and channel");
	memset(b.memory, 0x5a, WINDOW * MESSAGE);
	b.mr = ibv_reg_mr(b.pd, b.memory, WINDOW * MESSAGE, RIGHTS);
	b.cq = ibv_create_cq(b.context, 4 * MANY, NULL, b.channel, 0);
	return b.mr && b.cq && !ibv_req_notify_cq(b.cq, 0) ? true : failed("the queues");
}

static struct ibv_qp *create_qp(unsigned int depth)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = b.cq,
		.recv_cq = b.cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = depth,
			.max_recv_wr = depth,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	return ibv_create_qp(b.pd, &attr);
}

static bool connect_qp(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = RIGHTS};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = peer,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = b.peer.gid,
				    .sgid_index = (uint8_t)b.gid_index,
				    .hop_limit = 64}},
	};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = 16,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .sq_psn = PSN,
				  .max_rd_atomic = 1};

	return (!ibv_modify_qp(qp, &init,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS) &&
		!ibv_modify_qp(qp, &rtr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER) &&
		!ibv_modify_qp(qp, &rts,
			       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)) ||
	       failed("connecting a queue pair");
}

/* The first one carries the measured messages. */
static bool connect_all(size_t first, size_t end)
{
	b.ours.address = (uintptr_t)b.memory;
	b.ours.rkey = b.mr->rkey;
	if (ibv_query_gid(b.context, 1, b.gid_index, &b.ours.gid))
		return failed("the GID of the address");
	for (size_t i = first; i < end; i++) {
		b.qps[i] = create_qp(i ? 1 : WINDOW);
		if (!b.qps[i])
			return failed("creating a queue pair");
		b.ours.qpn[i] = b.qps[i]->qp_num;
	}
	if (!duo_swap(&b.duo, &b.ours, &b.peer, sizeof(b.ours)))
		return failed("the other process");
	for (size_t i = first; i < end; i++)
		if (!connect_qp(b.qps[i], b.peer.qpn[i]))
			return false;
	return duo_meet(&b.duo);
}

static bool post(size_t qp, enum ibv_wr_opcode op, size_t slot, uint32_t size, bool signal)
{
	struct ibv_sge part = {(uintptr_t)b.memory + slot * MESSAGE, size, b.mr->lkey};
	struct ibv_send_wr *bad, work = {
					 .sg_list = &part,
					 .num_sge = 1,
					 .opcode = op,
					 .send_flags = signal ? IBV_SEND_SIGNALED : 0,
				 };

	work.wr.rdma.remote_addr = b.peer.address + slot * MESSAGE;
	work.wr.rdma.rkey = b.peer.rkey;
	return !ibv_post_send(b.qps[qp], &work, &bad) || failed("posting");
}

static bool post_receive(size_t slot, uint32_t size)
{
	struct ibv_sge part = {(uintptr_t)b.memory + slot * MESSAGE, size, b.mr->lkey};
	struct ibv_recv_wr *bad, work = {.sg_list = &part, .num_sge = 1};

	return !ibv_post_recv(b.qps[0], &work, &bad) || failed("posting a receive");
}

static bool sleep_for_event(void)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(b.channel, &cq, &context))
		return failed("waiting for an event");
	ibv_ack_cq_events(cq, 1);
	return !ibv_req_notify_cq(cq, 0) || failed("asking for events");
}

/* Wait for completions; return how many, 0 after an error. */
static int wait_some(void)
{
	struct ibv_wc wc[WINDOW];
	int n;

	for (;;) {
		n = ibv_poll_cq(b.cq, WINDOW, wc);
		for (int i = 0; i < n; i++)
			if (wc[i].status) {
				fprintf(stderr, "bench: a completion: %s\n",
					ibv_wc_status_str(wc[i].status));
				return 0;
			}
		if (n)
			return n > 0 ? n : 0;
		if (!sleep_for_event())
			return 0;
	}
}

/* --- what is measured ------------------------------------------------------------------------- */

/* Bytes per second of messages of 64 KiB, of which each eighth completes; or 0. */
static double stream(enum ibv_wr_opcode op)
{
	const size_t batch = WINDOW / 8;
	size_t posted = 0, done = 0;
	double begin = bench_now();

	while (done < b.messages) {
		for (; posted < b.messages && posted - done < WINDOW; posted++)
			if (!post(0, op, posted % WINDOW, MESSAGE, posted % batch == batch - 1))
				return 0;
		int n = wait_some();

		if (!n)
			return 0;
		done += (size_t)n * batch;
	}
	return (double)(b.messages * MESSAGE) / (bench_now() - begin);
}

static bool sink(void)
{
	size_t got = 0;

	while (got < b.messages) {
		int n = wait_some();

		if (!n)
			return false;
		for (int i = 0; i < n; i++, got++)
			if (got + WINDOW < b.messages && !post_receive(got % WINDOW, MESSAGE))
				return false;
	}
	return true;
}

static bool prepare_receives(size_t count, uint32_t size)
{
	for (size_t i = 0; i < count; i++)
		if (!post_receive(i, size))
			return false;
	return true;
}

/* Wait until so many receives and sends have completed. */
static bool await_pings(size_t *received, size_t receives, size_t *sent, size_t sends)
{
	struct ibv_wc wc;

	while (*received < receives || *sent < sends) {
		int n = ibv_poll_cq(b.cq, 1, &wc);

		if (n < 0 || (n == 0 && !sleep_for_event()))
			return false;
		if (n > 0 && wc.status)
			return failed(ibv_wc_status_str(wc.status));
		if (n > 0)
			++*(wc.opcode == IBV_WC_RECV ? received : sent);
	}
	return true;
}

/* Seconds of one round trip, or 0. One receive is posted at the beginning, none at the end. */
static double ping(bool is_first)
{
	double begin = bench_now();
	size_t received = 0, sent = 0;

	for (size_t i = 0; i < PINGS; i++)
		if ((is_first && !post(0, IBV_WR_SEND, 1, SMALL, true)) ||
		    !await_pings(&received, i + 1, &sent, 0) ||
		    (i + 1 < PINGS && !post_receive(0, SMALL)) ||
		    (!is_first && !post(0, IBV_WR_SEND, 1, SMALL, true)))
			return 0;
	return await_pings(&received, PINGS, &sent, PINGS) ? (bench_now() - begin) / PINGS : 0;
}

static long context_switches(void)
{
	struct rusage r;

	return getrusage(RUSAGE_SELF, &r) ? 0 : r.ru_nvcsw + r.ru_nivcsw;
}

static size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* In both processes: what they cost in 2 s without work. */
static bool idle(bool is_peer)
{
	long before, mine, theirs;
	double cpu;

	usleep(500000); /* engines look for work for a while */
	before = context_switches();
	cpu = bench_cpu_time();
	usleep(2000000);
	mine = context_switches() - before;
	cpu = bench_cpu_time() - cpu;
	if (!duo_swap(&b.duo, &mine, &theirs, sizeof(mine)))
		return false;
	if (!is_peer)
		printf("idle for 2 s: %ld and %ld context switches, %.1f ms of processor time\n",
		       mine, theirs, cpu * 1e3);
	return true;
}

static bool many(bool is_peer)
{
	size_t before = open_files(), done = 0;
	double begin = bench_now();

	if (!connect_all(1, MANY))
		return false;
	if (!is_peer) {
		printf("%u queue pairs: %zu more descriptors, connected in %.2f s", MANY,
		       open_files() - before, bench_now() - begin);
		begin = bench_now();
		for (size_t i = 0; i < MANY; i++)
			if (!post(i, IBV_WR_RDMA_WRITE, 0, SMALL, true))
				return false;
		while (done < MANY) {
			int n = wait_some();

			if (!n)
				return false;
			done += (size_t)n;
		}
		printf(", one small write by each in %.1f ms\n", (bench_now() - begin) * 1e3);
	}
	return duo_meet(&b.duo);
}

/* --- rounds ----------------------------------------------------------------------------------- */

enum { UDP, COPIED, WRITE, SEND, UDP_PING, RC_PING, KINDS };
static double seen[KINDS][MAX_ROUNDS];

static bool serve_round(void)
{
	double rate = udp_sink(&b.udp);

	if (!rate || !duo_send(&b.duo, &rate, sizeof(rate)) || !duo_meet(&b.duo))
		return false;
	rate = udp_sink_copied(&b.udp, b.memory, WINDOW);
	if (!rate || !duo_send(&b.duo, &rate, sizeof(rate)) || !duo_meet(&b.duo))
		return false;
	if (!prepare_receives(WINDOW, MESSAGE) || !duo_meet(&b.duo) || !sink() || !duo_meet(&b.duo))
		return false;
	if (!udp_pong(&b.udp, PINGS) || !prepare_receives(1, SMALL) || !duo_meet(&b.duo))
		return false;
	return ping(false) > 0 && duo_meet(&b.duo);
}

static bool time_round(size_t i)
{
	if (!udp_stream(&b.udp, b.messages * MESSAGE) ||
	    !duo_receive(&b.duo, &seen[UDP][i], sizeof(double)) || !duo_meet(&b.duo))
		return false;
	if (!udp_stream_copied(&b.udp, b.memory, WINDOW, b.messages) ||
	    !duo_receive(&b.duo, &seen[COPIED][i], sizeof(double)))
		return false;
	seen[WRITE][i] = stream(IBV_WR_RDMA_WRITE);
	if (!seen[WRITE][i] || !duo_meet(&b.duo) || !duo_meet(&b.duo))
		return false;
	seen[SEND][i] = stream(IBV_WR_SEND);
	if (!seen[SEND][i] || !duo_meet(&b.duo))
		return false;
	seen[UDP_PING][i] = udp_ping(&b.udp, PINGS);
	if (!seen[UDP_PING][i] || !prepare_receives(1, SMALL) || !duo_meet(&b.duo))
		return false;
	seen[RC_PING][i] = ping(true);
	return seen[RC_PING][i] > 0 && duo_meet(&b.duo);
}

static void print_line(const char *name, double *values, double unit)
{
	struct bench_stats stats;

	bench_stats(values, b.rounds, &stats);
	printf("  %-22s %9.2f (%.2f to %.2f)\n", name, stats.median * unit, stats.min * unit,
	       stats.max * unit);
}

static void compare(int kind, int reference, const char *what, const char *goal)
{
	double ratios[MAX_ROUNDS];
	struct bench_stats stats;

	for (size_t i = 0; i < b.rounds; i++)
		ratios[i] = seen[kind][i] / seen[reference][i];
	bench_stats(ratios, b.rounds, &stats);
	printf("  %-22s %9.2f (%.2f to %.2f)%s%s\n", what, stats.median, stats.min, stats.max,
	       *goal ? ", goal: " : "", goal);
	bench_record(&stats, goal, "%s", what);
}

static void report(void)
{
	printf("64 KiB messages, GB/s: median (range) of %zu rounds\n", b.rounds);
	compare(WRITE, UDP, "RC write : UDP", "at least 0.5");
	compare(SEND, UDP, "RC send : UDP", "at least 0.5");
	compare(WRITE, COPIED, "RC write : UDP, copied", "at least 0.8");
	compare(COPIED, UDP, "UDP, copied : UDP", "");
	print_line("UDP with GSO and GRO", seen[UDP], 1e-9);
	print_line("UDP, copied", seen[COPIED], 1e-9);
	print_line("RC write", seen[WRITE], 1e-9);
	print_line("RC send", seen[SEND], 1e-9);
	printf("64 bytes back and forth, both sides wait by events, us\n");
	compare(RC_PING, UDP_PING, "RC send : UDP, latency", "at most 3");
	print_line("UDP", seen[UDP_PING], 1e6);
	print_line("RC send", seen[RC_PING], 1e6);
}

static bool measure(bool is_peer)
{
	for (size_t i = 0; i <= b.rounds; i++) /* the first one warms up */
		if (!(is_peer ? serve_round() : time_round(i ? i - 1 : 0)))
			return failed("a round");
	if (!is_peer)
		report();
	return idle(is_peer) && many(is_peer);
}

static int usage(void)
{
	fputs("usage: bench_wire [--rounds N] [--messages N] [--gid INDEX] -- COMMAND...\n"
	      "\n"
	      "COMMAND is this program with the same options and --peer, on another emulator.\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {{"rounds", required_argument, NULL, 'r'},
					      {"messages", required_argument, NULL, 'm'},
					      {"gid", required_argument, NULL, 'g'},
					      {"peer", no_argument, NULL, 'p'},
					      {0}};
	bool is_peer = false, done;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'r')
			b.rounds = strtoul(optarg, NULL, 10);
		else if (c == 'm')
			b.messages = strtoul(optarg, NULL, 10) / WINDOW * WINDOW;
		else if (c == 'g')
			b.gid_index = (int)strtol(optarg, NULL, 10);
		else if (c == 'p')
			is_peer = true;
		else
			return usage();
	}
	if (!b.rounds || b.rounds > MAX_ROUNDS || !b.messages || (optind < argc) == is_peer)
		return usage();
	if (!(is_peer ? duo_join(&b.duo) : duo_start(&b.duo, argv + optind)))
		return 1;
	done = udp_open(&b.udp, &b.duo) && open_device() && connect_all(0, 1) && measure(is_peer);
	duo_end(&b.duo);
	return done ? 0 : 1;
}
