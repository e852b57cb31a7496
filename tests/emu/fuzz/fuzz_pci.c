/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A virtual machine and its driver that send anything to a PCI function: bytes that are no messages, messages, stores
 * to BAR 0, entries of the command queue with their mailboxes. The firmware is a table of numbers; all else is the
 * function itself. When the virtual machine has gone, the same descriptors are open as before, and no memory is lent.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "emu/ipc/bytes.h"
#include "emu/pci/function.h"
#include "emu/pci/session.h"
#include "emu/prm/prm_cmd.h"
#include "emu/server/base/log.h"

#define MEMORY	     (64u << 10)
#define AT	     (1u << 20)
#define BLOCK	     1024u /* of a mailbox */
#define BLOCKS	     16u
#define FIRST_BLOCK  4096u
#define LIST	     0x110u /* where page lists begin */
#define NUMBERS	     40u
#define MAX_MEMORIES 256u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct emu_function function;
static struct emu_session session;
static const uint8_t *input;
static size_t left;
static int peer, memfd;
static uint8_t *memory;
static bool memory_used[MAX_MEMORIES];
static unsigned int uars;

static void require(bool condition)
{
	if (!condition)
		abort();
}

static uint8_t take(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static uint64_t take_number(unsigned int bytes)
{
	uint64_t n = 0;

	while (bytes--)
		n = n << 8 | take();
	return n;
}

static void take_bytes(void *to, size_t len)
{
	size_t n = len < left ? len : left;

	memset(to, 0, len);
	memcpy(to, input, n);
	input += n;
	left -= n;
}

/* --- the firmware ----------------------------------------------------------------------------- */

static const struct {
	uint16_t create, destroy;
	uint32_t first, end; /* of its numbers */
} kinds[] = {
	{EMU_CMD_CREATE_EQ, EMU_CMD_DESTROY_EQ, 1, EMU_FW_EQS},
	{EMU_CMD_ALLOC_UAR, EMU_CMD_DEALLOC_UAR, EMU_FW_FIRST_UAR, NUMBERS},
	{EMU_CMD_CREATE_MKEY, EMU_CMD_DESTROY_MKEY, 1, NUMBERS},
	{EMU_CMD_CREATE_CQ, EMU_CMD_DESTROY_CQ, 1, NUMBERS},
	{EMU_CMD_CREATE_QP, EMU_CMD_DESTROY_QP, 1, NUMBERS},
	{EMU_CMD_CREATE_SQ, EMU_CMD_DESTROY_SQ, 1, NUMBERS},
	{EMU_CMD_CREATE_RMP, EMU_CMD_DESTROY_RMP, 1, NUMBERS},
	{EMU_CMD_CREATE_XRC_SRQ, EMU_CMD_DESTROY_XRC_SRQ, 1, NUMBERS},
	{EMU_CMD_CREATE_UMEM, EMU_CMD_DESTROY_UMEM, 1, NUMBERS}, /* not the firmware's */
	{EMU_CMD_ENABLE_HCA, 0, 0, 0},
};
static bool lives[ARRAY_SIZE(kinds)][NUMBERS];

int emu_fw_open(struct emu_fw *fw)
{
	fw->fd = -1;
	fw->events = -1;
	fw->info = (struct emu_fw_info){.fw_ver = 0x1c0010002u, .device = 0xa2dc};
	return 0;
}

void emu_fw_close(struct emu_fw *fw)
{
	(void)fw;
}

static bool create(size_t kind, uint8_t *out)
{
	for (uint32_t n = kinds[kind].first; n < kinds[kind].end; n++) {
		if (lives[kind][n])
			continue;
		lives[kind][n] = true;
		emu_prm_set(out, EMU_CMD_OUT_NUMBER, n);
		return true;
	}
	return false;
}

static bool destroy(size_t kind, const uint8_t *in)
{
	const uint64_t n = emu_prm_get(in, EMU_OBJECT_IN_NUMBER);

	if (n >= NUMBERS || !lives[kind][n])
		return false;
	lives[kind][n] = false;
	return true;
}

static bool execute(const uint8_t *in, uint8_t *out)
{
	const uint64_t opcode = emu_prm_get(in, EMU_CMD_IN_OPCODE);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].create == opcode)
			return !kinds[i].end || create(i, out);
		if (kinds[i].destroy == opcode)
			return destroy(i, in);
	}
	return false;
}

