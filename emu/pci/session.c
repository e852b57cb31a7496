/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/session.h"

#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/sock.h"
#include "emu/pci/vfio_user.h"
#include "emu/server/base/log.h"

#define MAX_BODY (EMU_VFIO_MAX_DATA + 64u)
#define SEND_MS	 5000
/* Received at once: some hundred doorbells. */
#define MAX_CHUNK 8192u

_Static_assert(EMU_VFIO_MAX_FDS <= EMU_SOCK_FDS, "a message with all descriptors is received");
_Static_assert(EMU_PCI_VECTORS <= EMU_VFIO_MAX_FDS, "all vectors are set by one message");

/* --- bytes ------------------------------------------------------------------------------------ */

/* What has arrived: the end of one message, whole ones, and the beginning of another. */
struct chunk {
	uint8_t bytes[MAX_CHUNK];
	size_t len, at; /* the next byte */
	int fd[EMU_VFIO_MAX_FDS];
	unsigned int nfds;
};

/* Returns 0 or an errno; the chunk may be empty. */
static int receive(int fd, struct chunk *c)
{
	ssize_t n = emu_sock_recv_now(fd, c->bytes, sizeof(c->bytes), c->fd, ARRAY_SIZE(c->fd),
				      &c->nfds, NULL);

	c->at = 0;
	c->len = n > 0 ? (size_t)n : 0;
	if (n > 0 || n == -EAGAIN)
		return 0;
	return n ? (int)-n : EPIPE;
}

static size_t take_bytes(struct chunk *c, void *to, size_t len)
{
	const size_t n = len < c->len - c->at ? len : c->len - c->at;

	memcpy(to, c->bytes + c->at, n);
	c->at += n;
	return n;
}

/*
 * The kernel ends a chunk with the bytes that descriptors were sent with, so they belong to the last message that began
 * in it.
 */
static void take_descriptors(struct chunk *c, struct emu_vfio_message *m)
{
	for (unsigned int i = 0; i < c->nfds; i++) {
		if (m->nfds < EMU_VFIO_MAX_FDS)
			m->fd[m->nfds++] = c->fd[i];
		else
			close(c->fd[i]);
	}
	c->nfds = 0;
}

/* A peer that does not read its answers is not waited for without end. */
static bool can_send(int fd)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	return poll(&room, 1, SEND_MS) == 1;
}

static int send_all(int fd, const void *from, size_t len)
{
	const uint8_t *at = from;

	while (len) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EINTR && (errno != EAGAIN || !can_send(fd)))
			return errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* The header, with a descriptor that belongs to the answer. */
static int send_with(int fd, const struct emu_vfio_header *h, int passed)
{
	int err;

	do {
		err = emu_sock_send_now(fd, h, sizeof(*h), &passed, 1);
	} while (err == EAGAIN && can_send(fd));
	return err;
}

static int answer(const struct emu_session *s, const struct emu_vfio_message *m, int error)
{
	struct emu_vfio_header h = {
		.id = m->head.id,
		.command = m->head.command,
		.flags = EMU_VFIO_REPLY | (error ? EMU_VFIO_ERROR : 0),
		.error = (uint32_t)error,
		.size = (uint32_t)sizeof(h) + (error ? 0 : m->out_len),
	};
	int err;

	if (m->head.flags & EMU_VFIO_NO_REPLY)
		return 0;
	err = error || m->out_fd < 0 ? send_all(s->fd, &h, sizeof(h))
				     : send_with(s->fd, &h, m->out_fd);
	return err || error ? err : send_all(s->fd, m->out, m->out_len);
}

static void *answer_room(struct emu_vfio_message *m, uint32_t len)
{
	m->out = calloc(1, len);
	m->out_len = len;
	return m->out;
}

/* --- commands: 0 or an errno for the peer ----------------------------------------------------- */

/*
 * Besides many writes in a message, the protocol's defaults are in force: one descriptor a message, 1 MiB of data. The
 * peer may send more descriptors, which does no harm.
 */
