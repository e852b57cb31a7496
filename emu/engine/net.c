/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu/engine/capture.h"
#include "emu/engine/fds.h"
#include "emu/engine/state.h"
#include "emu/ipc/gid.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"

#define RX_MESSAGES    32u
#define RX_LONG	       16384u /* bytes of a datagram that is worth a system call of its own */
#define RX_BYTES       65536u /* a datagram, or several that the kernel has joined (UDP_GRO) */
#define ANSWER_PACKETS 16u    /* a message of 64 KiB, and a quarter of the window */
#define TX_BYTES       (512u << 10)
#define TX_ENOUGH      65536u /* to send them at once */
#define TX_GROUPS      64u
#define GROUP_PACKETS  60u /* the kernel allows 64 */
#define GROUP_BYTES    64000u
/*
 * Packets outstanding of one queue pair: at least four messages of 64 KiB. The default buffer of a socket holds them if
 * the kernel joins packets, else 48 packets. More keep both ends busy while one of them does not run.
 */
#define WINDOW_MIN   64u
#define WINDOW_MAX   128u
#define WINDOW_BYTES 6656u /* that the buffer needs for each */
#define SEND_WAIT_MS 1
#define HOP_LIMIT    64u

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

union control {
	char bytes[128];
	struct cmsghdr align;
};

/*
 * Packets for one queue pair, one after the other, which all but the last have `segment` bytes. Those for another queue
 * pair may be for another socket of the peer, which is chosen once for all that leave together.
 */
struct group {
	uint32_t endpoint, socket;
	uint32_t dest_qpn;
	uint8_t dst[16]; /* as a GID */
	union address to;
	uint8_t tclass;
	uint32_t at, bytes, segment, packets;
	bool closed;
	struct wire_path path; /* of the first one */
};

struct emu_net_buffers {
	uint8_t rx[RX_MESSAGES][RX_BYTES];
	uint8_t tx[TX_BYTES];
	uint32_t used;
	uint32_t groups;
	struct group group[TX_GROUPS];
	/* For the calls: */
	struct mmsghdr message[TX_GROUPS];
	struct iovec piece[TX_GROUPS];
	union control control[TX_GROUPS];
	/* Packets may be sent while others are taken from a reception. */
	struct mmsghdr rx_message[RX_MESSAGES];
	struct iovec rx_piece[RX_MESSAGES];
	union control rx_control[RX_MESSAGES];
	union address from[RX_MESSAGES];
};

/* --- sockets ---------------------------------------------------------------------------------- */

void emu_net_open(struct engine *e, bool hidden)
{
	e->net.epfd = hidden ? (int)syscall(SYS_epoll_create1, EPOLL_CLOEXEC) : -1;
}

void emu_net_close_sockets(struct engine *e)
{
	struct emu_net *n = &e->net;

	for (uint32_t i = 0; i < EMU_MAX_ENDPOINTS; i++) {
		emu_fds_close(n->endpoint[i].fd, n->endpoint[i].sockets);
		n->endpoint[i].sockets = 0;
	}
	n->num_endpoints = 0;
	if (n->buffers)
		n->buffers->groups = n->buffers->used = 0;
}

void emu_net_close(struct engine *e)
{
	struct emu_net *n = &e->net;

	emu_net_close_sockets(e);
	if (n->epfd >= 0)
		syscall(SYS_close, n->epfd);
	if (n->buffers)
		syscall(SYS_munmap, n->buffers, sizeof(*n->buffers));
}

/* The kernel changes what a reception uses. */
static void prepare_receptions(struct emu_net_buffers *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		b->rx_piece[i] = (struct iovec){b->rx[i], RX_BYTES};
		b->rx_message[i].msg_hdr = (struct msghdr){
			.msg_name = &b->from[i],
			.msg_namelen = sizeof(b->from[i]),
			.msg_iov = &b->rx_piece[i],
			.msg_iovlen = 1,
			.msg_control = &b->rx_control[i],
			.msg_controllen = sizeof(b->rx_control[i]),
		};
	}
}

