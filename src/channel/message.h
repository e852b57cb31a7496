/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages between the agents as objects: requests, replies and events.
 *
 * A connection begins with hello, in which client and server agree on a version, the older one of
 * theirs; hello itself never changes. dpumapd of version 1 refuses a later one, and ends the
 * connection. Every request carries an id. The server answers each with one reply that has the same
 * id and a status, which is a doca_error_t; a reply that reports an error also has an error text.
 * Replies come in the order of the requests. To clients that watch, the server also sends events
 * between replies: messages with id 0 and an event. A peer that sends a malformed message gets one
 * error reply and is disconnected.
 *
 * On the wire, a message is one CBOR map (RFC 8949) with text keys, definite lengths and no
 * duplicate keys (encode.h, decode.h).
 */
#ifndef DPUMAP_CHANNEL_MESSAGE_H
#define DPUMAP_CHANNEL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/digest.h"
#include "local/error.h"

/* 2: digest-start with a hash. */
#define DPUMAP_CHANNEL_VERSION 2u
#define DPUMAP_CHANNEL_OLDEST  1u

#define DPUMAP_EXPORT_NAME_MAX 64 /* with the NUL */
#define DPUMAP_EXPORT_KIND_MAX 16 /* with the NUL */
#define DPUMAP_DEVICE_NAME_MAX 64 /* with the NUL */
#define DPUMAP_EXPORTS_PER_MSG 64u
#define DPUMAP_DESCRIPTOR_MAX  512u
#define DPUMAP_DETAILS_MAX     512u
#define DPUMAP_IP_TEXT_MAX     46 /* with the NUL */
#define DPUMAP_TICKET_LEN      8u

enum dpumap_msg_key {
	DPUMAP_MSG_ID,
	DPUMAP_MSG_OP,
	DPUMAP_MSG_VERSION,
	DPUMAP_MSG_STATUS,
	DPUMAP_MSG_ERROR,
	DPUMAP_MSG_NAME,
	DPUMAP_MSG_AFTER, /* list: exports whose names sort after this one */
	DPUMAP_MSG_NEXT,  /* list: name to continue after; absent at the end */
	DPUMAP_MSG_DESCRIPTOR,
	DPUMAP_MSG_DIGEST, /* handle of a running digest */
	DPUMAP_MSG_OFFSET,
	DPUMAP_MSG_LENGTH,
	DPUMAP_MSG_HASH, /* digest-start: its name; absent: SHA-256 */
	DPUMAP_MSG_SHA256,
	DPUMAP_MSG_XXH128,
	DPUMAP_MSG_EXPORTS,
	DPUMAP_MSG_DEVICE,
	DPUMAP_MSG_DM_TOTAL,
	DPUMAP_MSG_DM_EXPORTED,
	DPUMAP_MSG_EVENT,    /* of the export called NAME */
	DPUMAP_MSG_DETAILS,  /* of one end of an RDMA connection */
	DPUMAP_MSG_CARD,     /* comch: sys_image_guid */
	DPUMAP_MSG_FUNCTION, /* comch: vhca_id of the host's function */
	DPUMAP_MSG_SERVER,   /* comch: name of the server, any bytes except NUL */
	DPUMAP_MSG_KEY,	     /* comch: of the TLS session with the server */
	DPUMAP_MSG_ADDRESS,  /* for RDMA connections: IPv4 or IPv6 */
	DPUMAP_MSG_PORT,     /* of the address */
	DPUMAP_MSG_TICKET,   /* for the private data of the request to the address */
	DPUMAP_MSG_KEYS,
};

