/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/net/netlink.h"

#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/ipc/sock.h"
#include "emu/server/base/reactor.h"
#include "emu/server/net/nldev.h"

/* Readers have buffers of at least a page; a packet holds as many whole messages as fit. */
#define PACKET_MAX  4096u
#define REQUEST_MAX 8192u

struct conn {
	struct emu_watch watch;
	struct conn *next;
	const char *role;
	uint8_t *out; /* answers that were not sent yet */
	size_t len, sent;
};

static struct conn *conns;

/* --- messages --------------------------------------------------------------------------------- */

static uint8_t *reserve(struct emu_nl *nl, size_t len)
{
	size_t room = nl->room ? nl->room : 4096;
	size_t at = nl->len;
	uint8_t *p;

	len = NLMSG_ALIGN(len);
	while (room < at + len)
		room *= 2;
	if (room != nl->room && !nl->failed) {
		p = realloc(nl->buf, room);
		nl->failed = !p;
		if (p) {
			nl->buf = p;
			nl->room = room;
		}
	}
	if (nl->failed)
		return NULL;
	memset(nl->buf + at, 0, len);
	nl->len += len;
	return nl->buf + at;
}

void emu_nl_begin(struct emu_nl *nl, uint16_t type, uint16_t flags)
{
	struct nlmsghdr h = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = nl->req.nlmsg_seq,
		.nlmsg_pid = nl->req.nlmsg_pid,
	};
	uint8_t *p;

	nl->msg = nl->len;
	p = reserve(nl, sizeof(h));
	if (p)
		memcpy(p, &h, sizeof(h));
}

size_t emu_nl_used(const struct emu_nl *nl)
{
	return nl->len - nl->msg;
}

void emu_nl_end(struct emu_nl *nl)
{
	uint32_t len = (uint32_t)emu_nl_used(nl);

	if (!nl->failed)
		memcpy(nl->buf + nl->msg + offsetof(struct nlmsghdr, nlmsg_len), &len, sizeof(len));
}

static void put(struct emu_nl *nl, uint16_t attr, const void *data, size_t len)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = attr};
	uint8_t *p = reserve(nl, NLA_HDRLEN + len);

	if (!p)
		return;
	memcpy(p, &a, sizeof(a));
	if (len)
		memcpy(p + NLA_HDRLEN, data, len);
}

void emu_nl_u8(struct emu_nl *nl, uint16_t attr, uint8_t v)
{
	put(nl, attr, &v, sizeof(v));
}

void emu_nl_u32(struct emu_nl *nl, uint16_t attr, uint32_t v)
{
	put(nl, attr, &v, sizeof(v));
}

void emu_nl_u64(struct emu_nl *nl, uint16_t attr, uint64_t v)
{
	put(nl, attr, &v, sizeof(v));
}

void emu_nl_str(struct emu_nl *nl, uint16_t attr, const char *text)
{
	put(nl, attr, text, strlen(text) + 1);
}

size_t emu_nl_nest(struct emu_nl *nl, uint16_t attr)
{
	size_t at = nl->len;

	put(nl, attr, NULL, 0);
	return at;
}

void emu_nl_nest_end(struct emu_nl *nl, size_t nest)
{
	uint16_t len = (uint16_t)(nl->len - nest);

	if (!nl->failed)
		memcpy(nl->buf + nest, &len, sizeof(len));
}

/* NLMSG_ERROR with the header of the request, without its payload. */
static void put_error(struct emu_nl *nl, int err)
{
	struct nlmsgerr e = {.error = err, .msg = nl->req};
	uint8_t *p;

	emu_nl_begin(nl, NLMSG_ERROR, NLM_F_CAPPED);
	p = reserve(nl, sizeof(e));
	if (p)
		memcpy(p, &e, sizeof(e));
	emu_nl_end(nl);
}

static void put_done(struct emu_nl *nl)
{
	uint8_t *p;
	int zero = 0;

	emu_nl_begin(nl, NLMSG_DONE, NLM_F_MULTI);
	p = reserve(nl, sizeof(zero));
	if (p)
		memcpy(p, &zero, sizeof(zero));
	emu_nl_end(nl);
}

