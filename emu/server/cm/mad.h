/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages of the connection manager as management datagrams (MADs) of 256 bytes: IBA volume 1,
 * 12.6 (fields) and 13.4.3 (header). Pure: bytes to fields and back.
 */
#ifndef EMU_CM_MAD_H
#define EMU_CM_MAD_H

#include <stddef.h>
#include <stdint.h>

#define EMU_MAD_BYTES	     256
#define EMU_CM_MAX_PRIVATE   224 /* RTU and DREP */
#define EMU_CM_MAX_INFO	     72	 /* ARI of a REJ, information of an APR or a SIDR_REP */
#define EMU_CM_CLASS	     0x07
#define EMU_CM_CLASS_VERSION 2

/* Attribute IDs. */
enum emu_cm_attr {
	EMU_CM_REQ = 0x10,
	EMU_CM_MRA,
	EMU_CM_REJ,
	EMU_CM_REP,
	EMU_CM_RTU,
	EMU_CM_DREQ,
	EMU_CM_DREP,
	EMU_CM_SIDR_REQ,
	EMU_CM_SIDR_REP,
	EMU_CM_LAP,
	EMU_CM_APR,
};

#define EMU_CM_ATTRS (EMU_CM_APR - EMU_CM_REQ + 1)

/* Which message an MRA or a REJ answers. */
enum emu_cm_answered { EMU_CM_OF_REQ, EMU_CM_OF_REP, EMU_CM_OF_OTHER };

/* Reasons of a REJ (table 109). */
enum emu_cm_reason {
	EMU_CM_REJ_NO_QP = 1,
	EMU_CM_REJ_NO_RESOURCES = 3,
	EMU_CM_REJ_TIMEOUT = 4,
	EMU_CM_REJ_UNSUPPORTED = 5,
	EMU_CM_REJ_INVALID_COMM_ID = 6,
	EMU_CM_REJ_INVALID_SERVICE_ID = 8,
	EMU_CM_REJ_INVALID_TRANSPORT_TYPE = 9,
	EMU_CM_REJ_STALE_CONN = 10,
	EMU_CM_REJ_INVALID_GID = 12,
	EMU_CM_REJ_CONSUMER_DEFINED = 28,
	EMU_CM_REJ_DUPLICATE_LOCAL_COMM_ID = 30,
	EMU_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED = 35,
};

/* Status of a SIDR_REP. */
enum emu_cm_sidr_status {
	EMU_CM_SIDR_SUCCESS,
	EMU_CM_SIDR_UNSUPPORTED,
	EMU_CM_SIDR_REJECT,
	EMU_CM_SIDR_NO_QP,
};

/* An address vector of a REQ or a LAP. LIDs are 0 on Ethernet. */
struct emu_cm_av {
	uint16_t local_lid, remote_lid;
	uint8_t local_gid[16], remote_gid[16];
	uint32_t flow_label;
	uint8_t rate, traffic_class, hop_limit, sl, subnet_local, ack_timeout;
};

/*
 * A message in host byte order. A field has a meaning only in the messages that contain it; the
 * decoder leaves the others 0, the encoder ignores them.
 */
struct emu_cm_msg {
	enum emu_cm_attr attr;
	uint64_t tid;
	uint32_t attr_mod; /* vendor's attributes (ECE) */
	uint32_t local_id,
		remote_id; /* communication IDs as the sender sees them; local_id of a SIDR: request ID */
	uint64_t service_id;
	uint64_t ca_guid;
	uint32_t vendor_id; /* ECE */
	uint32_t qkey, qpn, remote_qpn, psn;
	uint32_t eecn; /* REP: the queue pair of an XRC target, instead of qpn */
	uint8_t responder_resources, initiator_depth;
	uint8_t remote_response_timeout, local_response_timeout; /* 4.096 us << n */
	uint8_t transport, extended_transport;
	uint8_t flow_control, retry_count, rnr_retry_count, max_cm_retries, srq;
	uint16_t pkey;
	uint8_t mtu, rdc;
	struct emu_cm_av primary, alternate;
	uint8_t answered;	 /* MRA, REJ: enum emu_cm_answered */
	uint8_t service_timeout; /* MRA */
	uint16_t reason;	 /* REJ */
	uint8_t target_ack_delay, failover;
	uint8_t status;	  /* APR, SIDR_REP */
	uint8_t info_len; /* REJ, APR, SIDR_REP */
	uint8_t info[EMU_CM_MAX_INFO];
	uint8_t data[EMU_CM_MAX_PRIVATE]; /* private data; its length is that of the message */
};

/* The size of a message's private data, in bytes; 0: not a message of the CM. */
size_t emu_cm_private_size(enum emu_cm_attr attr);
/* Encode; bits that a field cannot hold are cut off, as on the wire. -EINVAL: unknown attribute. */
int emu_cm_encode(const struct emu_cm_msg *m, uint8_t mad[static EMU_MAD_BYTES]);
/* Decode; -EINVAL: not a message of the CM in this version. */
int emu_cm_decode(const uint8_t mad[static EMU_MAD_BYTES], struct emu_cm_msg *m);
/* "REQ"; "?" for an unknown attribute. */
const char *emu_cm_attr_name(enum emu_cm_attr attr);

#endif
