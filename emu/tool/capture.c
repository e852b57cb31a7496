/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* capture: write the packets of the emulator to a file of pcapng, which is complete after each packet. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/ipc/gid.h"
#include "emu/ipc/queues.h"
#include "emu/ipc/ring.h"
#include "emu/ipc/sock.h"
#include "emu/server/base/log.h"
#include "emu/tool/tool.h"

#define CHUNK	    (1u << 20)
#define BLOCK_HEAD  8u /* its type and its length */
#define BLOCK_MIN   12u
#define BLOCK_MAX   65536u
#define PACKET	    6u	 /* the type of a block of pcapng: a packet */
#define END_WAIT_MS 2000 /* for the emulator, to hand over its last packets */

struct capture {
	const struct options *o;
	const char *name; /* of the file, for messages */
	int out, fd;	  /* the file and the emulator */
	bool regular;
	off_t good; /* bytes of whole blocks in the file */
	struct emu_ring *ring;
	uint64_t packets;
	uint8_t *bytes; /* CHUNK of them: blocks to be written */
	size_t len;
};

/* --- options ---------------------------------------------------------------------------------- */

bool tool_capture_peer(struct options *o, const char *arg)
{
	o->peer = arg;
	return emu_gid_parse(arg, o->capture.peer);
}

const char *tool_capture_check(struct options *o, const char *file)
{
	struct emu_capture_request *r = &o->capture;

	o->file = file;
	if (o->wire_only && o->local_only)
		return "use either --wire-only or --local-only";
	if (o->peer && !tool_capture_peer(o, o->peer))
		return "--peer of capture needs an IP address";
	r->req = (struct emu_request){.magic = EMU_MAGIC, .op = EMU_OP_CAPTURE};
	r->what = EMU_CAPTURE_WIRE | EMU_CAPTURE_LOCAL;
	if (o->wire_only)
		r->what = EMU_CAPTURE_WIRE;
	if (o->local_only)
		r->what = EMU_CAPTURE_LOCAL;
	r->qpn = o->fault_words & W_QPN ? o->fault.qpn : 0;
	snprintf(r->role, sizeof(r->role), "%s", o->role ? o->role : "");
	return NULL;
}

/* --- the file --------------------------------------------------------------------------------- */

static int complain(const struct capture *c, const char *why, const char *more)
{
	emu_log("cannot write %s: %s%s", c->name, why, more);
	return 1;
}