static bool map_buffers(struct emu_net *n)
{
	long p;

	if (n->buffers)
		return true;
	p = syscall(SYS_mmap, NULL, sizeof(*n->buffers), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == -1)
		return false;
	n->buffers = (struct emu_net_buffers *)p;
	prepare_receptions(n->buffers, RX_MESSAGES);
	return true;
}

/* The peer's buffer is assumed to be as large as ours. */
static uint32_t window_of(int fd)
{
	int bytes = 0;
	socklen_t len = sizeof(bytes);
	uint32_t packets;

	if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len) || bytes < 0)
		return WINDOW_MIN;
	packets = (uint32_t)bytes / WINDOW_BYTES;
	if (packets < WINDOW_MIN)
		return WINDOW_MIN;
	return packets < WINDOW_MAX ? packets : WINDOW_MAX;
}

void emu_net_accept(struct engine *e, const struct emu_endpoint_fds *g, const int *fd,
		    uint32_t nfds)
{
	struct emu_net *n = &e->net;
	struct epoll_event none = {0};
	struct emu_net_endpoint *p;

	if (g->endpoint >= EMU_MAX_ENDPOINTS || g->nports > EMU_WIRE_PORTS ||
	    nfds != 1 + g->nports || n->endpoint[g->endpoint].sockets || !map_buffers(n)) {
		emu_fds_close(fd, nfds);
		return;
	}
	p = &n->endpoint[g->endpoint];
	p->sockets = nfds;
	p->port[0] = WIRE_PORT;
	p->window = window_of(fd[0]);
	memcpy(p->fd, fd, nfds * sizeof(fd[0]));
	for (uint32_t i = 0; i < g->nports; i++)
		p->port[1 + i] = g->port[i];
	syscall(SYS_epoll_ctl, n->epfd, EPOLL_CTL_ADD, p->fd[0], &none);
	n->num_endpoints++;
}

uint32_t emu_net_find(const struct engine *e, uint32_t func, const uint8_t addr[16])
{
	const struct emu_endpoint *p = e->cfg.tables->endpoint;

	for (uint32_t i = 0; i < EMU_MAX_ENDPOINTS; i++)
		if (e->net.endpoint[i].sockets &&
		    atomic_load_explicit(&p[i].serial, memory_order_acquire) && p[i].func == func &&
		    !atomic_load(&p[i].down) && !memcmp(p[i].addr, addr, sizeof(p[i].addr)))
			return i;
	return EMU_MAX_ENDPOINTS;
}

uint32_t emu_net_func(const struct engine *e, const uint8_t addr[16])
{
	const struct emu_endpoint *p = e->cfg.tables->endpoint;

	for (uint32_t i = 0; i < EMU_MAX_ENDPOINTS; i++)
		if (e->net.endpoint[i].sockets && !memcmp(p[i].addr, addr, sizeof(p[i].addr)))
			return p[i].func;
	return EMU_MAX_FUNCS;
}

/* --- receiving -------------------------------------------------------------------------------- */

static void path_from(const union address *from, struct wire_path *path)
{
	if (from->any.sa_family == AF_INET) {
		emu_gid_from_ipv4(path->src, &from->v4.sin_addr);
		path->sport = ntohs(from->v4.sin_port);
		return;
	}
	memcpy(path->src, &from->v6.sin6_addr, sizeof(path->src));
	path->sport = ntohs(from->v6.sin6_port);
}

/* The length of each packet in the datagram, 0: it is one; and its traffic class. */
static uint32_t read_control(struct msghdr *m, uint8_t *tclass)
{
	int value;
	uint32_t segment = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
			memcpy(tclass, CMSG_DATA(c), 1);
			continue;
		}
		memcpy(&value, CMSG_DATA(c), sizeof(value));
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS)
			*tclass = (uint8_t)value;
		else if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO && value > 0)
			segment = (uint32_t)value;
	}
	return segment;
}

