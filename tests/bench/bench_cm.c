/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The life of a connection by librdmacm, from its id to its end, compared with a TCP connection on the
 * machine's loopback. One connection exists at a time. Both servers are in a second process.
 *
 * And what a program pays that asks a channel for an event again and again, compared with a non-blocking read of a
 * socket that has nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "duo.h"
#include "stats.h"

#define MAX_ROUNDS 1000
#define LIVES	   20 /* connections in a round */
#define PATIENCE   5000
#define QUESTIONS  200
#define IS_V4	   "\0\0\0\0\0\0\0\0\0\0\xff\xff"

static struct duo duo;
static size_t rounds = 15;

static bool failed(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	return false;
}

/* --- by librdmacm ----------------------------------------------------------------------------- */

static bool add_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	return !rdma_create_qp(id, NULL, &attr) || failed("rdma_create_qp");
}

static bool await_end(const struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;
	bool ended = false;

	while (!ended) {
		if (rdma_get_cm_event(id->channel, &event))
			return failed("rdma_get_cm_event");
		ended = event->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(event);
	}
	return true;
}

static void end_id(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

/* An id without a channel waits for each step. */
static bool live_cm(struct sockaddr_in *to)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct rdma_cm_id *id;
	bool done;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		return failed("rdma_create_id");
	done = !rdma_resolve_addr(id, NULL, (struct sockaddr *)to, PATIENCE) &&
	       !rdma_resolve_route(id, PATIENCE) && add_qp(id) && !rdma_connect(id, &param) &&
	       !rdma_disconnect(id);
	if (!done)
		failed("a connection by librdmacm");
	end_id(id);
	return done;
}

static bool serve_cm(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id;
	bool done;

	if (rdma_get_request(listener, &id))
		return failed("rdma_get_request");
	/* Destroying the id answers; rdma_disconnect() would wait until the peer's id is forgotten. */
	done = add_qp(id) && !rdma_accept(id, NULL) && await_end(id);
	if (!done)
		failed("accepting a connection by librdmacm");
	end_id(id);
	return done;
}

/* The first IPv4 address in the table of GIDs. */
static bool find_address(struct ibv_context *context, struct in_addr *address)
{
	union ibv_gid gid;

	for (int i = 0; !ibv_query_gid(context, 1, i, &gid); i++)
		if (!memcmp(gid.raw, IS_V4, 12)) {
			memcpy(address, gid.raw + 12, sizeof(*address));
			return true;
		}
	return failed("an address of the port");
}

static bool own_address(struct sockaddr_in *at)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	bool done = context && find_address(context, &at->sin_addr);

	if (context)
		ibv_close_device(context);
	if (list)
		ibv_free_device_list(list);
	return done;
}

static struct rdma_cm_id *listen_cm(struct sockaddr_in *at)
{
	struct rdma_cm_id *id;

	if (!own_address(at) || rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		return NULL;
	if (!rdma_bind_addr(id, (struct sockaddr *)at) && !rdma_listen(id, 8)) {
		at->sin_port = rdma_get_src_port(id);
		return id;
	}
	failed("rdma_listen");
	rdma_destroy_id(id);
	return NULL;
}

/* --- by TCP ----------------------------------------------------------------------------------- */

/* Until the server has accepted, which it shows by a byte, and has closed its end. */
static bool live_tcp(struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;
	bool done;

	done = fd >= 0 && !connect(fd, (struct sockaddr *)to, sizeof(*to)) &&
	       read(fd, &byte, 1) == 1 && !shutdown(fd, SHUT_WR) && read(fd, &byte, 1) == 0;
	if (!done)
		failed("a TCP connection");
	if (fd >= 0)
		close(fd);
	return done;
}

static bool serve_tcp(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	char byte = 0;
	bool done;

	done = fd >= 0 && write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 0;
	if (!done)
		failed("accepting a TCP connection");
	if (fd >= 0)
		close(fd);
	return done;
}

static int listen_tcp(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)at, len) && !listen(fd, 8) &&
	    !getsockname(fd, (struct sockaddr *)at, &len))
		return fd;
	failed("listening on TCP");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* --- both ------------------------------------------------------------------------------------- */

struct addresses {
	struct sockaddr_in cm, tcp;
};

