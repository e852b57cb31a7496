/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The emulated kernel must answer arbitrary commands, and arbitrary messages from engines, netlink sockets
 * and the control socket. When the files of the clients are closed, no object may remain. The input is a
 * sequence of commands and also the memory that they point to. Commands are built from the server's table
 * of methods, so that most have valid framing. This file replaces the reactor and the access to a client's
 * memory.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include "base/array.h"
#include "emu/ipc/firmware.h"
#include "emu/server/admin/control.h"
#include "emu/server/admin/fault.h"
#include "emu/server/admin/port.h"
#include "emu/server/admin/trace.h"
#include "emu/server/base/log.h"
#include "emu/server/base/reactor.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/commands.h"
#include "emu/server/devx/methods.h"
#include "emu/server/firmware/commands.h"
#include "emu/server/firmware/firmware.h"
#include "emu/server/firmware/mkey.h"
#include "emu/server/firmware/umem.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/net/netlink.h"
#include "emu/server/process_exit.h"
#include "emu/server/serve.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/mmap.h"
#include "emu/server/uverbs/mr.h"
#include "emu/server/uverbs/mw.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/srq.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAME_AT 0x10000ull  /* address of the current command in the client's memory */
#define INPUT_AT 0x100000ull /* address of the whole input; writes to it are discarded */
#define END_AT	 0x8000000ull
#define CLIENTS	 2
#define FDS	 4
#define RAW	 0xff
#define MAP	 0xfe
#define NOTE	 0xfd
#define TRACED	 0xfc
#define LETTER	 0xfb
#define CONTROL	 0xfa
#define DRIVER	 0xf9
#define FILES	 (CLIENTS + 1) /* the last one is that of a PCI function's driver */
#define PACKET	 256u

static struct input {
	const uint8_t *data;
	size_t size, at;
} input;

static union frame {
	struct ib_uverbs_ioctl_hdr hdr; /* ends with the attributes */
	uint8_t room[EMU_PAGE];
} frame;

static struct emu_proc proc = {.notes.fd = -1, .slot = 0, .client_end = -1};
static struct emu_file files[FILES];
static struct emu_chan chans[FILES];
static int fds[FDS]; /* file descriptors that the clients hold */
static int memfd;
static struct emu_watch *watched; /* the newest watch; NULL after its end */

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* --- numbers of objects, relative to the newest: the server continues them from input to input */

/* NEWEST plus an enum emu_type stands for the number of the newest object of that type. */
#define NEWEST 0xd0d0d000u

static uint32_t number_in_device(const struct emu_uobj *o)
{
	switch (o->type) {
	case EMU_T_CQ:
		return ((const struct emu_cq_obj *)o)->cqn;
	case EMU_T_QP:
		return ((const struct emu_qp_obj *)o)->qpn;
	case EMU_T_DEVX_MKEY:
	case EMU_T_DEVX_ALIAS:
		return ((const struct emu_devx_mkey *)o)->index;
	case EMU_T_DEVX_COUNTER:
		return ((const struct emu_devx_counter *)o)->id;
	case EMU_T_MW:
		return ((const struct emu_mw *)o)->key >> 8;
	case EMU_T_MR:
		return ((const struct emu_mr *)o)->key >> 8;
	case EMU_T_SRQ:
		return ((const struct emu_srq_obj *)o)->srqn;
	default:
		return o->number;
	}
}

static uint32_t newest(uint32_t type)
{
	uint32_t number = 0;

	for (unsigned int i = 0; i < FILES; i++)
		for (unsigned int h = 0; h < files[i].nobjs; h++)
			if (files[i].objs[h] && files[i].objs[h]->type == type)
				number = number_in_device(files[i].objs[h]);
	return number;
}

/* Replace NEWEST in a mailbox by the number. Mailboxes consist of big-endian words. */
static void fill_in_numbers(uint8_t *bytes, size_t len)
{
	uint32_t word;

	for (; len >= sizeof(word); bytes += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		word = be32toh(word);
		if ((word & ~0xffu) != NEWEST)
			continue;
		word = htobe32(newest(word & 0xff));
		memcpy(bytes, &word, sizeof(word));
	}
}