/* Returns the number of packets. */
static uint32_t hand_over(struct engine *e, struct wire_path *path, struct mmsghdr *m,
			  const union address *from, const uint8_t *bytes, emu_net_handler *handler)
{
	uint32_t segment, n;

	path->tclass = 0;
	segment = read_control(&m->msg_hdr, &path->tclass);
	path_from(from, path);
	/* An emulator has counted up the identifications: the first guess of the CRC's check. */
	path->id = 0;
	for (uint32_t at = 0; at < m->msg_len; at += n, path->id++) {
		n = m->msg_len - at;
		if (segment && n > segment)
			n = segment;
		handler(e, path, bytes + at, n);
	}
	return path->id;
}

/* Returns the number of datagrams. */
static long read_some(struct engine *e, uint32_t endpoint, uint32_t most)
{
	/* packet.pml: receive */
	return syscall(SYS_recvmmsg, e->net.endpoint[endpoint].fd[0], e->net.buffers->rx_message,
		       most, MSG_DONTWAIT, NULL);
}

/* While the port is down, what arrives is lost. Returns the number of packets. */
static uint32_t hand_over_all(struct engine *e, uint32_t endpoint, uint32_t n,
			      emu_net_handler *handler)
{
	struct emu_net_buffers *b = e->net.buffers;
	struct wire_path path = {.dport = WIRE_PORT, .hop_limit = HOP_LIMIT, .id_unknown = true};
	uint32_t i, packets = 0;

	if (atomic_load(&e->cfg.tables->endpoint[endpoint].down))
		return 0;
	memcpy(path.dst, e->cfg.tables->endpoint[endpoint].addr, sizeof(path.dst));
	for (i = 0; i < n; i++)
		packets += hand_over(e, &path, &b->rx_message[i], &b->from[i], b->rx[i], handler);
	return packets;
}

/*
 * Long datagrams are read one by one: the peer gets the answers to one while this engine reads the next, which finds
 * the buffer in the processor's cache.
 */
static void receive_at(struct engine *e, uint32_t endpoint, emu_net_handler *handler,
		       emu_net_pause *pause)
{
	struct emu_net_endpoint *p = &e->net.endpoint[endpoint];
	uint32_t most, done = 0, packets = 0;
	long n;

	do {
		most = p->long_ones ? 1 : RX_MESSAGES;
		n = read_some(e, endpoint, most);
		if (n <= 0)
			break;
		e->pass.worked = true;
		packets += hand_over_all(e, endpoint, (uint32_t)n, handler);
		p->long_ones = e->net.buffers->rx_message[n - 1].msg_len >= RX_LONG;
		prepare_receptions(e->net.buffers, (uint32_t)n);
		done += (uint32_t)n;
		if (packets >= ANSWER_PACKETS) {
			packets = 0;
			pause(e, n < most);
		}
	} while (n == most && done < RX_MESSAGES);
	if (packets)
		pause(e, true);
}

void emu_net_receive(struct engine *e, emu_net_handler *handler, emu_net_pause *pause)
{
	uint32_t i, left = e->net.num_endpoints;

	for (i = 0; left; i++) {
		if (!e->net.endpoint[i].sockets)
			continue;
		left--;
		receive_at(e, i, handler, pause);
	}
}

/* --- sending ---------------------------------------------------------------------------------- */

static void address_to(const struct wire_path *path, union address *to)
{
	memset(to, 0, sizeof(*to));
	if (wire_path_is_ipv4(path)) {
		to->v4.sin_family = AF_INET;
		to->v4.sin_port = htons(WIRE_PORT);
		memcpy(&to->v4.sin_addr, path->dst + 12, 4);
		return;
	}
	to->v6.sin6_family = AF_INET6;
	to->v6.sin6_port = htons(WIRE_PORT);
	memcpy(&to->v6.sin6_addr, path->dst, sizeof(to->v6.sin6_addr));
}

