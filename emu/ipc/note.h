/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The notes that an engine sends to the server. */
#ifndef EMU_IPC_NOTE_H
#define EMU_IPC_NOTE_H

#include <stdint.h>

#include "emu/ipc/limits.h"
#include "emu/ipc/message.h"

/*
 * A message of an engine to the server, one per datagram on its notify socket, without an answer.
 */
enum emu_note_type {
	EMU_NOTE_COMP = 1,	 /* completion event of CQ `number` */
	EMU_NOTE_QP = 2,	 /* async event `event` (enum ibv_event_type) of QP `number` */
	EMU_NOTE_CQ_ERR = 3,	 /* CQ `number` was overrun */
	EMU_NOTE_UMR = 4,	 /* QP `number` posted an emu_umr */
	EMU_NOTE_SRQ = 5,	 /* async event `event` of SRQ `number` */
	EMU_NOTE_WR = 6,	 /* struct emu_note_wr */
	EMU_NOTE_PACKET = 7,	 /* struct emu_note_packet */
	EMU_NOTE_PAGE_FAULT = 8, /* QP `number` posted a page fault of side `event` */
	EMU_NOTE_KEY = 9,	 /* QP `number` asks for the DEK `event` */
	EMU_NOTE_DC_WIRE = 10,	 /* DCI `number` has addressed another emulator, or a card */
	EMU_NOTE_DC_KEY = 11,	 /* a request to DCT `number` had another key */
};

struct emu_note {
	uint32_t type;
	uint32_t number;
	uint32_t serial; /* of the QP or CQ, so that a late note is ignored */
	uint32_t event;
};

/* A finished work request, sent while a client traces: another record of that socket. */
#define EMU_TRACE_SGES 4

struct emu_note_wr {
	struct emu_note note; /* of the QP */
	uint8_t opcode;
	uint8_t opmod;
	uint8_t flags; /* fm_ce_se */
	uint8_t syndrome;
	uint8_t nsge;
	uint32_t imm;
	uint32_t rkey;
	uint32_t lost; /* records before this one that could not be sent */
	uint64_t raddr;
	uint64_t len;
	uint64_t operand[2];
	struct emu_sge sge[EMU_TRACE_SGES];
};

/* A packet, sent while a client captures: one more record of that socket. */
#define EMU_PACKET_MAX 4144u /* the longest RoCEv2 packet without IP and UDP headers */

enum emu_packet_flag {
	EMU_PACKET_SENT = 1u << 0,  /* by the queue pair of the note; else it received it */
	EMU_PACKET_LOCAL = 1u << 1, /* what a transfer within this emulator would have been */
	EMU_PACKET_WR = 1u << 2,    /* it belongs to the work request `work`, `wqe`, `total` */
	EMU_PACKET_BLANK = 1u << 3, /* its payload could not be read, and is zeros here */
	EMU_PACKET_MAY_FRAGMENT = 1u << 4, /* IPv4: without the flag "don't fragment" */
};

/* Only the first `kept` of `bytes` are sent. */
struct emu_note_packet {
	struct emu_note note; /* of the QP, or of number 0 */
	uint64_t time;	      /* ns since 1970 */
	uint64_t total;	      /* bytes of the message */
	uint32_t flags;	      /* enum emu_packet_flag */
	uint32_t lost;	      /* packets before this one that could not be sent */
	uint32_t left_out;    /* packets of the message after this one that are not shown */
	uint32_t func;	      /* whose port has sent or received it */
	uint32_t peer_func;   /* LOCAL: the other function, or EMU_NOWHERE: a group */
	uint16_t wqe; /* as completions name it: index of its first block in the send ring */
	uint8_t work; /* enum wire_work */
	uint8_t drop; /* enum wire_drop */
	uint8_t src[16], dst[16]; /* as GIDs */
	uint16_t sport, dport;
	uint16_t id; /* of IPv4 */
	uint8_t tclass, hop_limit;
	uint32_t flow_label;
	uint32_t len; /* of the UDP payload */
	uint32_t kept;
	uint8_t bytes[EMU_PACKET_MAX];
};

/*
 * A message of the server to an engine, on the same socket: how to send and receive as an endpoint.
 * With it come the descriptors (SCM_RIGHTS) of a UDP socket bound to the endpoint's address and port
 * 4791, which receives the packets of this engine's queue pairs and no others, and of `nports` sockets that
 * only send, in the order of `port`. It arrives before a queue pair of the engine has a route by
 * the endpoint.
 */
struct emu_endpoint_fds {
	uint32_t endpoint; /* index in emu_tables.endpoint */
	uint32_t nports;
	uint16_t port[EMU_WIRE_PORTS];
};

/*
 * The second message of the server: how to report the completion events of a CQ without it. With it comes the
 * descriptor of the writing end of the CQ's completion channel, which takes `element` for each event.
 */
struct emu_channel_fd {
	uint32_t cqn;
	uint32_t serial;
	uint64_t element;
};

/* The third message of the server: the answer to EMU_NOTE_KEY. It is a secret: its sender and its receiver wipe it. */
struct emu_key_given {
	uint32_t qpn;
	uint32_t qp_serial;
	uint32_t dek;
	uint32_t serial;
	uint8_t bytes; /* 0: the queue pair may not use it */
	uint8_t raw[32];
};

#endif