/* Number domains and umems by their handles: the server uses their numbers only to look them up. */
static void renumber(struct emu_file *f)
{
	for (unsigned int h = 0; h < f->nobjs; h++) {
		struct emu_uobj *o = f->objs[h];

		if (o && o->type == EMU_T_PD)
			((struct emu_pd *)o)->pdn = o->number = h + 1;
		if (o && o->type == EMU_T_UMEM)
			((struct emu_umem *)o)->id = h + 1;
	}
}

/* --- the client's memory ---------------------------------------------------------------------- */

int emu_copy_from(pid_t pid, void *dst, uint64_t src, size_t len)
{
	if (src >= FRAME_AT && src <= FRAME_AT + sizeof(frame) &&
	    len <= FRAME_AT + sizeof(frame) - src) {
		memcpy(dst, frame.room + (src - FRAME_AT), len);
		return 0;
	}
	if (src < INPUT_AT || src > INPUT_AT + input.size || len > INPUT_AT + input.size - src)
		return -EFAULT;
	memcpy(dst, input.data + (src - INPUT_AT), len);
	fill_in_numbers(dst, len);
	return 0;
}

int emu_copy_to(pid_t pid, uint64_t dst, const void *src, size_t len)
{
	static uint8_t lost[1 << 17];

	if (dst < FRAME_AT || dst > END_AT || len > END_AT - dst)
		return -EFAULT;
	require(len <= sizeof(lost));
	memcpy(lost, src, len); /* a sanitizer detects a read beyond src */
	return 0;
}

int emu_copy_from_upto(pid_t pid, void *dst, uint64_t src, size_t *len, size_t least)
{
	if (!emu_copy_from(pid, dst, src, *len))
		return 0;
	*len = least;
	return emu_copy_from(pid, dst, src, least);
}

int emu_copy_to_many(pid_t pid, const struct iovec *dst, const struct iovec *src, unsigned int n)
{
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++)
		err = src[i].iov_len ? emu_copy_to(pid, (uintptr_t)dst[i].iov_base, src[i].iov_base,
						   src[i].iov_len)
				     : 0;
	return err;
}

int emu_check_range(pid_t pid, uint64_t addr, uint64_t len, enum emu_use use)
{
	return addr < INPUT_AT || addr > END_AT || len > END_AT - addr ? -EFAULT : 0;
}

/* No memory is shared: engines have nothing to map. */
int emu_find_range(pid_t pid, uint64_t addr, uint64_t len, enum emu_use use, struct emu_span *span)
{
	*span = (struct emu_span){0};
	return emu_check_range(pid, addr, len, use);
}

/* --- the reactor ------------------------------------------------------------------------------ */

void emu_log(const char *fmt, ...)
{
}

void emu_free_later(void *p)
{
	free(p);
}

int emu_watch_add(struct emu_watch *w)
{
	watched = w;
	return 0;
}