/* With the length that the packet will have. */
static bool continues(const struct group *g, const struct group *with, uint32_t len)
{
	return !g->closed && g->endpoint == with->endpoint && g->socket == with->socket &&
	       g->dest_qpn == with->dest_qpn && g->tclass == with->tclass && len <= g->segment &&
	       g->packets < GROUP_PACKETS && g->bytes + len <= GROUP_BYTES &&
	       !memcmp(g->dst, with->dst, sizeof(g->dst));
}

uint8_t *emu_net_reserve(struct engine *e)
{
	struct emu_net_buffers *b = e->net.buffers;

	if (b->groups == TX_GROUPS || b->used + WIRE_MAX_PACKET > TX_BYTES)
		emu_net_flush(e);
	return b->tx + b->used;
}

void emu_net_send(struct engine *e, uint32_t qpn, uint32_t endpoint, const struct wire_path *path,
		  uint16_t flow, size_t len)
{
	struct emu_net_buffers *b = e->net.buffers;
	const struct emu_net_endpoint *p = &e->net.endpoint[endpoint];
	uint32_t sealed = (uint32_t)((len + 3) & ~(size_t)3) + WIRE_ICRC;
	struct group *g = b->groups ? &b->group[b->groups - 1] : NULL;
	struct group with = {.endpoint = endpoint, .tclass = path->tclass, .segment = sealed};
	struct wire_path full = *path;

	with.socket = p->sockets > 1 ? 1 + flow % (p->sockets - 1) : 0;
	with.dest_qpn = wire_dest_qpn(b->tx + b->used);
	memcpy(with.dst, path->dst, sizeof(with.dst));
	if (!g || e->net.single || !continues(g, &with, sealed)) {
		address_to(path, &with.to);
		with.at = b->used;
		g = &b->group[b->groups++];
		*g = with;
	}
	full.sport = p->port[g->socket];
	full.dport = WIRE_PORT;
	full.id = (uint16_t)g->packets;
	if (!g->packets)
		g->path = full;
	wire_seal(&full, b->tx + b->used, len);
	emu_capture_sent(e, qpn, &full, b->tx + b->used, sealed);
	g->closed = sealed < g->segment;
	g->packets++;
	g->bytes += sealed;
	b->used += sealed;
	if (g->bytes + g->segment > GROUP_BYTES || b->used >= TX_ENOUGH)
		emu_net_flush(e); /* the peer reads it while this engine prepares the next one */
}

static void add_control(struct msghdr *m, union control *c, int level, int type, const void *value,
			size_t len)
{
	struct cmsghdr *h = (struct cmsghdr *)(void *)(c->bytes + m->msg_controllen);

	m->msg_control = c;
	h->cmsg_level = level;
	h->cmsg_type = type;
	h->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(h), value, len);
	m->msg_controllen += CMSG_SPACE(len);
}

