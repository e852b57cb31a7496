/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a connection sends, and in which states. */
#ifndef EMU_CM_SEND_H
#define EMU_CM_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/server/cm/mad.h"

struct emu_cm_conn;
struct emu_cm_path;

struct emu_cm_req_param {
	uint64_t service_id;
	uint32_t qpn, psn;
	uint8_t qp_type; /* enum ibv_qp_type: RC, UC or XRC_SEND */
	uint8_t responder_resources, initiator_depth;
	uint8_t flow_control, retry_count, rnr_retry_count, srq;
	uint8_t local_response_timeout, remote_response_timeout; /* 4.096 us << n; kernel: 20 */
	uint8_t max_cm_retries;					 /* kernel: 15 */
	uint32_t ece_vendor_id, ece_attr_mod;
};

struct emu_cm_rep_param {
	uint32_t qpn, psn;
	uint8_t responder_resources, initiator_depth;
	uint8_t failover, flow_control, rnr_retry_count, srq;
	uint32_t ece_vendor_id, ece_attr_mod;
};

struct emu_cm_sidr_rep_param {
	enum emu_cm_sidr_status status;
	uint32_t qpn, qkey;
	uint32_t ece_vendor_id, ece_attr_mod;
};

/*
 * Send a message. `data` of `len` bytes is its private data; the rest of the field is 0.
 * -EINVAL: the state does not permit the message, or `len` exceeds the message's private data.
 * No function fails because the peer cannot be reached; that is an event.
 */
int emu_cm_send_req(struct emu_cm_conn *c, const struct emu_cm_path *path,
		    const struct emu_cm_req_param *p, const void *data, size_t len);
int emu_cm_send_rep(struct emu_cm_conn *c, const struct emu_cm_rep_param *p, const void *data,
		    size_t len);
int emu_cm_send_rtu(struct emu_cm_conn *c, const void *data, size_t len);
/*
 * In the states before ESTABLISHED; the connection is IDLE afterwards (TIMEWAIT after a REP).
 * `info`: additional information.
 */
int emu_cm_send_rej(struct emu_cm_conn *c, enum emu_cm_reason reason, const void *info,
		    size_t info_len, const void *data, size_t len);
/* `timeout`: 4.096 us << n until the answer at the latest. delay: send it only when the request arrives again. */
int emu_cm_send_mra(struct emu_cm_conn *c, uint8_t timeout, bool delay, const void *data,
		    size_t len);
int emu_cm_send_dreq(struct emu_cm_conn *c, const void *data, size_t len);
int emu_cm_send_drep(struct emu_cm_conn *c, const void *data, size_t len);
/*
 * IB_EVENT_COMM_EST: data arrived before the RTU. -EISCONN: already established. The event follows
 * from emu_cm_expire().
 */
int emu_cm_notify_established(struct emu_cm_conn *c);
/* timeout_ms: until the next attempt. */
int emu_cm_send_sidr_req(struct emu_cm_conn *c, const struct emu_cm_path *path, uint64_t service_id,
			 unsigned int timeout_ms, uint8_t max_cm_retries, const void *data,
			 size_t len);
int emu_cm_send_sidr_rep(struct emu_cm_conn *c, const struct emu_cm_sidr_rep_param *p,
			 const void *data, size_t len);

#endif
