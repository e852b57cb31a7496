/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests about /dev/infiniband/rdma_cm, on the socket "rdma_cm" in the directory of a role.
 *
 * An open of the device is the reading end of a FIFO whose writing end the server has. So it can be
 * polled: the server keeps as many bytes in it as events wait. A write() to it fails with EBADF, and only
 * then the shim asks whether the file is ours. Its last close() is the end of the file for the server.
 *
 * A process has a few connections to the socket, each for one request and its answer at a time. A request
 * names the open file by its device and inode. The server reads the command in the caller's memory.
 */
#ifndef EMU_IPC_RDMA_CM_H
#define EMU_IPC_RDMA_CM_H

#include <stdint.h>

#define EMU_RDMA_CM_NAME "rdma_cm"
#define EMU_RDMA_CM_FIFO "rdma_cm-" /* the names of the FIFOs, with a number */
/* A misc device: its major number, and the minor one that it has here. */
#define EMU_RDMA_CM_MAJOR 10u
#define EMU_RDMA_CM_MINOR 122u

enum emu_rdma_cm_op {
	EMU_RDMA_CM_OPEN = 0x100, /* answer: + the reading end */
	EMU_RDMA_CM_WRITE,	  /* EBADF: not our file; EAGAIN: no event waits */
};

/* The answer is a struct emu_reply (proto.h). */
struct emu_rdma_cm_request {
	uint32_t magic; /* EMU_MAGIC */
	uint32_t op;
	uint64_t dev, ino;
	uint64_t addr, len; /* of the command in the caller's memory */
	uint64_t again;	    /* sent again after EMU_REPLY_LET_SEND */
};

#endif
