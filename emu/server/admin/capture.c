/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "emu/ipc/ring.h"
#include "emu/ipc/sock.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/wire/mad.h"
#include "emu/wire/datagram.h"
#include "emu/wire/drop.h"
#include "emu/wire/packet.h"
#include "emu/wire/path.h"
#include "emu/wire/work.h"

#define COMMENT_BYTES 512u
#define BLOCK_BYTES   (EMU_PACKET_MAX + WIRE_PATH_MAX + COMMENT_BYTES + 128u)

/* The format pcapng: draft-ietf-opsawg-pcapng, sections 3 and 4. */
enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6,
	MAGIC = 0x1a2b3c4d,
	LINKTYPE_RAW = 101, /* begins with an IP header */
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SECTION_PROGRAM = 4,
	INTERFACE_NAME = 2,
	INTERFACE_RESOLUTION = 9,
	RESOLUTION_NS = 9, /* 10^-9 s */
	PACKET_FLAGS = 2,
	INBOUND = 1,
	OUTBOUND = 2,
};

struct emu_capture {
	struct emu_capture *next;
	struct emu_ring *ring;
	uint64_t head;
	uint64_t missed; /* packets since the last one that the reader got */
	int fd;		 /* the caller's */
	struct emu_capture_request filter;
};

static struct emu_capture *captures;

/* --- blocks ----------------------------------------------------------------------------------- */

/* A block in the making: it has room for the longest one. */
struct block {
	size_t len;
	uint8_t bytes[BLOCK_BYTES];
};

static void add(struct block *b, const void *bytes, size_t len)
{
	memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
}

/* Numbers are in the byte order of this machine, which the block of the section shows. */
static void add16(struct block *b, uint16_t v)
{
	add(b, &v, sizeof(v));
}

static void add32(struct block *b, uint32_t v)
{
	add(b, &v, sizeof(v));
}

static void pad(struct block *b)
{
	while (b->len % 4)
		b->bytes[b->len++] = 0;
}

static void add_option(struct block *b, uint16_t code, const void *value, size_t len)
{
	add16(b, code);
	add16(b, (uint16_t)len);
	add(b, value, len);
	pad(b);
}

static void begin(struct block *b, uint32_t type)
{
	b->len = 0;
	add32(b, type);
	add32(b, 0);
}

/* Both ends of a block have its length. */
static void end(struct block *b)
{
	uint32_t len;

	add32(b, OPTION_END);
	len = (uint32_t)b->len + 4;
	add32(b, len);
	memcpy(b->bytes + 4, &len, sizeof(len));
}

static void describe_section(struct block *b)
{
	static const char program[] = "dpumap-emu " DPUMAP_VERSION;

	begin(b, BLOCK_SECTION);
	add32(b, MAGIC);
	add16(b, 1);
	add16(b, 0);
	add32(b, UINT32_MAX); /* the length of the section is not known */
	add32(b, UINT32_MAX);
	add_option(b, SECTION_PROGRAM, program, sizeof(program) - 1);
	end(b);
}

/* An interface for each function, with its index. */
static void describe_interface(struct block *b, const struct emu_func *f)
{
	const uint8_t resolution = RESOLUTION_NS;
	char name[40];
	int n = snprintf(name, sizeof(name), "%s:mlx5_%u", f->role, f->dev);

	begin(b, BLOCK_INTERFACE);
	add16(b, LINKTYPE_RAW);
	add16(b, 0);
	add32(b, 0); /* packets are not cut */
	add_option(b, INTERFACE_NAME, name, (size_t)n);
	add_option(b, INTERFACE_RESOLUTION, &resolution, sizeof(resolution));
	end(b);
}

/* --- comments --------------------------------------------------------------------------------- */

struct text {
	char bytes[COMMENT_BYTES];
	size_t len;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...)
{
	size_t room = sizeof(t->bytes) - t->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->bytes + t->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n < room ? (size_t)n : room - 1;
}

static const char *name_of(uint8_t work)
{
	static const char *const names[] = {
		[WIRE_WORK_SEND] = "SEND",
		[WIRE_WORK_SEND_IMM] = "SEND with immediate",
		[WIRE_WORK_SEND_INV] = "SEND with invalidate",
		[WIRE_WORK_WRITE] = "RDMA WRITE",
		[WIRE_WORK_WRITE_IMM] = "RDMA WRITE with immediate",
		[WIRE_WORK_READ] = "RDMA READ",
		[WIRE_WORK_COMPARE_SWAP] = "compare and swap",
		[WIRE_WORK_FETCH_ADD] = "fetch and add",
	};

	return work < ARRAY_SIZE(names) ? names[work] : "unknown request";
}