/* A new file; of what exists, only what is not a regular file: a FIFO, a device. */
static int open_file(struct capture *c)
{
	struct stat st;

	if (!strcmp(c->o->file, "-")) {
		c->name = "the standard output";
		c->out = STDOUT_FILENO;
		if (isatty(c->out))
			return complain(c, "it is a terminal",
					"; name a file, or pipe it into a program");
	} else {
		c->name = c->o->file;
		c->out = open(c->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (c->out < 0 && errno == EEXIST && !stat(c->name, &st) && !S_ISREG(st.st_mode))
			c->out = open(c->name, O_WRONLY | O_CLOEXEC);
	}
	if (c->out < 0)
		return complain(c, strerror(errno),
				errno == EEXIST ? "; remove it, or name another file" : "");
	c->regular = !fstat(c->out, &st) && S_ISREG(st.st_mode);
	c->good = c->regular ? lseek(c->out, 0, SEEK_END) : 0;
	return 0;
}

/* The bytes of the blocks of which all bytes are among the first `len`. */
static size_t whole_blocks(const struct capture *c, size_t len)
{
	size_t at = 0;
	uint32_t block;

	while (len - at >= BLOCK_HEAD) {
		memcpy(&block, c->bytes + at + 4, sizeof(block));
		if (block > len - at)
			break;
		at += block;
	}
	return at;
}

/* A part of a block is worth nothing: a full disk leaves whole blocks. */
static int cut(const struct capture *c, size_t written, int why)
{
	if (c->regular && ftruncate(c->out, c->good + (off_t)whole_blocks(c, written)))
		emu_log("the end of %s is not valid", c->name);
	return complain(c, strerror(why), "");
}

static int flush(struct capture *c)
{
	size_t at = 0;
	ssize_t n;

	while (at < c->len) {
		n = write(c->out, c->bytes + at, c->len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cut(c, at, errno);
		at += (size_t)n;
	}
	c->good += (off_t)c->len;
	c->len = 0;
	return 0;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool is_full(const struct capture *c)
{
	return c->o->fault_words & W_COUNT && c->packets >= c->o->fault.count;
}

/* 1: there is no block, -1: what is there is not one. */
static int take_block(struct capture *c)
{
	uint8_t *block = c->bytes + c->len;
	uint32_t type, len;

	if (emu_ring_get(c->ring, block, BLOCK_HEAD) != BLOCK_HEAD)
		return 1;
	memcpy(&type, block, sizeof(type));
	memcpy(&len, block + 4, sizeof(len));
	if (len < BLOCK_MIN || len > BLOCK_MAX ||
	    emu_ring_get(c->ring, block + BLOCK_HEAD, len - BLOCK_HEAD) != len - BLOCK_HEAD)
		return -1;
	c->packets += type == PACKET;
	c->len += len;
	return 0;
}

/* Write what is in the ring. */
static int drain(struct capture *c)
{
	int result = 0;

	while (!result && !is_full(c)) {
		result = take_block(c);
		if (c->len > CHUNK - BLOCK_MAX && flush(c))
			return 1;
	}
	if (result < 0) {
		emu_log("%s", tool_error(-EPROTO));
		return 1;
	}
	return flush(c);
}

/* --- the emulator ----------------------------------------------------------------------------- */

static int refused(const struct options *o, int err)
{
	if (err != -ENODEV || tool_has_function(o->dir, o->role))
		emu_log("cannot capture in %s: %s", o->dir, tool_error(err));
	return 1;
}

static int begin(struct capture *c)
{
	struct emu_reply rep;
	unsigned int nfds = 0;
	int ring = -1, err;
	void *p;
	char byte;

	err = tool_exchange(c->fd, &c->o->capture, sizeof(c->o->capture), &rep);
	if (err)
		return refused(c->o, err);
	if (emu_sock_recv(c->fd, &byte, sizeof(byte), &ring, 1, &nfds, NULL) < 1 || nfds != 1)
		return refused(c->o, -EPROTO);
	p = mmap(NULL, sizeof(*c->ring), PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
	err = -errno;
	close(ring);
	if (p == MAP_FAILED)
		return refused(c->o, err);
	c->ring = p;
	return 0;
}

static int signal_pipe[2];

static void on_signal(int signal)
{
	const int saved = errno;

	(void)signal;
	(void)!write(signal_pipe[1], "", 1);
	errno = saved;
}

/* The first signal ends the capture, the second one the program. */
static int catch_signals(void)
{
	const struct sigaction end = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	return pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) || sigaction(SIGINT, &end, NULL) ||
	       sigaction(SIGTERM, &end, NULL);
}

/* Take the packets that wake us. True: the emulator has ended, or has answered. */
static bool take_wakes(const struct capture *c)
{
	struct emu_reply rep;
	unsigned int nfds;
	ssize_t n;

	do
		n = emu_sock_recv_now(c->fd, &rep, sizeof(rep), NULL, 0, &nfds, NULL);
	while (n == 1);
	return n != -EAGAIN;
}

/* Ask for the packets that are on their way. */
static bool ask_for_rest(const struct capture *c)
{
	const struct emu_request req = {.magic = EMU_MAGIC, .op = EMU_OP_CAPTURED};

	return !emu_sock_send_now(c->fd, &req, sizeof(req), NULL, 0);
}

static int capture(struct capture *c)
{
	struct pollfd p[] = {{.fd = c->fd, .events = POLLIN},
			     {.fd = signal_pipe[0], .events = POLLIN}};
	int err = drain(c), wait = -1;
	bool ended = false;

	while (!err && !ended && !is_full(c)) {
		int n = poll(p, 2, wait);

		if (n == 0 && wait >= 0)
			break;
		if (n > 0 && p[1].revents) {
			p[1].fd = -1;
			p[1].revents = 0;
			wait = END_WAIT_MS;
			ended = !ask_for_rest(c);
		}
		if (n > 0 && p[0].revents)
			ended = take_wakes(c);
		err = drain(c);
	}
	return err;
}

static void report(const struct capture *c)
{
	uint64_t lost = atomic_load(&c->ring->lost);

	emu_log("%llu packets in %s%s", (unsigned long long)c->packets, c->name,
		lost ? "" : ", none lost");
	if (lost)
		emu_log("%llu packets were lost: the capture was too slow",
			(unsigned long long)lost);
}

int tool_capture(struct options *o)
{
	struct capture c = {.o = o};
	int err = 1;

	c.fd = tool_connect_running(o);
	if (c.fd < 0)
		return 1;
	c.bytes = malloc(CHUNK);
	if (!c.bytes || catch_signals()) {
		emu_log("%s", strerror(errno));
		goto free_bytes;
	}
	if (open_file(&c))
		goto free_bytes;
	err = begin(&c);
	if (err && c.regular)
		unlink(c.name);
	if (!err)
		err = capture(&c);
	if (!err)
		report(&c);
	if (c.ring)
		munmap(c.ring, sizeof(*c.ring));
	if (close(c.out) && !err)
		err = complain(&c, strerror(errno), "");
free_bytes:
	free(c.bytes);
	close(c.fd);
	return err;
}
