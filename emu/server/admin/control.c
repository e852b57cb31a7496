/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/proto.h"
#include "emu/ipc/sock.h"
#include "emu/server/admin/capture.h"
#include "emu/server/admin/fault.h"
#include "emu/server/admin/port.h"
#include "emu/server/admin/status.h"
#include "emu/server/admin/trace.h"
#include "emu/server/base/reactor.h"
#include "emu/server/card/counters.h"

#define READER_MS  250
#define LAST_MS	   5000 /* at the end nobody else waits */
#define TIME_BYTES 32

struct admin {
	struct emu_watch watch;
	struct admin *next;
	bool holds, traces;
	struct emu_trace_request trace;
	bool chaos;		     /* it runs a plan: the faults end with it */
	unsigned int missed;	     /* lines that were not read in time */
	struct emu_capture *capture; /* or NULL */
	int ring;		     /* of a new capture, until it was sent */
};

static struct admin *admins;
static unsigned int holders;
static bool ends_with_holders;

bool emu_admin_has_holders(void)
{
	return holders;
}

static void stop_tracing(struct admin *reader)
{
	reader->traces = false;
	for (const struct admin *a = admins; a; a = a->next)
		if (a->traces)
			return;
	emu_trace_stop();
}

static int begin_chaos(struct admin *reader, uint64_t seed)
{
	char words[64];

	for (const struct admin *a = admins; a; a = a->next)
		if (a->chaos && a != reader)
			return -EALREADY;
	reader->chaos = true;
	snprintf(words, sizeof(words), "chaos --seed %llu", (unsigned long long)seed);
	emu_trace_fault(words, 0);
	return 0;
}

/* However the program ended that ran the plan. */
static void end_chaos(struct admin *a)
{
	const struct emu_fault_request clear = {.nth = 1, .count = 1, .words = "clear"};
	uint64_t val[4];

	a->chaos = false;
	emu_fault_set(&clear, val);
}

static void destroy(struct emu_watch *w)
{
	struct admin *a = (struct admin *)w, **link = &admins;

	while (*link != a)
		link = &(*link)->next;
	*link = a->next;
	if (a->chaos)
		end_chaos(a);
	if (a->traces)
		stop_tracing(a);
	if (a->capture)
		emu_capture_destroy(a->capture);
	if (a->holds && !--holders && ends_with_holders)
		emu_reactor_stop();
	emu_watch_del(&a->watch);
	emu_free_later(a);
}

static void hold(struct admin *a, const struct emu_request *req)
{
	(void)req;
	if (!a->holds)
		holders++;
	a->holds = true;
}

/* A text of any length travels as a file. Without one the reader must not wait: hang up. */
static void send_text(struct admin *a, char *text)
{
	size_t len = text ? strlen(text) : 0;
	int fd = memfd_create("dpumap-emu-text", MFD_CLOEXEC);

	if (text && fd >= 0 && write(fd, text, len) == (ssize_t)len)
		emu_sock_send_now(a->watch.fd, "", 1, &fd, 1);
	else
		shutdown(a->watch.fd, SHUT_RDWR);
	if (fd >= 0)
		close(fd);
	free(text);
}

static void status(struct admin *a, const struct emu_request *req)
{
	(void)req;
	send_text(a, emu_status_text());
}

static void stop(struct admin *a, const struct emu_request *req)
{
	(void)a;
	(void)req;
	emu_reactor_stop();
}

static void start_tracing(struct admin *a, const struct emu_request *req)
{
	a->traces = true;
	a->trace = *(const struct emu_trace_request *)req;
	emu_trace_start(a->trace.flags & EMU_TRACE_ADDRESSES);
}

static int begin_capture(struct admin *a, const struct emu_capture_request *req)
{
	return a->capture ? -EALREADY : emu_capture_create(req, a->watch.fd, &a->capture, &a->ring);
}

static void send_ring(struct admin *a, const struct emu_request *req)
{
	(void)req;
	if (emu_sock_send_now(a->watch.fd, "", 1, &a->ring, 1))
		shutdown(a->watch.fd, SHUT_RDWR);
	close(a->ring);
}