static void comment(struct text *t, const struct emu_note_packet *n, uint64_t missed)
{
	put(t, "%s: ", emu_topology.func[n->func].role);
	if (n->note.number)
		put(t, "QP %#x", n->note.number);
	else
		put(t, "no queue pair");
	if (n->flags & EMU_PACKET_WR)
		put(t, ", WQE %u: %s %llu bytes", n->wqe, name_of(n->work),
		    (unsigned long long)n->total);
	if (n->flags & EMU_PACKET_LOCAL)
		put(t, "; synthesized: the emulator copied the bytes in memory");
	if (n->flags & EMU_PACKET_BLANK)
		put(t, "; the payload could not be read and is shown as zeros");
	if (n->drop)
		put(t, "; dropped: %s", wire_drop_words((enum wire_drop)n->drop));
	if (n->left_out)
		put(t, "; the next %u packets of the message are left out", n->left_out);
	if (missed)
		put(t, "; %llu packets before this one were lost by the capture",
		    (unsigned long long)missed);
}

/* --- packets ---------------------------------------------------------------------------------- */

static size_t put_headers(const struct emu_note_packet *n, uint8_t out[static WIRE_PATH_MAX])
{
	struct wire_path path = {
		.sport = n->sport,
		.dport = n->dport,
		.tclass = n->tclass,
		.hop_limit = n->hop_limit,
		.flow_label = n->flow_label,
		.id = n->id,
		.may_fragment = n->flags & EMU_PACKET_MAY_FRAGMENT,
	};

	memcpy(path.src, n->src, sizeof(path.src));
	memcpy(path.dst, n->dst, sizeof(path.dst));
	return wire_path_headers(&path, n->bytes, n->kept, out);
}

/* A local packet was sent by one of two ports and has arrived at the other. */
static bool is_seen_by_peer(const struct emu_capture *c, const struct emu_note_packet *n)
{
	return n->flags & EMU_PACKET_LOCAL && n->peer_func < emu_topology.nfuncs &&
	       *c->filter.role && strcmp(c->filter.role, emu_topology.func[n->func].role) != 0;
}

static void describe_packet(struct block *b, const struct emu_capture *c,
			    const struct emu_note_packet *n)
{
	bool peer = is_seen_by_peer(c, n), sent = n->flags & EMU_PACKET_SENT;
	const uint32_t flags = sent != peer ? OUTBOUND : INBOUND;
	struct text text = {.len = 0};
	uint8_t head[WIRE_PATH_MAX];
	size_t nhead = put_headers(n, head);

	comment(&text, n, c->missed);
	begin(b, BLOCK_PACKET);
	add32(b, peer ? n->peer_func : n->func);
	add32(b, (uint32_t)(n->time >> 32));
	add32(b, (uint32_t)n->time);
	add32(b, (uint32_t)nhead + n->kept);
	add32(b, (uint32_t)nhead + n->len);
	add(b, head, nhead);
	add(b, n->bytes, n->kept);
	pad(b);
	add_option(b, PACKET_FLAGS, &flags, sizeof(flags));
	add_option(b, OPTION_COMMENT, text.bytes, text.len);
	end(b);
}

static bool has_role(const struct emu_capture *c, uint32_t func)
{
	return func < emu_topology.nfuncs && !strcmp(c->filter.role, emu_topology.func[func].role);
}

static uint32_t dest_qpn(const struct emu_note_packet *n)
{
	return n->kept < WIRE_BTH ? 0 : wire_dest_qpn(n->bytes);
}

static bool selects(const struct emu_capture *c, const struct emu_note_packet *n)
{
	const struct emu_capture_request *f = &c->filter;
	bool local = n->flags & EMU_PACKET_LOCAL;
	static const uint8_t any[sizeof(f->peer)];

	if (!(f->what & (local ? EMU_CAPTURE_LOCAL : EMU_CAPTURE_WIRE)))
		return false;
	if (*f->role && !has_role(c, n->func) && !(local && has_role(c, n->peer_func)))
		return false;
	if (f->qpn && n->note.number != f->qpn && dest_qpn(n) != f->qpn)
		return false;
	return !memcmp(f->peer, any, sizeof(any)) || !memcmp(f->peer, n->src, sizeof(n->src)) ||
	       !memcmp(f->peer, n->dst, sizeof(n->dst));
}