void emu_watch_del(struct emu_watch *w)
{
	if (watched == w)
		watched = NULL;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

void emu_watch_change(struct emu_watch *w, uint32_t events)
{
}

void emu_reactor_stop(void)
{
}

/* --- commands from bytes ---------------------------------------------------------------------- */

static uint8_t take(void)
{
	return input.at < input.size ? input.data[input.at++] : 0;
}

static uint64_t take_number(unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | take();
	return v;
}

/* A number of the uverbs core or of the driver. */
static uint16_t number_of(uint8_t byte)
{
	return (uint16_t)((byte & 0x80 ? 0x1000 : 0) | (byte & 0x7f));
}

static int any_fd(uint8_t n)
{
	return n == 0xfd ? memfd : fds[n % FDS];
}

/* Return a small number, an address in the input, or any number. */
static uint64_t draw_value(uint8_t how)
{
	switch (how >> 4 & 3) {
	case 0:
		return take();
	case 1:
		return INPUT_AT + take_number(2) * 16;
	case 2:
		return (uint64_t)any_fd(take());
	default:
		return take_number(8);
	}
}

static void draw_in(struct ib_uverbs_attr *a, const struct emu_attr_spec *s, uint8_t how)
{
	a->len = s->min ? s->min : 8;
	if (how & 0x40)
		a->len = (uint16_t)take_number(how & 1 ? 2 : 1);
	if (a->len <= sizeof(a->data)) {
		a->data = draw_value(how);
		return;
	}
	a->data = INPUT_AT + input.at;
	input.at += a->len < input.size - input.at ? a->len : input.size - input.at;
}

static void draw_attr(struct ib_uverbs_attr *a, const struct emu_attr_spec *s, uint8_t how)
{
	a->attr_id = s->id;
	a->flags = how & 8 ? take() : UVERBS_ATTR_F_MANDATORY;
	switch (s->kind) {
	case EMU_A_IN:
	case EMU_A_VALUE:
	case EMU_A_STRUCT:
	case EMU_A_FLAGS:
		draw_in(a, s, how);
		break;
	case EMU_A_RESULT:
		a->len = how & 0x40 ? take() : s->min;
		a->data = how & 4 ? take() : INPUT_AT;
		break;
	case EMU_A_OUT:
		a->len = (uint16_t)(how & 0x40 ? take_number(2) : (s->min > 64u ? s->min : 64u));
		a->data = how & 4 ? take() : INPUT_AT;
		break;
	case EMU_A_FD:
		a->data = (uint64_t)any_fd(take());
		break;
	case EMU_A_ENUM:
		a->attr_data.enum_data.elem_id = how & 0x40 ? take() : take() % s->min;
		break;
	default:
		a->data = how & 0x40 ? take_number(8) : take() % 32u;
		break;
	}
}

/* Whether the attribute is the number of the command to invoke, which is unlikely to be valid by chance. */
static bool is_write_command(const struct emu_method *m, uint16_t id)
{
	return m->object == UVERBS_OBJECT_DEVICE && m->method == UVERBS_METHOD_INVOKE_WRITE &&
	       id == UVERBS_ATTR_WRITE_CMD;
}

static void build(const struct emu_method *m)
{
	const size_t room = ARRAY_SIZE(m->attr);
	struct ib_uverbs_attr *a;

	memset(&frame, 0, sizeof(frame));
	frame.hdr.object_id = m->object;
	frame.hdr.method_id = m->method;
	frame.hdr.driver_id = RDMA_DRIVER_MLX5;
	for (size_t i = 0; i < room && m->attr[i].kind != EMU_A_END; i++) {
		uint8_t how = take();

		if (how & 0x80)
			continue;
		a = &frame.hdr.attrs[frame.hdr.num_attrs++];
		if (!is_write_command(m, m->attr[i].id)) {
			draw_attr(a, &m->attr[i], how);
			continue;
		}
		*a = (struct ib_uverbs_attr){.attr_id = m->attr[i].id, .len = 8};
		a->data = how & 0x40 ? 0x80000000u | (how & 0x3f) : (how & 0x3f);
	}
	frame.hdr.length =
		(uint16_t)(sizeof(frame.hdr) + frame.hdr.num_attrs * sizeof(frame.hdr.attrs[0]));
}

static void build_raw(void)
{
	size_t n = take() % 128u, i;

	memset(&frame, 0, sizeof(frame));
	for (i = 0; i < n; i++)
		frame.room[i] = take();
}

static void keep_fd(int fd)
{
	static unsigned int next;

	if (fd < 0)
		return;
	close(fds[next % FDS]);
	fds[next++ % FDS] = fd;
}

static void map_something(struct emu_file *f)
{
	uint64_t page = take_number(3), off = 0;

	emu_mmap(f, page * EMU_PAGE, (uint64_t)take() * EMU_PAGE, &off);
}

/* --- messages of engines and the other sockets ------------------------------------------------ */

static void take_bytes(void *to, size_t len)
{
	uint8_t *p = to;

	while (len--)
		*p++ = take();
}

static uint32_t take_newest(void)
{
	static const enum emu_type types[] = {EMU_T_QP, EMU_T_CQ, EMU_T_SRQ, EMU_T_DEVX_QP,
					      EMU_T_DEVX_CQ};
	uint8_t which = take();

	return which & 0x80 ? (uint32_t)take_number(2) : newest(types[which % 5]);
}

/* A request of an engine to the server, in memory that the client may write at any time. */
static void draw_umr(struct emu_qp *q)
{
	static const enum emu_type types[] = {EMU_T_MW, EMU_T_DEVX_MKEY, EMU_T_MR};
	struct emu_umr *u = &q->umr[take() % EMU_UMR_SIDES];

	u->resets = atomic_load(&q->resets);
	u->op = take();
	u->key = newest(types[take() % 3]) << 8 | take();
	u->nklm = take();
	take_bytes(u->ctrl, sizeof(u->ctrl));
	take_bytes(u->mkc, sizeof(u->mkc));
	take_bytes(u->klm, u->nklm < 4 ? u->nklm * 16 : sizeof(u->klm));
	fill_in_numbers(u->klm, sizeof(u->klm));
	atomic_store(&u->state, EMU_UMR_POSTED);
}

static void send_note(void)
{
	struct emu_note n = {.type = take(), .number = take_newest(), .event = take()};

	if (n.number < EMU_MAX_QPS && n.type != EMU_NOTE_COMP && n.type != EMU_NOTE_CQ_ERR)
		n.serial = atomic_load(&emu_queues->qp[n.number].serial);
	if (n.number < EMU_MAX_SRQS && n.type == EMU_NOTE_SRQ)
		n.serial = atomic_load(&emu_queues->srq[n.number].serial);
	if (n.number < EMU_MAX_CQS && (n.type == EMU_NOTE_COMP || n.type == EMU_NOTE_CQ_ERR))
		n.serial = atomic_load(&emu_queues->cq[n.number].serial);
	if (n.type == EMU_NOTE_UMR && n.number < EMU_MAX_QPS)
		draw_umr(&emu_queues->qp[n.number]);
	emu_note(&n);
}

static void send_traced(void)
{
	struct emu_note_wr n;

	take_bytes(&n, sizeof(n));
	n.note.number = take_newest();
	emu_trace_start(take() & 1);
	emu_trace_wr(&n);
	emu_trace_stop();
}

/* Send a packet on a new connection, and read all answers. */
static void converse(const void *packet, size_t len, int end)
{
	uint8_t answer[EMU_STATUS_MAX];

	require(send(end, packet, len, MSG_DONTWAIT) == (ssize_t)len);
	do
		watched->ready(watched);
	while (watched && recv(end, answer, sizeof(answer), MSG_DONTWAIT) > 0);
}

static void send_letter(const struct emu_func *f)
{
	_Alignas(struct nlmsghdr) uint8_t packet[PACKET];
	size_t len = take() % sizeof(packet);
	struct nlmsghdr h = {.nlmsg_len = (uint32_t)len};
	int ends[2];

	require(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	emu_netlink_accept(f->role, ends[0]);
	h.nlmsg_type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, take());
	h.nlmsg_flags = (uint16_t)take_number(2);
	take_bytes(packet, len);
	if (len >= sizeof(h) && !(packet[0] & 0x80)) /* otherwise several messages, or none */
		memcpy(packet, &h, sizeof(h));
	if (len)
		converse(packet, len, ends[1]);
	watched->hang_up(watched);
	close(ends[1]);
}

static size_t fill_port_request(struct emu_port_request *r)
{
	take_bytes(&r->action, sizeof(*r) - offsetof(struct emu_port_request, action));
	r->action %= EMU_PORT_REREGISTER + 2;
	if (take() & 1) { /* otherwise as a rule no function is meant */
		memset(r->role, 0, sizeof(r->role));
		r->dev = EMU_ANY_DEV;
		r->index %= (int32_t)EMU_MAX_GIDS + 1;
		r->type %= EMU_GID_ROCE_V2 + 1;
		r->vlan = r->vlan & 1 ? EMU_NO_VLAN : r->vlan % 4096;
	}
	return sizeof(*r);
}

static void send_control(void)
{
	union {
		struct emu_request req;
		struct emu_fault_request fault;
		struct emu_port_request port;
	} packet = {.req.magic = EMU_MAGIC};
	uint8_t how = take();
	size_t len = sizeof(packet.req);
	int ends[2];

	require(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	require(!emu_admin_create(ends[0], how & 1));
	packet.req.op = take();
	packet.req.arg[0] = how & 2;
	if (how & 16)
		packet.req.op = EMU_OP_PORT;
	if (packet.req.op == EMU_OP_PORT) {
		len = fill_port_request(&packet.port);
	} else if (packet.req.op == EMU_OP_FAULT || how & 4) {
		len = sizeof(packet.fault);
		take_bytes(&packet.fault.kind,
			   sizeof(packet.fault) - offsetof(struct emu_fault_request, kind));
		packet.fault.kind %= EMU_RULE_GID + 2;
	}
	converse(&packet, how & 8 ? 1u + how % len : len, ends[1]);
	if (watched)
		watched->hang_up(watched);
	close(ends[1]);
}

static void end_faults(void)
{
	const struct emu_fault_request none = {.nth = 1, .count = 1};
	uint64_t val[4];

	require(!emu_fault_set(&none, val));
}

static bool gids_changed;

static void note_change(struct emu_func *f)
{
	(void)f;
	gids_changed = true;
}

/* The next input finds the default tables. */
static void reset_gids(void)
{
	if (!gids_changed)
		return;
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		for (unsigned int j = 0; emu_gid_next(&emu_topology.func[i], &j); j++)
			require(!emu_gid_del(&emu_topology.func[i], j));
	require(!emu_gids_create());
	gids_changed = false;
}

/* --- the driver of a function ----------------------------------------------------------------- */

#define MAILBOX	    1024u /* where the mailbox is in the frame */
#define MAX_MAILBOX 1024u

static void add_attr(uint16_t id, uint16_t len, uint64_t data)
{
	struct ib_uverbs_attr *a = &frame.hdr.attrs[frame.hdr.num_attrs++];

	*a = (struct ib_uverbs_attr){.attr_id = id, .len = len, .data = data};
	a->flags = UVERBS_ATTR_F_MANDATORY;
	frame.hdr.length =
		(uint16_t)(sizeof(frame.hdr) + frame.hdr.num_attrs * sizeof(frame.hdr.attrs[0]));
}

static void begin_call(uint16_t method)
{
	memset(&frame, 0, sizeof(frame));
	frame.hdr.object_id = EMU_OBJECT_FUNCTION;
	frame.hdr.method_id = method;
	frame.hdr.driver_id = RDMA_DRIVER_MLX5;
}

static const struct emu_firmware_command *take_row(void)
{
	const struct emu_firmware_command *f = emu_firmware_commands;
	unsigned int n = take();

	while (n-- && f[1].handler)
		f++;
	return f;
}

/* A command of the firmware's table about the newest object of its type, with a few bytes that are not 0. */
static void build_mailbox(void)
{
	const struct emu_firmware_command *f = take_row();
	const uint16_t len = (uint16_t)(16u + take_number(2) % (MAX_MAILBOX - 16u));
	uint8_t *in = frame.room + MAILBOX;

	begin_call(EMU_FUNCTION_COMMAND);
	for (unsigned int i = take(); i; i--) {
		const size_t at = take_number(2) % MAX_MAILBOX;

		in[at] = take();
	}
	emu_prm_set(in, EMU_CMD_IN_OPCODE, f->opcode ? f->opcode : 0x500u + take() % 16u);
	if (!f->size && f->type != EMU_T_NONE)
		emu_prm_set(in, f->number ? f->number : EMU_OBJECT_IN_NUMBER,
			    newest(f->type) & 0xffffff);
	fill_in_numbers(in, MAX_MAILBOX);
	add_attr(EMU_FUNCTION_IN, len, FRAME_AT + MAILBOX);
	add_attr(EMU_FUNCTION_OUT, (uint16_t)(8u + take_number(2)), INPUT_AT);
}

static int call_driver(void)
{
	struct emu_cmd c = {.chan = &chans[CLIENTS], .file = &files[CLIENTS], .fd = -1};
	int err = emu_ioctl(&c, FRAME_AT);

	keep_fd(c.fd);
	renumber(&files[CLIENTS]);
	return err;
}

static void drive(void)
{
	const uint8_t how = take();
	const struct emu_method *m = emu_method_find(
		EMU_OBJECT_FUNCTION, (uint16_t)(EMU_FUNCTION_OPEN + (how >> 4) % 6));

	if (how & 3 || !m)
		build_mailbox();
	else
		build(m);
	call_driver();
}

/* The function is open, and its commands may name all memory. */
static void open_driver(void)
{
	struct emu_file *f = &files[CLIENTS];

	memset(f, 0, sizeof(*f));
	f->watch.fd = -1;
	f->func = &emu_topology.func[0];
	f->chans = &chans[CLIENTS];
	f->next = emu_files;
	emu_files = f;
	chans[CLIENTS] = (struct emu_chan){.watch.fd = -1, .file = f, .pid = getpid()};
	begin_call(EMU_FUNCTION_OPEN);
	add_attr(EMU_FUNCTION_INFO, sizeof(struct emu_fw_info), INPUT_AT);
	add_attr(EMU_FUNCTION_EVENTS, 0, 0);
	require(!call_driver());
	begin_call(EMU_FUNCTION_MEMORY);
	add_attr(EMU_FUNCTION_ADDRESS, 8, INPUT_AT);
	add_attr(EMU_FUNCTION_LENGTH, 8, END_AT - INPUT_AT);
	add_attr(EMU_FUNCTION_MEMORY_ID, 4, INPUT_AT);
	require(!call_driver());
}

/* Do something else than a command of the table. */
static bool say(uint8_t what, struct emu_file *f)
{
	switch (what) {
	case MAP:
		map_something(f);
		return true;
	case NOTE:
		send_note();
		return true;
	case TRACED:
		send_traced();
		return true;
	case LETTER:
		send_letter(f->func);
		return true;
	case CONTROL:
		send_control();
		return true;
	case DRIVER:
		drive();
		return true;
	default:
		return false;
	}
}

static void execute(void)
{
	uint8_t who = take(), what = take();
	uint16_t object = number_of(what);
	struct emu_file *f = &files[who % CLIENTS];
	struct emu_cmd c = {.chan = &chans[who % CLIENTS], .file = f, .fd = -1};
	const struct emu_method *m;

	proc.pid = who & 0x80 ? 0 : getpid(); /* without an engine, or with one */
	if (say(what, f))
		return;
	if (what == RAW) {
		build_raw();
	} else {
		m = emu_method_find(object, number_of(take()));
		if (!m)
			return;
		build(m);
	}
	if (who & 0x40) { /* a client may send any part of the frame */
		c.head = frame.room;
		c.head_len = (size_t)take() * 2 % (EMU_HEAD_MAX + 1);
	}
	emu_ioctl(&c, FRAME_AT);
	keep_fd(c.fd);
	renumber(f);
}

/* Give every context a doorbell page, as libmlx5 does, with a handle that inputs do not use. */
static void give_doorbells(struct emu_file *f)
{
	static const struct {
		uint16_t id, len;
	} outs[] = {{MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8},
		    {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4},
		    {MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4}};
	struct emu_cmd c = {.chan = f->chans, .file = f, .fd = -1};
	struct ib_uverbs_attr *a = frame.hdr.attrs;
	unsigned int i;

	memset(&frame, 0, sizeof(frame));
	frame.hdr.object_id = MLX5_IB_OBJECT_UAR;
	frame.hdr.method_id = MLX5_IB_METHOD_UAR_OBJ_ALLOC;
	frame.hdr.driver_id = RDMA_DRIVER_MLX5;
	frame.hdr.num_attrs = 5;
	frame.hdr.length = (uint16_t)(sizeof(frame.hdr) + 5 * sizeof(*a));
	a[0].attr_id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE;
	a[1] = (struct ib_uverbs_attr){.attr_id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, .len = 8};
	for (i = 0; i < 3; i++)
		a[2 + i] = (struct ib_uverbs_attr){
			.attr_id = outs[i].id, .len = outs[i].len, .data = INPUT_AT};
	require(!emu_ioctl(&c, FRAME_AT));
	i = f->nobjs - 1;
	f->objs[i] = f->objs[0];
	f->objs[i]->handle = i;
	f->objs[0] = NULL;
	f->next_free[i - 1] = f->nobjs;
	f->next_free[0] = f->first_free;
	f->first_free = 0;
}

static void open_clients(void)
{
	for (int i = 0; i < CLIENTS; i++) {
		memset(&files[i], 0, sizeof(files[i]));
		files[i].watch.fd = -1;
		files[i].func = &emu_topology.func[i];
		files[i].chans = &chans[i];
		files[i].has_context = true;
		files[i].devx_uid = (uint16_t)(i + 1);
		files[i].next = emu_files;
		emu_files = &files[i];
		chans[i] = (struct emu_chan){.watch.fd = -1, .file = &files[i], .pid = getpid()};
		give_doorbells(&files[i]);
	}
	open_driver();
}

static void close_clients(void)
{
	static const struct emu_counts none;

	for (unsigned int i = 0; i < FILES; i++) {
		emu_process_left(&files[i], getpid());
		emu_uobj_destroy_all(&files[i]);
		emu_events_destroy_all(&files[i]);
		emu_driver_free(&files[i]);
	}
	emu_files = NULL;
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		memset(&emu_topology.func[i].count.contexts, 0,
		       sizeof(emu_topology.func[i].count.contexts));
	emu_topology.count.contexts = 0;
	require(!memcmp(&emu_topology.count, &none, sizeof(none)));
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		require(!memcmp(&emu_topology.func[i].count, &none, sizeof(none)));
}

static char dir[] = "/tmp/dpumap-fuzz-XXXXXX";

/* The files of sysfs are not for us, but change with GIDs and ports. */
static void remove_dir(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	require(!system(command)); // NOLINT(cert-env33-c)
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct emu_topology_spec spec; /* the cards keep pointers to it */

	signal(SIGPIPE, SIG_IGN); /* as the reactor does, because clients close event files */
	emu_topology_default(&spec);
	spec.guid = 0x0c42a10300d10000u; /* inputs of the corpus have its GIDs */
	spec.node[0].profile.max_gids = 16;
	require(mkdtemp(dir) && !atexit(remove_dir) && !emu_segments_create() &&
		!emu_topology_create(dir, &spec) && !emu_gids_create());
	emu_port_begin();
	emu_gid_on_change(note_change);
	require(emu_topology.nfuncs >= CLIENTS);
	emu_procs = &proc;
	atomic_store(&emu_queues->engine[proc.slot].serial, emu_new_serial());
	memfd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	require(memfd >= 0 && !ftruncate(memfd, 1 << 20));
	for (int i = 0; i < FDS; i++)
		fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = (struct input){data, size, 0};
	open_clients();
	while (input.at < input.size)
		execute();
	close_clients();
	end_faults();
	reset_gids();
	return 0;
}