static int version(struct emu_session *s, struct emu_vfio_message *m)
{
	static const char capabilities[] = "{\"capabilities\":{\"write_multiple\":true}}";
	const struct emu_vfio_version *in = (const void *)m->body;
	struct emu_vfio_version *out;

	if (s->has_version || in->major != EMU_VFIO_MAJOR)
		return EINVAL;
	out = answer_room(m, sizeof(*out) + sizeof(capabilities));
	if (!out)
		return ENOMEM;
	out->major = EMU_VFIO_MAJOR;
	out->minor = in->minor < EMU_VFIO_MINOR ? in->minor : EMU_VFIO_MINOR;
	memcpy(out + 1, capabilities, sizeof(capabilities));
	s->has_version = true;
	return 0;
}

static int dma_map(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_dma_map *in = (const void *)m->body;
	const struct emu_guest_offer offer = {
		.address = in->address,
		.size = in->size,
		.fd = m->nfds ? m->fd[0] : -1,
		.offset = in->offset,
		.writable = in->flags & EMU_VFIO_DMA_WRITEABLE,
	};

	if (m->nfds > 1 || !(in->flags & EMU_VFIO_DMA_READABLE))
		return EINVAL;
	return emu_guest_map(s->function->guest, &offer);
}

static int dma_unmap(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_dma_unmap *in = (const void *)m->body;
	struct emu_vfio_dma_unmap *out;
	int err = 0;

	if (in->flags & ~VFIO_DMA_UNMAP_FLAG_ALL)
		return EINVAL;
	if (!in->flags)
		err = emu_guest_unmap(s->function->guest, in->address, in->size);
	else if (in->address || in->size)
		err = EINVAL;
	else
		emu_guest_unmap_all(s->function->guest);
	if (err)
		return err;
	out = answer_room(m, sizeof(*out));
	if (!out)
		return ENOMEM;
	*out = *in;
	return 0;
}

static int device_info(struct emu_session *s, struct emu_vfio_message *m)
{
	struct emu_vfio_device_info *out = answer_room(m, sizeof(*out));

	(void)s;
	if (!out)
		return ENOMEM;
	out->argsz = sizeof(*out);
	out->flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
	out->num_regions = VFIO_PCI_NUM_REGIONS;
	out->num_irqs = VFIO_PCI_NUM_IRQS;
	return 0;
}

/* A peer whose room is too small learns how large it must be. */
static void add_area(struct emu_vfio_message *m, uint32_t room, const struct emu_function_area *a)
{
	struct emu_vfio_region_info *out = (void *)m->out;
	struct emu_vfio_sparse_mmap *sparse = (void *)(out + 1);

	out->argsz += (uint32_t)sizeof(*sparse);
	out->flags |= VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS;
	out->cap_offset = sizeof(*out); /* QEMU expects it in any case */
	if (room < out->argsz)
		return;
	out->offset = a->region;
	*sparse = (struct emu_vfio_sparse_mmap){
		.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP,
		.version = 1,
		.nr_areas = 1,
		.offset = a->at,
		.size = a->bytes,
	};
	m->out_len = out->argsz;
	m->out_fd = a->fd;
}

static int region_info(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_region_info *in = (const void *)m->body;
	struct emu_vfio_region_info *out =
		answer_room(m, sizeof(*out) + sizeof(struct emu_vfio_sparse_mmap));
	const uint64_t size = emu_function_region(in->index);
	struct emu_function_area area;

	if (!out)
		return ENOMEM;
	m->out_len = sizeof(*out);
	*out = (struct emu_vfio_region_info){
		.argsz = sizeof(*out),
		.flags = size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0,
		.index = in->index,
		.size = size,
	};
	if (emu_function_area(s->function, in->index, &area))
		add_area(m, in->argsz, &area);
	return in->index < VFIO_PCI_NUM_REGIONS ? 0 : EINVAL;
}

static int irq_info(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_irq_info *in = (const void *)m->body;
	struct emu_vfio_irq_info *out = answer_room(m, sizeof(*out));
	const bool exists = in->index == VFIO_PCI_MSIX_IRQ_INDEX;

	(void)s;
	if (!out)
		return ENOMEM;
	*out = (struct emu_vfio_irq_info){
		sizeof(*out), exists ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE : 0,
		in->index, exists ? EMU_PCI_VECTORS : 0};
	return in->index < VFIO_PCI_NUM_IRQS ? 0 : EINVAL;
}

