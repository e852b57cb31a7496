/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The commands of rdma_user_cm.h. Lengths are checked as in the kernel's ucma.c: the header says how
 * long the answer may be, and a command is read in full whatever the header says, except those that
 * have grown (CONNECT, ACCEPT).
 */
#ifndef EMU_UCMA_COMMAND_H
#define EMU_UCMA_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/ipc/proto.h"
#include "emu/ipc/rdma_cm.h"

struct emu_cma_file;

struct emu_cma_cmd {
	struct emu_cma_file *file;
	pid_t pid;
	uint64_t addr;		 /* of the command after its header, in the process */
	uint16_t in, out;	 /* lengths from the header */
	bool again;		 /* it was sent again after EMU_REPLY_LET_SEND */
	struct emu_reply *reply; /* the flags of what the process does besides, and their values */
};

/* A command: 0 or a negative errno. */
typedef int emu_cma_command(const struct emu_cma_cmd *c);

struct emu_cma_event;

/* Who watches what programs do; NULL: nobody. */
struct emu_cma_observer {
	/* After a command with a number of rdma_user_cm.h; `err` is 0 or a negative errno. */
	void (*command)(const struct emu_cma_cmd *c, uint32_t number, int err);
	/* An event begins to wait for its program. */
	void (*event)(const struct emu_cma_event *e);
};

extern const struct emu_cma_observer *emu_cma_observer;

/* Read the command, write an answer: 0 or -EFAULT. */
int emu_cma_in(const struct emu_cma_cmd *c, void *to, size_t len);
int emu_cma_out(const struct emu_cma_cmd *c, uint64_t to, const void *from, size_t len);

/* Before a command ends the connection of a queue pair: like emu_let_send(). */
int emu_cma_let_send(const struct emu_cma_cmd *c, uint32_t qpn);

/* Execute the process's request to `f`: 0 or a negative errno. */
int emu_cma_execute(struct emu_cma_file *f, pid_t pid, const struct emu_rdma_cm_request *q,
		    struct emu_reply *reply);

/* resolve.c */
emu_cma_command emu_cma_bind_ip, emu_cma_bind, emu_cma_resolve_ip, emu_cma_resolve_addr,
	emu_cma_resolve_route;
/* connect.c */
emu_cma_command emu_cma_listen, emu_cma_connect, emu_cma_accept_id, emu_cma_reject,
	emu_cma_disconnect, emu_cma_notify;
/* query.c */
emu_cma_command emu_cma_query_route, emu_cma_query, emu_cma_init_qp_attr;
/* option.c */
emu_cma_command emu_cma_set_option;
/* multicast.c */
emu_cma_command emu_cma_join_ip_mcast, emu_cma_join_mcast, emu_cma_leave_mcast;

#endif