/* Connections of both kinds alternate, as the client does. */
static bool serve(void)
{
	struct addresses at = {.cm.sin_family = AF_INET, .tcp.sin_family = AF_INET};
	struct rdma_cm_id *cm = listen_cm(&at.cm);
	int tcp = listen_tcp(&at.tcp);
	bool done = cm && tcp >= 0 && duo_send(&duo, &at, sizeof(at));

	for (size_t i = 0; done && i < (rounds + 1) * LIVES; i++)
		done = serve_cm(cm) && serve_tcp(tcp);
	if (cm)
		rdma_destroy_id(cm);
	if (tcp >= 0)
		close(tcp);
	return done;
}

/* Add up the time of each kind in microseconds. */
static bool time_round(struct addresses *at, double *cm, double *tcp)
{
	*cm = *tcp = 0;
	for (size_t i = 0; i < LIVES; i++) {
		double begin = bench_now(), middle;

		if (!live_cm(&at->cm))
			return false;
		middle = bench_now();
		if (!live_tcp(&at->tcp))
			return false;
		*cm += (middle - begin) * 1e6 / LIVES;
		*tcp += (bench_now() - middle) * 1e6 / LIVES;
	}
	return true;
}

static void print_line(const char *name, double *values)
{
	struct bench_stats stats;

	bench_stats(values, rounds, &stats);
	printf("  %-9s %9.1f (%.1f to %.1f)\n", name, stats.median, stats.min, stats.max);
}

/* Nobody has an event: the time of a question in nanoseconds. */
static bool time_questions(struct rdma_event_channel *channel, int fd, double *cm, double *bare)
{
	double begin = bench_now(), middle;
	struct rdma_cm_event *event;
	char byte;

	for (size_t i = 0; i < QUESTIONS; i++)
		if (!rdma_get_cm_event(channel, &event) || errno != EAGAIN)
			return failed("a question for an event");
	middle = bench_now();
	for (size_t i = 0; i < QUESTIONS; i++)
		if (recv(fd, &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
			return failed("a read of a socket");
	*cm = (middle - begin) * 1e9 / QUESTIONS;
	*bare = (bench_now() - middle) * 1e9 / QUESTIONS;
	return true;
}

static bool measure_questions(void)
{
	static double cm[MAX_ROUNDS], bare[MAX_ROUNDS], ratios[MAX_ROUNDS];
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool done = channel && fd >= 0 && !fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	struct bench_stats ratio;

	for (size_t i = 0; done && i <= rounds; i++) {
		size_t round = i ? i - 1 : 0;

		done = time_questions(channel, fd, &cm[round], &bare[round]);
		ratios[round] = cm[round] / bare[round];
	}
	if (fd >= 0)
		close(fd);
	if (channel)
		rdma_destroy_event_channel(channel);
	if (!done)
		return failed("questions for events");
	printf("a question for an event where there is none, ns: median (range) of %zu rounds\n",
	       rounds);
	print_line("librdmacm", cm);
	print_line("recv", bare);
	print_line("ratio", ratios);
	bench_stats(ratios, rounds, &ratio);
	bench_record(&ratio, "", "question for an event of librdmacm : recv");
	return true;
}

static bool measure(void)
{
	static double cm[MAX_ROUNDS], tcp[MAX_ROUNDS], ratios[MAX_ROUNDS];
	struct bench_stats ratio;
	struct addresses at;

	if (!duo_receive(&duo, &at, sizeof(at)))
		return false;
	for (size_t i = 0; i <= rounds; i++) {
		size_t round = i ? i - 1 : 0; /* the first one warms up */

		if (!time_round(&at, &cm[round], &tcp[round]))
			return false;
		ratios[round] = cm[round] / tcp[round];
	}
	printf("a connection from its beginning to its end, us: median (range) of %zu rounds\n",
	       rounds);
	print_line("librdmacm", cm);
	print_line("TCP", tcp);
	print_line("ratio", ratios);
	bench_stats(ratios, rounds, &ratio);
	bench_record(&ratio, "", "connection by librdmacm : TCP");
	return measure_questions();
}

static int usage(void)
{
	fputs("usage: bench_cm [--rounds N] -- COMMAND...\n"
	      "\n"
	      "COMMAND is this program with the same options and --peer, on another function.\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{"rounds", required_argument, NULL, 'r'}, {"peer", no_argument, NULL, 'p'}, {0}};
	bool is_peer = false, done;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else if (c == 'p')
			is_peer = true;
		else
			return usage();
	}
	if (!rounds || rounds > MAX_ROUNDS || (optind < argc) == is_peer)
		return usage();
	if (!(is_peer ? duo_join(&duo) : duo_start(&duo, argv + optind)))
		return 1;
	done = is_peer ? serve() : measure();
	duo_end(&duo);
	return done ? 0 : 1;
}