/* The peer raises a vector itself. */
static void trigger(const struct emu_irqs *irqs, const struct emu_vfio_set_irqs *in,
		    const uint8_t *wanted)
{
	for (uint32_t i = 0; i < in->count; i++)
		if (!wanted || wanted[i])
			emu_irqs_raise(irqs, in->start + i);
}

/* Vectors without a descriptor have none from now on. */
static void assign(struct emu_irqs *irqs, const struct emu_vfio_set_irqs *in,
		   struct emu_vfio_message *m)
{
	for (uint32_t i = 0; i < in->count; i++) {
		emu_irqs_set(irqs, in->start + i, i < m->nfds ? m->fd[i] : -1);
		if (i < m->nfds)
			m->fd[i] = -1;
	}
}

static bool are_eventfds(const struct emu_vfio_message *m)
{
	for (unsigned int i = 0; i < m->nfds; i++)
		if (!emu_irqs_is_eventfd(m->fd[i]))
			return false;
	return true;
}

static int set_irqs(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_set_irqs *in = (const void *)m->body;
	const uint32_t what = in->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	struct emu_irqs *irqs = &s->function->irqs;

	if (in->index != VFIO_PCI_MSIX_IRQ_INDEX || in->start > EMU_PCI_VECTORS ||
	    in->count > EMU_PCI_VECTORS - in->start || m->nfds > in->count)
		return EINVAL;
	if ((in->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER)
		return ENOTSUP; /* the vectors are not announced as maskable */
	switch (what) {
	case VFIO_IRQ_SET_DATA_EVENTFD:
		if (!are_eventfds(m))
			return EINVAL;
		assign(irqs, in, m);
		return 0;
	case VFIO_IRQ_SET_DATA_BOOL:
		if (m->len - sizeof(*in) < in->count)
			return EINVAL;
		trigger(irqs, in, m->body + sizeof(*in));
		return 0;
	case VFIO_IRQ_SET_DATA_NONE:
		if (in->count)
			trigger(irqs, in, NULL);
		else
			emu_irqs_clear(irqs);
		return 0;
	default:
		return EINVAL;
	}
}

static bool is_in_region(const struct emu_vfio_access *a)
{
	const uint64_t size = emu_function_region(a->region);

	return a->count <= EMU_VFIO_MAX_DATA && a->offset <= size && a->count <= size - a->offset;
}

static int region_read(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_access *in = (const void *)m->body;
	struct emu_vfio_access *out;

	if (!is_in_region(in))
		return EINVAL;
	out = answer_room(m, (uint32_t)sizeof(*out) + in->count);
	if (!out)
		return ENOMEM;
	*out = *in;
	emu_function_read(s->function, in->region, in->offset, (uint8_t *)(out + 1), in->count);
	return 0;
}

static int region_write(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_access *in = (const void *)m->body;
	struct emu_vfio_access *out;

	if (!is_in_region(in) || in->count > m->len - sizeof(*in))
		return EINVAL;
	out = answer_room(m, sizeof(*out));
	if (!out)
		return ENOMEM;
	*out = *in;
	emu_function_write(s->function, in->region, in->offset, (const uint8_t *)(in + 1),
			   in->count);
	return 0;
}

/* All of them or, if one is wrong, none. */
static int region_write_multi(struct emu_session *s, struct emu_vfio_message *m)
{
	const struct emu_vfio_write_multi *in = (const void *)m->body;
	const struct emu_vfio_small_write *writes = (const void *)(in + 1);
	struct emu_vfio_write_multi *out;

	if (in->num_writes > (m->len - sizeof(*in)) / sizeof(*writes))
		return EINVAL;
	for (uint64_t i = 0; i < in->num_writes; i++)
		if (!is_in_region(&writes[i].at) || writes[i].at.count > sizeof(writes[i].data))
			return EINVAL;
	out = answer_room(m, sizeof(*out));
	if (!out)
		return ENOMEM;
	*out = *in;
	for (uint64_t i = 0; i < in->num_writes; i++)
		emu_function_write(s->function, writes[i].at.region, writes[i].at.offset,
				   writes[i].data, writes[i].at.count);
	return 0;
}

static int reset(struct emu_session *s, struct emu_vfio_message *m)
{
	(void)m;
	emu_function_reset(s->function);
	return 0;
}

static const struct {
	uint16_t command;
	uint32_t len; /* the least of its body */
	int (*execute)(struct emu_session *s, struct emu_vfio_message *m);
} commands[] = {
	{EMU_VFIO_VERSION, sizeof(struct emu_vfio_version), version},
	{EMU_VFIO_DMA_MAP, sizeof(struct emu_vfio_dma_map), dma_map},
	{EMU_VFIO_DMA_UNMAP, sizeof(struct emu_vfio_dma_unmap), dma_unmap},
	{EMU_VFIO_DEVICE_GET_INFO, sizeof(struct emu_vfio_device_info), device_info},
	{EMU_VFIO_DEVICE_GET_REGION_INFO, sizeof(struct emu_vfio_region_info), region_info},
	{EMU_VFIO_DEVICE_GET_IRQ_INFO, sizeof(struct emu_vfio_irq_info), irq_info},
	{EMU_VFIO_DEVICE_SET_IRQS, sizeof(struct emu_vfio_set_irqs), set_irqs},
	{EMU_VFIO_REGION_READ, sizeof(struct emu_vfio_access), region_read},
	{EMU_VFIO_REGION_WRITE, sizeof(struct emu_vfio_access), region_write},
	{EMU_VFIO_DEVICE_RESET, 0, reset},
	{EMU_VFIO_REGION_WRITE_MULTI, sizeof(struct emu_vfio_write_multi), region_write_multi},
};

/* --- messages --------------------------------------------------------------------------------- */

static int execute(struct emu_session *s, struct emu_vfio_message *m)
{
	if (!s->has_version && m->head.command != EMU_VFIO_VERSION)
		return EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].command == m->head.command)
			return m->len < commands[i].len ? EINVAL : commands[i].execute(s, m);
	return ENOTSUP;
}