static void deliver(struct emu_capture *c, struct block *b, uint64_t packets)
{
	if (emu_ring_put(c->ring, &c->head, b->bytes, b->len)) {
		c->missed = 0;
		if (!packets)
			return;
		/* If the socket is full, bytes that wake the reader are on their way. */
		(void)emu_sock_send_now(c->fd, "", 1, NULL, 0);
		return;
	}
	c->missed += packets;
	atomic_fetch_add_explicit(&c->ring->lost, packets, memory_order_relaxed);
}

void emu_capture_packet(const struct emu_note_packet *n, size_t len)
{
	static struct block block;

	if (n->kept > EMU_PACKET_MAX || len != offsetof(struct emu_note_packet, bytes) + n->kept ||
	    n->func >= emu_topology.nfuncs)
		return;
	for (struct emu_capture *c = captures; c; c = c->next) {
		if (n->lost) {
			c->missed += n->lost;
			atomic_fetch_add_explicit(&c->ring->lost, n->lost, memory_order_relaxed);
		}
		if (!selects(c, n))
			continue;
		describe_packet(&block, c, n);
		deliver(c, &block, 1);
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return timespec_ns(&t);
}

/* A packet of the server's own. */
static void capture_packet(const struct emu_wire_seen_packet *s)
{
	static struct emu_note_packet n;
	const struct wire_path *path = &s->path;

	if (s->len > EMU_PACKET_MAX)
		return;
	n = (struct emu_note_packet){
		.time = now(),
		.flags = (s->sent ? EMU_PACKET_SENT : 0) | (s->peer ? EMU_PACKET_LOCAL : 0) |
			 (path->may_fragment ? EMU_PACKET_MAY_FRAGMENT : 0),
		.func = s->func->index,
		.peer_func = s->peer ? s->peer->index : EMU_NOWHERE,
		.drop = (uint8_t)s->drop,
		.sport = path->sport,
		.dport = path->dport,
		.id = path->id,
		.tclass = path->tclass,
		.hop_limit = path->hop_limit,
		.flow_label = path->flow_label,
		.len = (uint32_t)s->len,
		.kept = (uint32_t)s->len,
	};
	memcpy(n.src, path->src, sizeof(n.src));
	memcpy(n.dst, path->dst, sizeof(n.dst));
	memcpy(n.bytes, s->bytes, s->len);
	n.note.number = dest_qpn(&n) == WIRE_MAD_QPN ? WIRE_MAD_QPN : 0;
	emu_capture_packet(&n, offsetof(struct emu_note_packet, bytes) + n.kept);
}

void emu_capture_drain(void)
{
	for (struct emu_proc *p = emu_procs; p; p = p->next)
		emu_proc_drain_notes(p);
}

/* --- readers ---------------------------------------------------------------------------------- */

static void update_mask(void)
{
	uint32_t what = 0;

	for (const struct emu_capture *c = captures; c; c = c->next)
		what |= c->filter.what;
	atomic_store(&emu_queues->capturing, what);
	emu_wire_on_packet = what ? capture_packet : NULL;
}

static int create_ring(struct emu_ring **out)
{
	int fd = memfd_create("dpumap-emu-capture", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	void *p;

	if (fd < 0)
		return -errno;
	/* The reader cannot shrink it below the server's feet. */
	if (ftruncate(fd, sizeof(**out)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		err = -errno;
		goto close_fd;
	}
	p = mmap(NULL, sizeof(**out), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		err = -errno;
		goto close_fd;
	}
	*out = p;
	return fd;

close_fd:
	close(fd);
	return err;
}

static bool role_exists(const char *role)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (!strcmp(role, emu_topology.func[i].role))
			return true;
	return !*role;
}

static void describe_all(struct emu_capture *c)
{
	static struct block block;

	describe_section(&block);
	deliver(c, &block, 0);
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++) {
		describe_interface(&block, &emu_topology.func[i]);
		deliver(c, &block, 0);
	}
}

int emu_capture_create(const struct emu_capture_request *req, int fd, struct emu_capture **out,
		       int *ring)
{
	struct emu_capture *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->fd = fd;
	c->filter = *req;
	c->filter.role[sizeof(c->filter.role) - 1] = '\0';
	err = role_exists(c->filter.role) ? create_ring(&c->ring) : -ENODEV;
	if (err < 0) {
		free(c);
		return err;
	}
	c->next = captures;
	captures = c;
	*ring = err;
	*out = c;
	describe_all(c);
	update_mask();
	return 0;
}

void emu_capture_destroy(struct emu_capture *c)
{
	struct emu_capture **link = &captures;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	update_mask();
	munmap(c->ring, sizeof(*c->ring));
	free(c);
}