bool emu_fw_command(const struct emu_fw *fw, const uint8_t *in, size_t in_len, uint8_t *out,
		    size_t out_len)
{
	uint8_t sum = 0, luck;

	(void)fw;
	require(in_len >= 16 && out_len >= 16);
	for (size_t i = 0; i < in_len; i++) /* all of it can be read */
		sum ^= in[i];
	memset(out, 0, out_len);
	luck = take();
	if ((luck & 15) == 6)
		return false;
	if ((luck & 7) == 7 || !execute(in, out))
		out[0] = 2 | (sum & 0x40);
	return true;
}

uint32_t emu_fw_memory(const struct emu_fw *fw, uint64_t address, uint64_t len)
{
	uint32_t id;

	(void)fw;
	require(len && address && !(address % EMU_GUEST_PAGE) && !(len % EMU_GUEST_PAGE));
	for (id = 1; id < MAX_MEMORIES && memory_used[id]; id++)
		;
	if (id == MAX_MEMORIES)
		return 0;
	memory_used[id] = true;
	return id;
}

bool emu_fw_memory_end(const struct emu_fw *fw, uint32_t id)
{
	(void)fw;
	if (id >= MAX_MEMORIES || !memory_used[id]) /* after a reset */
		return false;
	memory_used[id] = false;
	return true;
}

uint8_t *emu_fw_uar(const struct emu_fw *fw, uint32_t page)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)fw;
	require(page >= EMU_FW_FIRST_UAR && p != MAP_FAILED);
	uars++;
	return p;
}

void emu_fw_uar_end(uint8_t *uar)
{
	uars--;
	munmap(uar, 4096);
}

int emu_fw_event(const struct emu_fw *fw, struct emu_fw_event *event)
{
	return read(fw->events, event, sizeof(*event)) == sizeof(*event) ? 0 : EAGAIN;
}

void emu_fw_reset(const struct emu_fw *fw)
{
	(void)fw;
	memset(lives, 0, sizeof(lives));
	memset(memory_used, 0, sizeof(memory_used));
}

void emu_log(const char *fmt, ...)
{
	(void)fmt;
}

/* --- the virtual machine ---------------------------------------------------------------------- */

static void serve(void)
{
	uint8_t answer[4096];

	/* A message is two pieces. */
	for (int i = 0; i < 2 && session.fd >= 0; i++)
		if (emu_session_serve(&session)) {
			emu_session_end(&session);
			emu_function_leave(&function);
		}
	while (recv(peer, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
}

static void send_with(const void *data, size_t len, int nfds, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(4 * sizeof(int))];
	} control = {.space = {0}};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;
	int *to;

	if (nfds) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
		to = (int *)(void *)CMSG_DATA(c);
		for (int i = 0; i < nfds; i++)
			to[i] = fd;
	}
	if (sendmsg(peer, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		serve();
}

static void send_message(uint16_t command, const void *body, size_t len, int nfds, int fd)
{
	uint8_t packet[512];
	struct emu_vfio_header h = {.command = command, .size = (uint32_t)(sizeof(h) + len)};

	memcpy(packet, &h, sizeof(h));
	memcpy(packet + sizeof(h), body, len);
	send_with(packet, sizeof(h) + len, nfds, fd);
}

static void send_raw(void)
{
	uint8_t bytes[64];
	size_t len = 1u + take() % sizeof(bytes);

	take_bytes(bytes, len);
	send_with(bytes, len, take() % 4, memfd);
}

static void send_any(void)
{
	uint16_t command = take() % 18;
	uint8_t body[64];
	size_t len = take() % (sizeof(body) + 1);
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), nfds = take() % 4;

	take_bytes(body, len);
	send_message(command, body, len, nfds, take() & 1 ? event : memfd);
	close(event);
}