static int check_header(const struct emu_vfio_header *h)
{
	if (h->size >= sizeof(*h) && h->size - sizeof(*h) <= MAX_BODY &&
	    !(h->flags & EMU_VFIO_TYPE))
		return 0;
	emu_log("the virtual machine sent a message of %u bytes with flags 0x%x, which is no "
		"request "
		"of vfio-user; the connection ends",
		h->size, h->flags);
	return EPROTO;
}

/* The header has arrived: make room for the rest. */
static int begin_body(struct emu_vfio_message *m)
{
	int err = check_header(&m->head);

	if (err)
		return err;
	m->len = m->head.size - (uint32_t)sizeof(m->head);
	m->body = malloc(m->len + 1u);
	return m->body ? 0 : ENOMEM;
}

/* Take what the chunk has of the message. `*whole`: all of it is there. */
static int take_message(struct chunk *c, struct emu_vfio_message *m, bool *whole)
{
	int err;

	if (m->have < sizeof(m->head)) {
		m->have += take_bytes(c, (uint8_t *)&m->head + m->have, sizeof(m->head) - m->have);
		if (m->have < sizeof(m->head))
			return 0;
		err = begin_body(m);
		if (err)
			return err;
	}
	m->have += take_bytes(c, m->body + (m->have - sizeof(m->head)), m->head.size - m->have);
	*whole = m->have == m->head.size;
	return 0;
}

static void forget_message(struct emu_vfio_message *m)
{
	while (m->nfds)
		if (m->fd[--m->nfds] >= 0)
			close(m->fd[m->nfds]);
	free(m->body);
	free(m->out);
	*m = (struct emu_vfio_message){.out_fd = -1};
}

/* The next message of the chunk. */
static int serve_next(struct emu_session *s, struct chunk *c)
{
	struct emu_vfio_message *m = &s->message;
	bool whole = false;
	int err = take_message(c, m, &whole);

	if (err || c->at == c->len)
		take_descriptors(c, m);
	if (err || !whole)
		return err;
	err = answer(s, m, execute(s, m));
	forget_message(m);
	return err;
}

int emu_session_serve(struct emu_session *session)
{
	struct chunk chunk;
	int err = receive(session->fd, &chunk);

	while (!err && chunk.at < chunk.len)
		err = serve_next(session, &chunk);
	take_descriptors(&chunk, &session->message);
	return err;
}

void emu_session_end(struct emu_session *session)
{
	forget_message(&session->message);
	close(session->fd);
	session->fd = -1;
}