/* Operations with an effect after the answer. */
static void act(struct admin *a, const struct emu_request *req)
{
	static const struct {
		uint32_t op;
		void (*act)(struct admin *a, const struct emu_request *req);
	} ops[] = {
		{EMU_OP_HOLD, hold},	       {EMU_OP_STATUS, status},	    {EMU_OP_STOP, stop},
		{EMU_OP_TRACE, start_tracing}, {EMU_OP_CAPTURE, send_ring},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (ops[i].op == req->op)
			ops[i].act(a, req);
}

static size_t size_of(uint32_t op)
{
	if (op == EMU_OP_FAULT)
		return sizeof(struct emu_fault_request);
	if (op == EMU_OP_CAPTURE)
		return sizeof(struct emu_capture_request);
	if (op == EMU_OP_TRACE)
		return sizeof(struct emu_trace_request);
	return op == EMU_OP_PORT ? sizeof(struct emu_port_request) : sizeof(struct emu_request);
}

static void serve(struct emu_watch *w)
{
	struct admin *a = (struct admin *)w;
	struct emu_reply r = {.magic = EMU_MAGIC};
	union {
		struct emu_request req;
		struct emu_fault_request fault;
		struct emu_port_request port;
		struct emu_capture_request capture;
		struct emu_trace_request trace;
	} packet;
	const struct emu_request *req = &packet.req;
	unsigned int nfds;
	ssize_t n;

	n = emu_sock_recv_now(a->watch.fd, &packet, sizeof(packet), NULL, 0, &nfds, NULL);
	if (n == -EAGAIN)
		return;
	if (emu_sock_is_of_other_build(&packet, n))
		emu_sock_answer_other_build(w->fd);
	if (n < (ssize_t)sizeof(*req) || req->magic != EMU_MAGIC ||
	    n != (ssize_t)size_of(req->op)) {
		destroy(w);
		return;
	}
	if (req->op == EMU_OP_FAULT)
		r.error = -emu_fault_set(&packet.fault, r.val);
	else if (req->op == EMU_OP_PORT)
		r.error = -emu_port_request(&packet.port, r.val);
	else if (req->op == EMU_OP_CAPTURE)
		r.error = -begin_capture(a, &packet.capture);
	else if (req->op == EMU_OP_CAPTURED)
		emu_capture_drain();
	else if (req->op == EMU_OP_COUNTERS)
		emu_counters_refresh();
	else if (req->op == EMU_OP_CHAOS)
		r.error = -begin_chaos(a, req->arg[0]);
	emu_sock_send_now(a->watch.fd, &r, sizeof(r), NULL, 0);
	if (!r.error)
		act(a, req);
}

int emu_admin_create(int fd, bool holds)
{
	struct admin *a = calloc(1, sizeof(*a));
	int err = -ENOMEM;

	if (!a)
		goto close_fd;
	a->watch = (struct emu_watch){fd, serve, destroy};
	a->holds = holds;
	err = emu_watch_add(&a->watch);
	if (err)
		goto free_admin;
	holders += holds;
	ends_with_holders |= holds;
	a->next = admins;
	admins = a;
	return 0;

free_admin:
	free(a);
close_fd:
	close(fd);
	return err;
}

static bool wait_for_reader(const struct admin *a, int ms)
{
	struct pollfd p = {.fd = a->watch.fd, .events = POLLOUT};

	return poll(&p, 1, ms) == 1 && p.revents == POLLOUT;
}

/* A slow reader gets a line with the number of lost lines. */
static bool report_gap(struct admin *a)
{
	char gap[48];
	int n = snprintf(gap, sizeof(gap), "(%u lines lost)\n", a->missed);

	if (a->missed && emu_sock_send_now(a->watch.fd, gap, (size_t)n, NULL, 0))
		return false;
	a->missed = 0;
	return true;
}

/* A busy machine may keep a reader waiting, so the server waits for it, but not again before it has read. */
static void send_line(struct admin *a, const char *text, size_t len)
{
	int err = report_gap(a) ? emu_sock_send_now(a->watch.fd, text, len, NULL, 0) : -EPIPE;

	if (err == -EAGAIN && wait_for_reader(a, READER_MS))
		err = emu_sock_send_now(a->watch.fd, text, len, NULL, 0);
	if (err)
		a->missed++;
}

void emu_control_end(void)
{
	for (struct admin *a = admins; a; a = a->next)
		if (a->traces && a->missed && wait_for_reader(a, LAST_MS))
			report_gap(a);
}

static bool is_wanted(const struct emu_trace_request *t, const struct emu_trace_line *l)
{
	if (t->flags & EMU_TRACE_ERRORS && l->role && !l->failed)
		return false;
	return !*t->role || !l->role || !strncmp(t->role, l->role, sizeof(t->role));
}

/* The time of day, as strace prints it with -tt. */
static size_t put_time(char text[static TIME_BYTES])
{
	struct timespec now;
	struct tm day;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &day);
	n = strftime(text, TIME_BYTES, "%H:%M:%S", &day);
	return n + (size_t)snprintf(text + n, TIME_BYTES - n, ".%06ld ", now.tv_nsec / 1000);
}

void emu_control_publish(const struct emu_trace_line *line)
{
	char timed[TIME_BYTES + EMU_TRACE_LINE];
	size_t n = put_time(timed), len = line->len < EMU_TRACE_LINE ? line->len : EMU_TRACE_LINE;

	memcpy(timed + n, line->text, len);
	for (struct admin *a = admins; a; a = a->next)
		if (a->traces && is_wanted(&a->trace, line))
			send_line(a, a->trace.flags & EMU_TRACE_TIME ? timed : timed + n,
				  a->trace.flags & EMU_TRACE_TIME ? n + len : len);
}
