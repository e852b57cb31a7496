/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * usage: wire_packets write FILE | wire_packets read FILE
 *
 * For wire-packets.py: write a packet of every opcode to a capture file (pcap, raw IP), over IPv4 and IPv6 and
 * of several lengths, and print a line for each; or read packets from such a file, and print why each one
 * is dropped, or its fields.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/bytes.h"
#include "emu/wire/datagram.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"
#include "wire_paths.h"

#define PCAP_MAGIC   0xa1b2c3d4u
#define PCAP_VERSION 0x00020004u
#define PCAP_RAW_IP  101u
#define PCAP_SNAP    65535u
#define PCAP_HEADER  24u
#define PCAP_RECORD  16u

static const struct wire_path *const paths[] = {&wire_ipv4, &wire_ipv6};

static int put(FILE *f, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, f) == len ? 0 : -1;
}

static int put_header(FILE *f)
{
	uint8_t head[PCAP_HEADER] = {0};

	emu_put32(head, PCAP_MAGIC);
	emu_put32(head + 4, PCAP_VERSION);
	emu_put32(head + 16, PCAP_SNAP);
	emu_put32(head + 20, PCAP_RAW_IP);
	return put(f, head, sizeof(head));
}

static int put_packet(FILE *f, const struct wire_path *path, const uint8_t *bytes, size_t len)
{
	uint8_t head[PCAP_RECORD] = {0};
	uint8_t ip[WIRE_PATH_MAX];
	size_t n = wire_path_headers(path, bytes, len, ip);

	emu_put32(head + 8, (uint32_t)(n + len));
	emu_put32(head + 12, (uint32_t)(n + len));
	return put(f, head, sizeof(head)) || put(f, ip, n) || put(f, bytes, len) ? -1 : 0;
}

static int write_one(FILE *f, const struct wire_path *path, uint8_t opcode, uint32_t len)
{
	struct wire_opcode o = wire_opcode(opcode);
	uint8_t bytes[WIRE_MAX_PACKET];
	struct wire_packet p = {
		.opcode = opcode,
		.solicited = o.last,
		.migrated = true,
		.ack_req = wire_kind_is_request(o.kind),
		.becn = o.kind == WIRE_KIND_CNP,
		.pkey = 0xffff,
		.dest_qpn = 0x123456,
		.psn = 0xabcde0u + opcode % 16,
		.qkey = 0x11111111,
		.src_qpn = 0x654321,
		.srqn = 0x42,
		.va = 0x7f0012345678,
		.rkey = 0x1234abcd,
		.dma_len = len,
		.swap_add = 1,
		.compare = 2,
		.syndrome = 0x1f,
		.msn = 77,
		.original = 3,
		.imm = 0xcafe,
		.invalidate = 0xbeef,
		.len = o.payload ? len : 0,
	};
	size_t head;

	if (o.kind == WIRE_KIND_CNP)
		p.len = WIRE_CNP_BYTES;
	else if (!o.last)
		p.len = (len | 3u) + 1;
	else if (o.payload && !o.first && !len)
		p.len = 1;
	head = wire_build(&p, bytes);
	memset(bytes + head, o.kind == WIRE_KIND_CNP ? 0 : 0x5a, p.len);
	head = wire_seal(path, bytes, head + p.len);
	printf("%u %u %u %u %u\n", opcode, p.psn, p.dest_qpn, p.ack_req, p.len);
	return put_packet(f, path, bytes, head);
}

/* The head of a message of the connection manager: base version, class, class version, method, attribute. */
static int write_mad(FILE *f, const struct wire_path *path)
{
	uint8_t mad[WIRE_MAD_BYTES] = {1, 7, 2, 3, [17] = 0x10};
	uint8_t bytes[WIRE_MAX_PACKET];
	size_t len = wire_seal(path, bytes, wire_mad_build(mad, 0xffff, 5, bytes));

	printf("%u 5 1 0 %u\n", WIRE_UD | WIRE_SEND_ONLY, WIRE_MAD_BYTES);
	return put_packet(f, path, bytes, len);
}

static int write_all(FILE *f)
{
	static const uint32_t lens[] = {0, 1, 2, 3, 64, 1024, 4095};

	if (put_header(f))
		return -1;
	for (unsigned int path = 0; path < 2; path++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
			for (unsigned int opcode = 0; opcode < 256; opcode++) {
				if (wire_opcode((uint8_t)opcode).kind != WIRE_KIND_NONE &&
				    write_one(f, paths[path], (uint8_t)opcode, lens[i]))
					return -1;
			}
		}
		if (write_mad(f, paths[path]))
			return -1;
	}
	return 0;
}

/* The fields of IPv4 and UDP that a socket shows; the identification stays unknown. */
static struct wire_path path_of(const uint8_t *ip)
{
	struct wire_path path = {.src = {[10] = 0xff, [11] = 0xff},
				 .dst = {[10] = 0xff, [11] = 0xff},
				 .tclass = ip[1],
				 .hop_limit = ip[8],
				 .id_unknown = true};

	memcpy(path.src + 12, ip + 12, 4);
	memcpy(path.dst + 12, ip + 16, 4);
	path.sport = emu_get16(ip + WIRE_IPV4);
	path.dport = emu_get16(ip + WIRE_IPV4 + 2);
	return path;
}

static void read_one(const uint8_t *ip, size_t len)
{
	enum wire_drop drop = WIRE_DROP_ICRC;
	size_t head = WIRE_IPV4 + WIRE_UDP;
	struct wire_path path;
	struct wire_packet p;

	if (len < head || ip[0] != 0x45) {
		printf("not IPv4\n");
		return;
	}
	path = path_of(ip);
	if (wire_icrc_is_right(&path, ip + head, len - head))
		drop = wire_parse(ip + head, len - head, &p);
	if (drop != WIRE_ACCEPTED)
		printf("dropped: %s\n", wire_drop_words(drop));
	else
		printf("%u %u %u %u %u\n", p.opcode, p.psn, p.dest_qpn, p.ack_req, p.len);
}

/* scapy writes the numbers of the file in the order of the machine: little endian here. */
static uint32_t get_le32(const uint8_t *b)
{
	return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static int read_all(FILE *f)
{
	uint8_t head[PCAP_HEADER];
	uint8_t bytes[PCAP_SNAP];
	uint32_t len;

	if (fread(head, 1, sizeof(head), f) != sizeof(head) || get_le32(head) != PCAP_MAGIC)
		return -1;
	while (fread(head, 1, PCAP_RECORD, f) == PCAP_RECORD) {
		len = get_le32(head + 8);
		if (len > sizeof(bytes) || fread(bytes, 1, len, f) != len)
			return -1;
		read_one(bytes, len);
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool writes = argc == 3 && !strcmp(argv[1], "write");
	FILE *f;
	int error;

	if (!writes && (argc != 3 || strcmp(argv[1], "read") != 0)) {
		fprintf(stderr, "usage: wire_packets write FILE | wire_packets read FILE\n");
		return 2;
	}
	f = fopen(argv[2], writes ? "wb" : "rb");
	if (!f) {
		perror(argv[2]);
		return 1;
	}
	error = writes ? write_all(f) : read_all(f);
	if (fclose(f) || error) {
		fprintf(stderr, "wire_packets: cannot %s %s\n", argv[1], argv[2]);
		return 1;
	}
	return 0;
}
