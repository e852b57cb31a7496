/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One end of a reliable connection to a peer: its address and first packet. */
#ifndef DPUMAP_DEVICE_QUEUE_RC_END_H
#define DPUMAP_DEVICE_QUEUE_RC_END_H

#include <infiniband/verbs.h>

#include "device/gid.h"

#define DPUMAP_MIN_LOG_MTU 8u	      /* 256 bytes */
#define DPUMAP_MAX_LOG_MTU 12u	      /* 4096 bytes */
#define DPUMAP_QPN_LIMIT   (1u << 24) /* of queue pair numbers and packet sequence numbers */
#define DPUMAP_RNR_ENDLESS 7u	      /* attempts to send what the peer does not receive */

/* What the peer needs to connect to a queue pair. */
struct dpumap_qp_info {
	uint32_t qpn;
	uint32_t psn; /* of its first packet */
	uint16_t lid; /* on InfiniBand */
	uint8_t log_mtu;
	uint8_t max_reads; /* that it accepts at a time; not 0 */
	bool is_infiniband;
	uint8_t gid[DPUMAP_GID_SIZE]; /* on Ethernet */
};

struct dpumap_rc_end {
	const struct dpumap_device *device;
	const struct ibv_port_attr *port; /* must stay valid */
	struct ibv_gid_entry gid;	  /* on Ethernet */
	uint32_t psn;
	/* dpumap_rc_end_init() chooses the following; another choice is made before _describe(). */
	enum ibv_mtu max_mtu; /* that of the port */
	uint8_t sl;	      /* service level: 0 */
	uint8_t ack_timeout;  /* DPUMAP_ACK_TIMEOUT */
	uint8_t rnr_retry;    /* endless */
};

/* gid_index: DPUMAP_GID_ANY, or an address that dpumap_gid_check() has accepted. */
doca_error_t dpumap_rc_end_init(struct dpumap_rc_end *end, const struct dpumap_device *device,
				const struct ibv_port_attr *port, int gid_index);
void dpumap_rc_end_describe(const struct dpumap_rc_end *end, uint32_t qpn,
			    struct dpumap_qp_info *info);
/*
 * Take a queue pair from RESET to RTS. access: enum ibv_access_flags, what the peer may do. On
 * failure the state is RESET.
 */
doca_error_t dpumap_rc_end_connect(const struct dpumap_rc_end *end, struct ibv_qp *qp,
				   unsigned int access, const struct dpumap_qp_info *peer);
/* The MTU towards that peer. */
enum ibv_mtu dpumap_rc_end_mtu(const struct dpumap_rc_end *end, const struct dpumap_qp_info *peer);

#endif