/* --- requests --------------------------------------------------------------------------------- */

/* As rdma_nl_rcv_msg(): errors are always sent, an acknowledgement only if requested. */
static void answer(struct emu_nl *nl, const char *role, const uint8_t *payload, size_t len)
{
	bool dump = (nl->req.nlmsg_flags & NLM_F_DUMP) != 0;
	size_t before = nl->len;
	int err = -EINVAL;

	if (!(nl->req.nlmsg_flags & NLM_F_REQUEST) || nl->req.nlmsg_type < NLMSG_MIN_TYPE)
		return;
	if (RDMA_NL_GET_CLIENT(nl->req.nlmsg_type) == RDMA_NL_NLDEV)
		err = emu_nldev(nl, role, payload, len);
	if (err)
		nl->len = before;
	if (!err && dump)
		put_done(nl);
	else if (err || nl->req.nlmsg_flags & NLM_F_ACK)
		put_error(nl, err);
}

static void answer_all(struct emu_nl *nl, const char *role, const uint8_t *buf, size_t len)
{
	size_t at = 0;

	while (len - at >= sizeof(nl->req)) {
		memcpy(&nl->req, buf + at, sizeof(nl->req));
		if (nl->req.nlmsg_len < sizeof(nl->req) || nl->req.nlmsg_len > len - at)
			return;
		answer(nl, role, buf + at + NLMSG_HDRLEN, nl->req.nlmsg_len - NLMSG_HDRLEN);
		at += NLMSG_ALIGN(nl->req.nlmsg_len);
		if (at > len)
			return;
	}
}

/* --- connections ------------------------------------------------------------------------------ */

/* The length of the whole messages from `at` on, up to a packet's size but at least one. */
static size_t packet_len(const struct conn *c)
{
	struct nlmsghdr h;
	size_t n = 0;

	while (c->sent + n < c->len) {
		memcpy(&h, c->out + c->sent + n, sizeof(h));
		if (n && n + h.nlmsg_len > PACKET_MAX)
			break;
		n += NLMSG_ALIGN(h.nlmsg_len);
	}
	return n;
}

/* Read no further request before its answers are sent: a client that does not read waits. */
static void flush(struct conn *c)
{
	size_t n;

	while (c->sent < c->len) {
		n = packet_len(c);
		if (emu_sock_send_now(c->watch.fd, c->out + c->sent, n, NULL, 0)) {
			emu_watch_change(&c->watch, EPOLLOUT);
			return;
		}
		c->sent += n;
	}
	free(c->out);
	c->out = NULL;
	c->len = c->sent = 0;
	emu_watch_change(&c->watch, EPOLLIN);
}

static void serve(struct emu_watch *w)
{
	struct conn *c = (struct conn *)w;
	_Alignas(struct nlmsghdr) uint8_t buf[REQUEST_MAX];
	struct emu_nl nl = {0};
	unsigned int nfds;
	pid_t pid;
	ssize_t n;

	if (c->out) {
		flush(c);
		return;
	}
	n = emu_sock_recv_now(w->fd, buf, sizeof(buf), NULL, 0, &nfds, &pid);
	if (n <= 0)
		return;
	answer_all(&nl, c->role, buf, (size_t)n);
	if (nl.failed) {
		free(nl.buf);
		return;
	}
	c->out = nl.buf;
	c->len = nl.len;
	flush(c);
}

static void hang_up(struct emu_watch *w)
{
	struct conn *c = (struct conn *)w, **link = &conns;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	emu_watch_del(w);
	free(c->out);
	c->out = NULL;
	emu_free_later(c);
}

void emu_netlink_accept(const char *role, int fd)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return;
	}
	c->watch = (struct emu_watch){fd, serve, hang_up};
	c->role = role;
	if (emu_watch_add(&c->watch)) {
		close(fd);
		free(c);
		return;
	}
	c->next = conns;
	conns = c;
}