enum dpumap_op {
	DPUMAP_OP_HELLO,
	DPUMAP_OP_LIST,
	DPUMAP_OP_GET,
	DPUMAP_OP_RELEASE,
	DPUMAP_OP_DIGEST_START,
	DPUMAP_OP_DIGEST_UPDATE,
	DPUMAP_OP_DIGEST_FINAL,
	DPUMAP_OP_DEVICE,
	DPUMAP_OP_WATCH, /* subscribes to events */
	DPUMAP_OP_PING,
	/*
	 * Over RDMA to a held export. The reply to details has those of the server. If the details
	 * are empty, it has an address, a port and a ticket; NOT_SUPPORTED if the server has no
	 * address.
	 */
	DPUMAP_OP_CONNECT,
	DPUMAP_OP_DMABUF, /* of a held export: the reply comes with a descriptor, over a Unix socket */
	DPUMAP_OP_COMCH, /* the last request: asks to meet a server of doca_comch */
	DPUMAP_OPS,
};

enum dpumap_event {
	DPUMAP_EVENT_ADDED,
	DPUMAP_EVENT_CHANGED, /* previous descriptors are invalid */
	DPUMAP_EVENT_REMOVED,
	DPUMAP_EVENTS,
};

/* What authorized clients see of an export. */
struct dpumap_export_info {
	char name[DPUMAP_EXPORT_NAME_MAX];
	char kind[DPUMAP_EXPORT_KIND_MAX];
	uint64_t size;
	uint32_t access; /* enum doca_access_flag */
};

/* Text and bytes are borrowed: from the caller when encoding, from the frame when decoded. */
struct dpumap_msg {
	uint32_t present; /* bit per enum dpumap_msg_key */
	struct {
		uint64_t number;
		const uint8_t *data;
		size_t len;
	} value[DPUMAP_MSG_KEYS];
	uint32_t num_exports;
	struct dpumap_export_info exports[DPUMAP_EXPORTS_PER_MSG];
};

void dpumap_msg_init(struct dpumap_msg *msg);
bool dpumap_msg_has(const struct dpumap_msg *msg, enum dpumap_msg_key key);
void dpumap_msg_set_number(struct dpumap_msg *msg, enum dpumap_msg_key key, uint64_t number);
void dpumap_msg_set_text(struct dpumap_msg *msg, enum dpumap_msg_key key, const char *text);
void dpumap_msg_set_bytes(struct dpumap_msg *msg, enum dpumap_msg_key key, const void *data,
			  size_t len);
/* The digest is borrowed. */
void dpumap_msg_set_digest(struct dpumap_msg *msg, const struct dpumap_digest *digest);
/* False: the message has no digest of this hash. */
bool dpumap_msg_get_digest(const struct dpumap_msg *msg, enum dpumap_hash hash,
			   struct dpumap_digest *digest);
/* False when the message is full. */
bool dpumap_msg_add_export(struct dpumap_msg *msg, const struct dpumap_export_info *info);
/* Copies a text field with a NUL; an absent field is "". Truncates a text that is too long. */
void dpumap_msg_get_text(const struct dpumap_msg *msg, enum dpumap_msg_key key, char *text,
			 size_t size);

const char *dpumap_op_name(enum dpumap_op op);
/* The operation that the message requests; false when it is unknown. */
bool dpumap_op_find(const struct dpumap_msg *msg, enum dpumap_op *op);

const char *dpumap_event_name(enum dpumap_event event);
/* The event of the message; false when it is not an event or unknown. */
bool dpumap_event_find(const struct dpumap_msg *msg, enum dpumap_event *event);

/* Valid names have 1 to 63 of A-Z a-z 0-9 . _ - and begin with a letter or digit. */
bool dpumap_export_name_valid(const char *name);

/* Messages to bytes. */

/* INVALID_VALUE for a field above its limit, TOO_BIG when buf is too small. */
doca_error_t dpumap_msg_encode(const struct dpumap_msg *msg, uint8_t *buf, size_t size, size_t *len,
			       struct dpumap_error *error);

/* Bytes from an untrusted peer to messages. */

/* Decodes untrusted bytes. INVALID_VALUE with the reason; msg is then invalid. */
doca_error_t dpumap_msg_decode(const uint8_t *buf, size_t len, struct dpumap_msg *msg,
			       struct dpumap_error *error);

#endif
