/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages between the interposing library and the emulator's server.
 *
 * An open of /dev/infiniband/uverbsN is a connection to the socket of that function: the connected
 * descriptor *is* the character device. Its open file description lives exactly as long as a real
 * one would (dup, fork, SCM_RIGHTS), and its end is the end of the kernel context.
 *
 * Several processes may hold that description, so no answer can travel on it. A process that uses
 * it sends EMU_OP_ATTACH with one end of a socket pair; its commands then go over that pair, one
 * request and one reply at a time. Threads that use it at the same time have a pair each. The
 * server reads and writes the caller's memory itself (process_vm_readv and _writev), as a kernel does
 * with copy_from_user and copy_to_user.
 *
 * All sockets are SOCK_SEQPACKET: one message, one packet. Both ends run on the same machine.
 *
 * Each message begins with EMU_MAGIC. That of another build begins with another number, and its length is not
 * known: the server answers with a struct emu_reply of its own, and the client compares nothing but the number.
 */
#ifndef EMU_PROTO_H
#define EMU_PROTO_H

#include <stdint.h>

#define EMU_MAGIC    0x64706d62u /* changes with every change of the messages or of shm.h */
#define EMU_ENV_DIR  "DPUMAP_EMU_DIR"
#define EMU_ENV_ROLE "DPUMAP_EMU_ROLE"
#define EMU_ENV_WIRE "DPUMAP_EMU_WIRE"
#define EMU_ENV_CPUS "DPUMAP_EMU_CPUS"
#define EMU_PATH_MAX 104 /* of a socket's path: a bit less than sizeof sun_path */
#define EMU_MAX_FDS  4

enum emu_op {
	EMU_OP_ATTACH = 1, /* + the server's end of the pair; arg[0] = address of 8 bytes, arg[1] =
			      their value, the client's own number in the lower half, arg[2] =
			      inode of the client's socket */
	/*
	 * arg[0] = address of struct ib_uverbs_ioctl_hdr; in a struct emu_packet, which may include the bytes there;
	 * arg[1] = sent again after EMU_REPLY_LET_SEND, arg[2] = address of what EMU_REPLY_MAP wanted
	 */
	EMU_OP_IOCTL,
	EMU_OP_MMAP, /* arg[0] = offset, arg[1] = length, arg[2] = protection */
	EMU_OP_ENGINE, /* val[0] = slot, val[1] = inode of the doorbell pages; + tables, queues, dm, notify socket */
	/* On the control socket: */
	EMU_OP_HOLD,   /* keep the server alive while this connection lives */
	EMU_OP_STATUS, /* then a packet with the descriptor of a text: JSON */
	EMU_OP_STOP,
	EMU_OP_FAULT, /* struct emu_fault_request; val = what the previous rules saw and failed */
	EMU_OP_PING,  /* answered without an effect; on a channel: while the file is open */
	EMU_OP_TRACE, /* struct emu_trace_request; then text until the connection ends */
	EMU_OP_PORT,  /* struct emu_port_request; val = see emu_port_request() */
	EMU_OP_CHAOS, /* arg[0] = seed; when the connection ends, all faults are removed */
	/*
	 * struct emu_capture_request; then a packet with the descriptor of a struct emu_ring, in which pcapng
	 * follows, and a packet of a byte for each block there
	 */
	EMU_OP_CAPTURE,
	EMU_OP_CAPTURED, /* all packets so far are in the ring when this is answered */
	EMU_OP_COUNTERS, /* the files of the counters show the numbers of now */
};

struct emu_request {
	uint32_t magic;
	uint32_t op;
	uint64_t arg[3];
};

/* The header of an ioctl with all its attributes; if longer, the server reads them itself. */
#define EMU_HEAD_MAX 280

struct emu_packet {
	struct emu_request req;
	uint8_t head[EMU_HEAD_MAX];
};

enum emu_rule_kind {
	EMU_RULE_NONE,	     /* remove all rules, and revive dead devices */
	EMU_RULE_COMMAND,    /* commands whose names match `method` fail */
	EMU_RULE_COMPLETION, /* apply `action` to completions without error */
	EMU_RULE_MEMORY,     /* a card has only `amount` bytes of device memory left */
	EMU_RULE_DEVICE,     /* the device dies, now */
	EMU_RULE_PORT,	     /* the port goes down, now */
	EMU_RULE_PARTITION,  /* `role` and `peer` do not reach each other */
	EMU_RULE_QUEUE,	     /* the packets of a QP are lost, delayed or refused */
	EMU_RULE_GID,	     /* the port loses its IP addresses, now */
	EMU_RULE_NEIGHBOUR,  /* no neighbour answers: the resolution of addresses waits */
	EMU_RULE_DATA,	     /* bytes change while they are moved */
};

#define EMU_FAULT_WORDS 160

