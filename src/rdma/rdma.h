/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_rdma: rdma.c has the object, settings.c its properties, caps.c the capabilities of devices,
 * connection.c the connections, task.c and task_*.c the functions of users on tasks, prepare.c checks
 * tasks, submit.c posts them, complete.c completes them, wind_down.c flushes what is left.
 *
 * All connections of a context share one queue (device/queue/rdma_queue.h), so that polling many costs
 * as much as polling one. Each connection executes its tasks in the order of a list; a task that cannot
 * be posted keeps its place in it. Finished tasks of all connections are in one list until their
 * callbacks have run. Receives are not in lists: the device takes them in posting order.
 */
#ifndef DPUMAP_RDMA_RDMA_H
#define DPUMAP_RDMA_RDMA_H

#include <doca_rdma.h>

#include "core/buf/list.h"
#include "core/pe/task_pool.h"
#include "device/queue/details.h"
#include "device/queue/rdma_qp.h"
#include "rdma/address.h"

struct dpumap_cm;
struct dpumap_cm_id;
struct rdma_listener;

enum rdma_kind {
	RDMA_RECEIVE,
	RDMA_SEND,
	RDMA_SEND_IMM,
	RDMA_READ,
	RDMA_WRITE,
	RDMA_WRITE_IMM,
	RDMA_CMP_SWP,
	RDMA_FETCH_ADD,
	RDMA_EVENT_GET,
	RDMA_EVENT_SET,
	RDMA_EVENT_ADD,
	RDMA_NUM_KINDS,
};

struct rdma_task {
	struct doca_task base;
	enum rdma_kind kind;
	/* What the program set. A receive has only dst. */
	struct doca_rdma_connection *connection;
	const struct doca_buf *src;
	struct doca_buf *dst, *result;
	const struct doca_sync_event_remote_net *event;
	uint64_t operand; /* to add, or to compare with */
	uint64_t swap;
	doca_be32_t imm;
	/* What the task moves: bytes of the local list, and their place in the memory of the peer. */
	const struct doca_buf *local;
	size_t len;
	uint32_t peer_key;
	uint64_t peer_addr;
	bool is_posted; /* or it failed */
	uint32_t end;	/* number of the next work request of the connection after its own */
	/* Results. */
	uint32_t result_len;
	doca_be32_t result_imm;
	enum doca_rdma_opcode opcode;
	struct doca_rdma_connection *result_connection;
};

enum rdma_connection_state {
	RDMA_EXPORTED,	 /* by doca_rdma_export(), not connected yet */
	RDMA_REQUESTED,	 /* by a client: the program accepts or rejects it */
	RDMA_CONNECTING, /* by address */
	RDMA_CONNECTED,
	RDMA_DISCONNECTING, /* by this process; the event of the connection manager follows */
	RDMA_ENDED,	    /* it never connects again */
};

struct doca_rdma_connection {
	struct doca_rdma *rdma;
	enum rdma_connection_state state;
	uint32_t id;
	union doca_data user_data;
	bool is_draining;	    /* ended, but the device did not destroy the queue pair */
	bool is_used;		    /* while objects are swept: by a task */
	uint32_t end_number;	    /* of a connection that ended: in the order of their ends */
	bool is_bridged;	    /* the program handles the events of its id */
	struct dpumap_cm_id *cm_id; /* NULL if the connection was exported, or has ended */
	struct doca_rdma_addr addr; /* of a connection by address */
	struct doca_rdma_addr *peer_addr; /* of the program, in use while it connects; or NULL */
	struct dpumap_rdma_qp *qp;	  /* NULL once the connection has ended */
	bool reports_end; /* by a state callback: its failed tasks do not stop the context */
	struct task_list submitted;
	struct rdma_task *waiting; /* the first of them that is not posted */
	uint32_t completed;	   /* work requests */
	struct doca_rdma_connection *next;
	struct doca_rdma_connection *next_waiting; /* of those with a waiting task */
	uint8_t details[RDMA_DETAILS_SIZE];
};

/* A callback of any type; it is called as its own type. */
typedef void rdma_callback(void);

/* The tasks of one kind. */
struct rdma_pool {
	struct task_pool pool;
	rdma_callback *success, *error;
};

/* What the program has set while the context was IDLE. */
struct rdma_settings {
	uint32_t access; /* mask of enum doca_access_flag */
	int gid_index;	 /* or DPUMAP_GID_ANY */
	uint32_t send_queue_size;
	uint32_t max_send_list;	   /* bufs of the local list of a task */
	uint32_t max_receive_list; /* bufs of a receive */
	uint16_t max_connections;
	uint16_t request_timeout_ms;
	uint8_t log_mtu; /* in bytes; 0: the largest that both ports have */
	uint8_t service_level;
	uint8_t rnr_retries;
};

struct rdma_callbacks {
	doca_rdma_connection_request_cb_t request;
	doca_rdma_connection_established_cb_t established;
	doca_rdma_connection_failure_cb_t failure;
	doca_rdma_connection_disconnection_cb_t disconnection;
};

struct doca_rdma {
	struct doca_ctx ctx;
	struct rdma_settings settings;
	struct rdma_callbacks callbacks; /* each may be NULL */
	struct rdma_pool pools[RDMA_NUM_KINDS];

	struct dpumap_events *events; /* this and the following while the context is not IDLE */
	struct dpumap_rdma_queue *queue;
	uint32_t max_len;     /* of a message */
	uint32_t num_unended; /* tasks submitted to connections and not finished */
	struct task_list finished;
	struct doca_rdma_connection *waiting; /* those with a waiting task */
	bool is_fast;			      /* no cm, and not is_stopping */
	bool is_stopping;		      /* it stops: tasks are flushed once it is time */
	bool is_flushed;		      /* the device executes nothing any more */
	int timer;			      /* for that time; -1 without */
	uint16_t num_connections;
	uint32_t num_draining; /* connections that ended, but the device did not destroy them */
	uint32_t num_ended;    /* objects of connections that ended */
	uint32_t next_end;     /* number of the next connection that ends */
	uint8_t log_mtu;       /* of the last connection; 0 before one */

	struct dpumap_cm *cm; /* NULL before the first use of an address */
	struct rdma_listener *listeners;
	uint64_t polled_ms; /* the clock when the manager was polled */
	uint32_t calls;	    /* of progress since then */
	bool poll_now;

	uint32_t next_id;
	struct doca_rdma_connection *connections;
};

static inline struct doca_rdma *dpumap_rdma_of(const struct doca_ctx *ctx)
{
	return (struct doca_rdma *)ctx;
}

/* The properties of a context of doca_rdma. */
void dpumap_rdma_settings_init(struct rdma_settings *settings, const struct dpumap_caps *caps);

/* The queue that all connections of a context share. */

/* Create the queue of a context that starts. dpumap_rdma_close_queue() destroys it. */
doca_error_t dpumap_rdma_open_queue(struct doca_rdma *rdma);
/* How many work requests, and pieces in each, one connection has in the queue at a time. */
uint32_t dpumap_rdma_queue_depth(const struct doca_rdma *rdma);

#endif