static void offer(void)
{
	const uint8_t how = take();
	struct emu_vfio_dma_map map = {
		.flags = EMU_VFIO_DMA_READABLE | (how & 1 ? 0 : EMU_VFIO_DMA_WRITEABLE),
		.offset = how & 2 ? (uint64_t)(take() % 17) << 12 : 0,
		.address = AT + ((uint64_t)(how >> 4) << 12),
		.size = how & 4 ? (uint64_t)(take() % 17) << 12 : MEMORY,
	};
	struct emu_vfio_dma_unmap unmap = {.address = map.address, .size = map.size};

	if (how & 8)
		send_message(EMU_VFIO_DMA_UNMAP, &unmap, sizeof(unmap), 0, -1);
	else
		send_message(EMU_VFIO_DMA_MAP, &map, sizeof(map), 1, memfd);
}

static void store(uint64_t offset, const uint8_t *data, uint32_t len, uint32_t region)
{
	struct {
		struct emu_vfio_access access;
		uint8_t data[64];
	} write = {.access = {.offset = offset, .region = region, .count = len}};

	memcpy(write.data, data, len);
	send_message(EMU_VFIO_REGION_WRITE, &write, sizeof(write.access) + len, 0, -1);
}

static void store_any(void)
{
	static const uint64_t places[] = {0x10, 0x14, 0x18, 0x10040, 0x10048, 0x10020, 0x10800};
	const uint8_t how = take();
	uint8_t data[64];
	const uint32_t len = how & 1 ? take() % (sizeof(data) + 1) : 4;
	const uint64_t at = how & 2 ? take_number(4) : places[(how >> 2) % ARRAY_SIZE(places)];

	take_bytes(data, len);
	store(at, data, len,
	      how & 0x80 ? VFIO_PCI_CONFIG_REGION_INDEX : VFIO_PCI_BAR0_REGION_INDEX);
}

static void poke(void)
{
	const size_t at = take_number(2) % MEMORY, len = take();

	take_bytes(memory + at, at + len <= MEMORY ? len : MEMORY - at);
}

/* --- the driver ------------------------------------------------------------------------------- */

static uint64_t fill_chain(unsigned int first, size_t len, const uint8_t *data)
{
	const unsigned int n = (unsigned int)((len + 511) / 512);

	for (unsigned int i = 0; i < n && first + i < BLOCKS; i++) {
		uint8_t *b = memory + FIRST_BLOCK + (size_t)(first + i) * BLOCK;
		const size_t part = len - i * 512u < 512 ? len - i * 512u : 512;

		memset(b, 0, 576);
		if (data)
			memcpy(b, data + i * 512u, part);
		if (i + 1 < n)
			emu_put32(b + 564, AT + FIRST_BLOCK + (first + i + 1) * BLOCK);
		emu_put32(b + 568, i);
	}
	return n ? AT + FIRST_BLOCK + first * BLOCK : 0;
}

/* The context of a command, and a page list of pages that are there as a rule. */
static size_t fill_command(uint8_t *in, size_t room)
{
	const uint8_t kind = take();
	const uint16_t opcode = kind & 0x80 ? kinds[kind % ARRAY_SIZE(kinds)].destroy
					    : kinds[kind % ARRAY_SIZE(kinds)].create;
	const size_t pages = take() % 40;
	size_t at = LIST;

	memset(in, 0, room);
	in[0] = (uint8_t)(opcode >> 8);
	in[1] = (uint8_t)opcode;
	if (kind & 0x80) {
		in[11] = take() % NUMBERS;
		return 16;
	}
	/* Few bytes of the context, each with its place. */
	for (unsigned int i = take() % 16; i; i--) {
		const uint8_t where = take();

		in[8 + where] = take();
	}
	if (!pages)
		return (size_t)take_number(2) % room;
	for (size_t i = 0; i < pages; i++, at += 8)
		emu_put32(in + at + 4, AT + (uint32_t)(take() & 15) * EMU_GUEST_PAGE);
	return at;
}

