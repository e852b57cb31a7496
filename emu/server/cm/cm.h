/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The connection manager: connections and service ID resolutions (SIDR) as state machines with
 * timers, retries and duplicates (IBA volume 1, 12.9; timeouts and answers as in the kernel's
 * drivers/infiniband/core/cm.c). It does not know rdma_cm ids, listeners, files or sockets: it
 * consumes and produces MADs, asks who listens, and reports events.
 *
 * One thread. No function calls back into the caller, except emu_cm_receive() and emu_cm_expire(),
 * which report events; a handler may call every function for every connection, also destroy.
 */
#ifndef EMU_CM_H
#define EMU_CM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/server/cm/mad.h"

struct emu_func;

/* An endpoint: what the kernel of a machine has. */
struct emu_cm;
/* A connection, or a service ID resolution, of one side. */
struct emu_cm_conn;

/* Where messages go and data will go, as the local side sees it. */
struct emu_cm_path {
	const struct emu_func *port; /* the local function; the CM does not look inside */
	uint8_t sgid[16], dgid[16];
	uint16_t pkey;
	uint8_t mtu;  /* enum ibv_mtu */
	uint8_t rate; /* enum ibv_rate */
	uint8_t sl, traffic_class, hop_limit;
	uint8_t packet_life_time; /* 4.096 us << n; the kernel's for RoCE is 16 */
	uint32_t flow_label;
};

enum emu_cm_state {
	EMU_CM_IDLE,
	EMU_CM_REQ_SENT,
	EMU_CM_REQ_RCVD,
	EMU_CM_MRA_REQ_SENT,
	EMU_CM_MRA_REQ_RCVD,
	EMU_CM_REP_SENT,
	EMU_CM_REP_RCVD,
	EMU_CM_MRA_REP_SENT,
	EMU_CM_MRA_REP_RCVD,
	EMU_CM_ESTABLISHED,
	EMU_CM_DREQ_SENT,
	EMU_CM_DREQ_RCVD,
	EMU_CM_TIMEWAIT,
	EMU_CM_SIDR_REQ_SENT,
	EMU_CM_SIDR_REQ_RCVD,
};

enum emu_cm_event_type {
	EMU_CM_REQ_ERROR,	  /* no answer to the REQ: unreachable */
	EMU_CM_REQ_RECEIVED,	  /* msg: the REQ; the connection is new and has no user */
	EMU_CM_REP_ERROR,	  /* no RTU after the REP */
	EMU_CM_REP_RECEIVED,	  /* msg: the REP */
	EMU_CM_RTU_RECEIVED,	  /* msg: the RTU */
	EMU_CM_USER_ESTABLISHED,  /* emu_cm_notify_established() was called before the RTU came */
	EMU_CM_DREQ_ERROR,	  /* no DREP after the DREQ; the connection is in timewait */
	EMU_CM_DREQ_RECEIVED,	  /* msg: the DREQ; answer it with a DREP */
	EMU_CM_DREP_RECEIVED,	  /* msg: the DREP; the connection is in timewait */
	EMU_CM_TIMEWAIT_EXIT,	  /* the queue pair may be used again */
	EMU_CM_MRA_RECEIVED,	  /* msg: the MRA */
	EMU_CM_REJ_RECEIVED,	  /* msg: the REJ */
	EMU_CM_SIDR_REQ_ERROR,	  /* no SIDR_REP: unreachable */
	EMU_CM_SIDR_REQ_RECEIVED, /* msg: the SIDR_REQ; the connection is new and has no user */
	EMU_CM_SIDR_REP_RECEIVED, /* msg: the SIDR_REP */
};

struct emu_cm_event {
	enum emu_cm_event_type type;
	/*
	 * As the peer wrote it, or NULL: private data in msg->data; responder_resources are the
	 * peer's, which limit our initiator depth.
	 */
	const struct emu_cm_msg *msg;
	const struct emu_cm_path *path; /* of the connection */
};

struct emu_cm_ops {
	/* Send; it must not call the CM before it returns. A message that cannot be sent is lost. */
	void (*send)(void *ctx, const struct emu_cm_path *path, const uint8_t mad[EMU_MAD_BYTES]);
	/* The monotonic clock in ms. */
	uint64_t (*now)(void *ctx);
	/* The next deadline changed: call emu_cm_expire() when now() is `when`. UINT64_MAX: never. */
	void (*wake)(void *ctx, uint64_t when);
	/* Does anything listen to this service ID here? If not, the CM rejects. */
	bool (*listens)(void *ctx, const struct emu_cm_path *path, uint64_t service_id);
	/*
	 * An event. Not 0: the CM destroys the connection, as emu_cm_conn_destroy() does, with no
	 * reject if it is -ENOMEM (the peer will retry).
	 */
	int (*event)(void *ctx, struct emu_cm_conn *c, const struct emu_cm_event *e);
	/* The node GUID of a function, which a REQ contains. */
	uint64_t (*guid)(void *ctx, const struct emu_func *port);
};

/* Messages by attribute (attribute ID - EMU_CM_REQ), as the kernel counts them in sysfs. */
struct emu_cm_counters {
	uint64_t sent[EMU_CM_ATTRS], retried[EMU_CM_ATTRS];
	uint64_t received[EMU_CM_ATTRS], duplicate[EMU_CM_ATTRS];
};

/* An endpoint, which lives as long as the server. NULL: no memory. `ops` must stay; each gets `ctx` first. */
struct emu_cm *emu_cm_new(const struct emu_cm_ops *ops, void *ctx);
/* Number connections from a random one on: a peer may remember those of an earlier endpoint. */
void emu_cm_number_from(struct emu_cm *cm, uint32_t id);
const struct emu_cm_counters *emu_cm_counters(const struct emu_cm *cm);

/* A connection in state IDLE. NULL: no memory. */
struct emu_cm_conn *emu_cm_conn_new(struct emu_cm *cm, void *user);
/*
 * Destroy: tell the peer once what the state demands (REJ before the connection is established, DREQ
 * after), and wait for no answer.
 */
void emu_cm_conn_destroy(struct emu_cm_conn *c);
void *emu_cm_user(const struct emu_cm_conn *c);
void emu_cm_set_user(struct emu_cm_conn *c, void *user);
enum emu_cm_state emu_cm_state(const struct emu_cm_conn *c);
const char *emu_cm_state_name(enum emu_cm_state s);
const struct emu_cm_path *emu_cm_path(const struct emu_cm_conn *c);

/* The rest of the interface. */
#include "emu/server/cm/cm_priv.h"
#include "emu/server/cm/send.h"

#endif