/* Applies to `count` commands, completions or bytes from the `nth` on, counted from now. */
struct emu_fault_request {
	struct emu_request req;
	uint32_t kind;
	uint32_t errnum;   /* COMMAND: or 0, then use `status` */
	uint32_t status;   /* COMMAND: the firmware's, with `syndrome` */
	uint32_t syndrome; /* COMMAND, COMPLETION */
	uint32_t action;   /* COMPLETION: enum emu_cqe_action; QUEUE: enum emu_qp_fault */
	uint32_t off;	   /* end this fault instead */
	uint64_t
		nth; /* QUEUE: the n-th QP in existence; after the last one, counting starts again */
	uint64_t count;
	uint64_t amount; /* COMPLETION, QUEUE: delay in microseconds; MEMORY: bytes */
	uint32_t qpn;	 /* QUEUE: or 0, then use `nth` */
	uint32_t pad;
	char role[16]; /* only on functions of this role; empty: on all. PARTITION: or "nodeN" */
	char peer[16]; /* PARTITION: as `role`; empty: all others */
	char method[64];
	char words[EMU_FAULT_WORDS]; /* as the user wrote them, for the trace */
};

#define EMU_ANY_DEV UINT32_MAX

enum emu_port_action {
	EMU_PORT_GID_ADD = 1,
	EMU_PORT_GID_DEL,
	EMU_PORT_DOWN,
	EMU_PORT_UP,
	EMU_PORT_LID,
	EMU_PORT_SM,
	EMU_PORT_PKEY,
	EMU_PORT_REREGISTER,
	EMU_PORT_SPEED,
};

/* A change of a GID table, or of the ports of one or all functions. */
struct emu_port_request {
	struct emu_request req;
	uint32_t action;
	uint32_t dev;  /* N of mlx5_N, or EMU_ANY_DEV */
	int32_t index; /* of a GID or P_Key; -1: any */
	uint32_t type; /* the GID's version of RoCE; 0: any or, when it is added, both */
	uint32_t vlan;
	uint32_t value;	 /* LID, P_Key, or Gb/s of each lane */
	char role[16];	 /* empty: all */
	uint8_t raw[16]; /* the GID; GID_DEL: zero means any */
};

struct emu_capture_request {
	struct emu_request req;
	uint32_t what;	  /* enum emu_capture_of */
	uint32_t qpn;	  /* only packets of this QP; 0: all */
	char role[16];	  /* only at ports of this function; empty: all */
	uint8_t peer[16]; /* only from and to this address, as a GID; zero: all */
};

enum emu_trace_flag {
	EMU_TRACE_ADDRESSES = 1u << 0,
	EMU_TRACE_ERRORS = 1u << 1, /* only what failed */
	EMU_TRACE_TIME = 1u << 2,
};

struct emu_trace_request {
	struct emu_request req;
	uint32_t flags;
	char role[16]; /* only lines of this function or machine; empty: all */
};

enum emu_reply_flag {
	/* The command needs this process's engine: start it (EMU_OP_ENGINE), then send it again. */
	EMU_REPLY_ENGINE = 1u << 0,
	/* The packet has a descriptor: store its number at address val[0], val[1] bytes wide. */
	EMU_REPLY_STORE_FD = 1u << 1,
	/* MMAP: of the file of doorbell pages. */
	EMU_REPLY_DOORBELL = 1u << 2,
	/* The command ends QP val[0]: wait until what was rung before it is done, then send it again. */
	EMU_REPLY_LET_SEND = 1u << 3,
	/* The event tells of a connection's end: the engine makes a pass before the program sees it. */
	EMU_REPLY_LET_PASS = 1u << 4,
	/* A queue's memory is in dma-bufs: map them (struct emu_map), then send the command again with the address. */
	EMU_REPLY_MAP = 1u << 5,
	/* The queue is gone: unmap val[1] bytes at val[0]. */
	EMU_REPLY_UNMAP = 1u << 6,
};

/*
 * val of EMU_REPLY_MAP: the ring's dma-buf and the doorbell record's, each of which is -1 if there is none. They are
 * mapped by whole pages, the page of the doorbell record behind those of the ring.
 */
struct emu_map {
	int32_t ring_fd, dbr_fd;
	uint64_t ring_offset, ring_len, dbr_offset;
};

#define EMU_MAP_PAGE 4096u

/* The length of the ring's pages, */
static inline uint64_t emu_map_ring_len(const struct emu_map *m)
{
	const uint64_t end = m->ring_offset % EMU_MAP_PAGE + m->ring_len;

	return m->ring_fd < 0 ? 0 : (end + EMU_MAP_PAGE - 1) / EMU_MAP_PAGE * EMU_MAP_PAGE;
}

/* and of all. */
static inline uint64_t emu_map_len(const struct emu_map *m)
{
	return emu_map_ring_len(m) + (m->dbr_fd < 0 ? 0 : EMU_MAP_PAGE);
}

struct emu_reply {
	uint32_t magic;
	int32_t error; /* 0 or an errno */
	uint32_t flags;
	uint32_t nfds;
	uint64_t val[4]; /* MMAP: val[0] = offset in the packet's descriptor */
};

_Static_assert(sizeof(struct emu_map) == sizeof(((struct emu_reply *)0)->val), "it is sent there");

#define EMU_STATUS_MAX 32768

#endif