static void command(void)
{
	uint8_t in[1024], word[4], *e = memory + (size_t)(take() & 31) * 64;
	const size_t in_len = fill_command(in, sizeof(in)), out_len = take() & 1 ? 16 : 600;

	memset(e, 0, 64);
	e[0] = 7;
	emu_put32(e + 4, (uint32_t)in_len);
	memcpy(e + 16, in, 16);
	if (in_len > 16)
		emu_put32(e + 12, (uint32_t)fill_chain(0, in_len - 16, in + 16));
	if (out_len > 16)
		emu_put32(e + 52, (uint32_t)fill_chain(8, out_len - 16, NULL));
	emu_put32(e + 56, (uint32_t)out_len);
	e[63] = 1;
	if (!(take() & 7)) /* one byte of it is wrong */
		memory[take_number(2) % (FIRST_BLOCK + BLOCKS * BLOCK)] = take();
	emu_put32(word, UINT32_MAX);
	store(0x18, word, 4, VFIO_PCI_BAR0_REGION_INDEX);
}

static void report(void)
{
	struct emu_fw_event event;
	int pipes[2];

	require(!pipe2(pipes, O_CLOEXEC | O_NONBLOCK));
	take_bytes(&event, sizeof(event));
	event.eqn %= EMU_FW_EQS + 2;
	require(write(pipes[1], &event, sizeof(event)) == sizeof(event));
	function.firmware.events = pipes[0];
	require(emu_function_events(&function));
	function.firmware.events = -1;
	close(pipes[0]);
	close(pipes[1]);
}

/* --- the whole -------------------------------------------------------------------------------- */

static unsigned int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	require(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void begin(void)
{
	static const uint8_t address[8] = {0, 0, 0, 0, 0, AT >> 16, 0, 0};
	const struct emu_vfio_version version = {.minor = EMU_VFIO_MINOR};
	const struct emu_vfio_dma_map map = {
		.flags = EMU_VFIO_DMA_READABLE | EMU_VFIO_DMA_WRITEABLE,
		.address = AT,
		.size = MEMORY,
	};
	int ends[2];

	require(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	peer = ends[1];
	session = (struct emu_session){.fd = ends[0], .function = &function};
	if (take() & 1)
		return;
	send_message(EMU_VFIO_VERSION, &version, sizeof(version), 0, -1);
	send_message(EMU_VFIO_DMA_MAP, &map, sizeof(map), 1, memfd);
	store(0x10, address, 8, VFIO_PCI_BAR0_REGION_INDEX);
}

static void end(unsigned int files)
{
	size_t used = 0;

	close(peer);
	if (session.fd >= 0)
		emu_session_end(&session);
	emu_function_leave(&function);
	for (size_t i = 0; i < MAX_MEMORIES; i++)
		used += memory_used[i];
	require(used == 1 && !uars); /* the guest's space */
	require(open_files() == files);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	memfd = memfd_create("fuzz", MFD_CLOEXEC);
	require(memfd >= 0 && !ftruncate(memfd, MEMORY));
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	require(memory != MAP_FAILED && !emu_function_open(&function));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const actions[])(void) = {command, command, store_any, send_any,
						offer,	 poke,	  report,    send_raw};
	const unsigned int files = open_files();

	input = data;
	left = size;
	memset(memory, 0, MEMORY);
	begin();
	while (left && session.fd >= 0)
		actions[take() % ARRAY_SIZE(actions)]();
	left = 0;
	end(files);
	return 0;
}
