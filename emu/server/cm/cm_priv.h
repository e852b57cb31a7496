/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The objects of the connection manager, for the files that implement it. */
#ifndef EMU_CM_CM_PRIV_H
#define EMU_CM_CM_PRIV_H

#include <stdint.h>
#include <sys/queue.h>

#include "emu/server/cm/cm.h"
#include "emu/server/cm/mad.h"

#define EMU_CM_ACK_DELAY 16 /* local_ca_ack_delay of the functions: uverbs/device.c */

struct emu_cm_conn {
	struct emu_cm *cm;
	void *user;
	enum emu_cm_state state;
	struct emu_cm_path path;
	uint64_t service_id, tid;
	uint32_t local_id, remote_id;
	uint32_t local_qpn, remote_qpn, sq_psn, rq_psn;
	uint64_t remote_guid;
	uint8_t qp_type, responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t ack_timeout; /* 4.096 us << n */
	uint8_t max_retries, service_timeout;
	unsigned int timeout; /* ms until a request is sent again */

	uint8_t request[EMU_MAD_BYTES]; /* waits for an answer */
	unsigned int retries;		/* how often it can be sent again */
	unsigned int wait;	      /* ms between attempts: `timeout`, or what an MRA asked for */
	uint8_t reply[EMU_MAD_BYTES]; /* for a request that arrives again */
	bool user_established;	      /* the event has still to be reported */

	bool timed; /* in cm->timed */
	uint64_t deadline;
	TAILQ_ENTRY(emu_cm_conn) timed_link;
	LIST_ENTRY(emu_cm_conn) link;
	bool in_remote_ids, in_remote_qpns, in_sidrs;
};

struct emu_cm {
	const struct emu_cm_ops *ops;
	void *ctx;
	struct emu_cm_counters counters;
	uint32_t last_id;
	uint64_t announced; /* the argument of the last ops->wake() */
	LIST_HEAD(emu_cm_conns, emu_cm_conn) conns;
	TAILQ_HEAD(emu_cm_timed, emu_cm_conn) timed; /* by deadline */
	/*
	 * Trees of tsearch(): by communication ID, by node GUID and the peer's ID, by node GUID and
	 * the peer's queue pair; SIDR requests by the peer's ID and GID.
	 */
	void *local_ids, *remote_ids, *remote_qpns, *sidrs;
};

/* ms of a time in units of 4.096 us << n, as the kernel rounds it. */
unsigned int emu_cm_ms(uint8_t n);
/* The local ACK timeout from the target's delay and the packet life time. */
uint8_t emu_cm_ack_timeout(uint8_t delay, uint8_t life_time);

/* NULL: none, or it talks to another peer's connection. remote_id 0: it does not know its peer's yet. */
struct emu_cm_conn *emu_cm_find(struct emu_cm *cm, uint32_t local_id, uint32_t remote_id);
struct emu_cm_conn *emu_cm_find_remote_id(struct emu_cm *cm, uint64_t guid, uint32_t remote_id);
struct emu_cm_conn *emu_cm_find_remote_qpn(struct emu_cm *cm, uint64_t guid, uint32_t qpn);
struct emu_cm_conn *emu_cm_find_sidr(struct emu_cm *cm, uint32_t remote_id, const uint8_t dgid[16]);
/* Insert by what the connection knows of its peer. -ENOMEM. */
int emu_cm_insert_remote(struct emu_cm_conn *c);
int emu_cm_insert_sidr(struct emu_cm_conn *c);
void emu_cm_remove(struct emu_cm_conn *c);

/* The transaction ID of a connection's own requests; an answer has its request's. */
uint64_t emu_cm_own_tid(const struct emu_cm_conn *c);
/* Report an event. The handler may destroy the connection: do not touch it afterwards. */
void emu_cm_report(struct emu_cm_conn *c, enum emu_cm_event_type type, const struct emu_cm_msg *m);
/* Free it without a message. */
void emu_cm_discard(struct emu_cm_conn *c);

/* The attributes of the queue pair of a connection. */
struct emu_cm_conn;
struct ib_uverbs_qp_attr;

/*
 * The attributes by which the connection's queue pair reaches `state` (enum ibv_qp_state: INIT,
 * RTR, RTS), as the kernel's ib_cm_init_qp_attr(). Sets qp_attr_mask; the caller sets port_num,
 * pkey_index and sgid_index, which the CM does not know, and the access flags are the kernel's.
 * -EINVAL: the connection's state has no answer.
 */
int emu_cm_qp_attr(const struct emu_cm_conn *c, uint8_t state, struct ib_uverbs_qp_attr *a);

/* What arrives. */
struct emu_cm;
struct emu_cm_path;

/* A message arrived. `path` is the receiver's: sgid and port are the local ones. */
void emu_cm_receive(struct emu_cm *cm, const struct emu_cm_path *path,
		    const uint8_t mad[static EMU_MAD_BYTES]);

/* Deadlines of connections: retries, timewait, and events that wait for the next turn. */

/* Handle all deadlines that passed. */
void emu_cm_expire(struct emu_cm *cm);

/* For the files of the connection manager. */
void emu_cm_set_deadline(struct emu_cm_conn *c, unsigned int ms);
void emu_cm_clear_deadline(struct emu_cm_conn *c);
void emu_cm_enter_timewait(struct emu_cm_conn *c);
void emu_cm_reset_to_idle(struct emu_cm_conn *c);
/* The request was answered: stop its retries. */
void emu_cm_answered(struct emu_cm_conn *c);

#endif