static void prepare(struct emu_net_buffers *b, uint32_t i)
{
	struct group *g = &b->group[i];
	struct msghdr *m = &b->message[i].msg_hdr;
	uint16_t segment = (uint16_t)g->segment;
	bool v4 = g->to.any.sa_family == AF_INET;
	int tclass = g->tclass;

	b->piece[i] = (struct iovec){b->tx + g->at, g->bytes};
	memset(&b->control[i], 0, sizeof(b->control[i]));
	*m = (struct msghdr){
		.msg_name = &g->to,
		.msg_namelen = v4 ? sizeof(g->to.v4) : sizeof(g->to.v6),
		.msg_iov = &b->piece[i],
		.msg_iovlen = 1,
	};
	if (g->packets > 1)
		add_control(m, &b->control[i], SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	if (tclass)
		add_control(m, &b->control[i], v4 ? IPPROTO_IP : IPPROTO_IPV6,
			    v4 ? IP_TOS : IPV6_TCLASS, &tclass, sizeof(tclass));
}

static void wait_for_room(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	const struct timespec limit = {.tv_nsec = SEND_WAIT_MS * 1000000};

	syscall(SYS_ppoll, &p, 1ul, &limit, NULL, 8ul);
}

/*
 * A device without checksums of UDP does not get datagrams cut (EIO). Each packet goes alone, and has the
 * identification 0 then. A lost group would end an unreliable connection's message.
 */
static void send_alone(struct engine *e, uint32_t i)
{
	struct emu_net_buffers *b = e->net.buffers;
	struct group *g = &b->group[i];
	int fd = e->net.endpoint[g->endpoint].fd[g->socket];
	uint32_t end = g->at + g->bytes;

	g->packets = 1;
	for (; g->at < end; g->at += g->bytes) {
		g->bytes = g->segment < end - g->at ? g->segment : end - g->at;
		wire_seal(&g->path, b->tx + g->at, g->bytes - WIRE_ICRC);
		prepare(b, i);
		syscall(SYS_sendmmsg, fd, b->message + i, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

/* Send from group `i` on those of the same socket; how many were sent or, as on a network, lost. */
static uint32_t send_some(struct engine *e, uint32_t i, bool *waited)
{
	struct emu_net_buffers *b = e->net.buffers;
	const struct group *g = &b->group[i];
	int fd = e->net.endpoint[g->endpoint].fd[g->socket];
	uint32_t n = 1;
	long sent;

	while (i + n < b->groups && g[n].endpoint == g->endpoint && g[n].socket == g->socket)
		n++;
	sent = syscall(SYS_sendmmsg, fd, b->message + i, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		return (uint32_t)sent;
	if ((errno == EAGAIN || errno == ENOBUFS || errno == EINTR) && !*waited) {
		*waited = true;
		wait_for_room(fd);
		return 0;
	}
	if (g->packets > 1 && (errno == EINVAL || errno == EIO || errno == EOPNOTSUPP)) {
		e->net.single = true;
		send_alone(e, i);
	}
	return 1;
}

void emu_net_flush(struct engine *e)
{
	struct emu_net_buffers *b = e->net.buffers;
	bool waited = false;
	uint32_t n;

	if (!b || !b->groups)
		return;
	for (uint32_t i = 0; i < b->groups; i++)
		prepare(b, i);
	for (uint32_t i = 0; i < b->groups; i += n) {
		n = send_some(e, i, &waited);
		waited &= !n;
	}
	b->groups = 0;
	b->used = 0;
}

/* --- sleeping --------------------------------------------------------------------------------- */

bool emu_net_arm(struct engine *e)
{
	struct epoll_event once = {.events = EPOLLIN | EPOLLONESHOT};
	uint32_t i, left = e->net.num_endpoints;

	for (i = 0; left; i++) {
		if (!e->net.endpoint[i].sockets)
			continue;
		left--;
		if (syscall(SYS_epoll_ctl, e->net.epfd, EPOLL_CTL_MOD, e->net.endpoint[i].fd[0],
			    &once))
			return false;
	}
	return true;
}

void emu_net_woke(const struct engine *e)
{
	struct epoll_event events[EMU_MAX_ENDPOINTS];

	syscall(SYS_epoll_pwait, e->net.epfd, events, (int)EMU_MAX_ENDPOINTS, 0, NULL, 8ul);
}

void emu_net_wait(const struct engine *e, uint64_t ns)
{
	struct pollfd p[EMU_MAX_ENDPOINTS];
	const struct timespec limit = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	uint32_t i, n = 0;

	for (i = 0; n < e->net.num_endpoints; i++)
		if (e->net.endpoint[i].sockets)
			p[n++] = (struct pollfd){.fd = e->net.endpoint[i].fd[0], .events = POLLIN};
	syscall(SYS_ppoll, p, (unsigned long)n, &limit, NULL, 8ul);
}
