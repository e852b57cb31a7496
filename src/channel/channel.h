/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How export descriptors travel between the agents: requests and replies over a Unix stream socket.
 *
 *   frame    4 bytes little-endian length of what follows, 1..DPUMAP_FRAME_MAX
 *   message  one CBOR map (RFC 8949) of the fields below: text keys, definite lengths, no key twice
 *
 * A connection begins with hello, in which the sides agree on a version; hello itself never
 * changes. Every request carries an id and is answered by one reply with that id and a status,
 * which is a doca_error_t; a reply that is no success also has an error text. Replies come in the
 * order of the requests. A peer that sends anything malformed is told why, once, and disconnected.
 */
#ifndef DPUMAP_CHANNEL_H
#define DPUMAP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/fault.h"

#define DPUMAP_CHANNEL_VERSION 1u
#define DPUMAP_FRAME_HEADER    4u
#define DPUMAP_FRAME_MAX       65536u

#define DPUMAP_EXPORT_NAME_MAX 64 /* with the NUL */
#define DPUMAP_EXPORT_KIND_MAX 16 /* with the NUL */
#define DPUMAP_DEVICE_NAME_MAX 64 /* with the NUL */
#define DPUMAP_EXPORTS_PER_MSG 64u
#define DPUMAP_DESCRIPTOR_MAX  512u

/* -- messages -- */

enum dpumap_msg_key {
	DPUMAP_MSG_ID,
	DPUMAP_MSG_OP,
	DPUMAP_MSG_VERSION,
	DPUMAP_MSG_STATUS,
	DPUMAP_MSG_ERROR,
	DPUMAP_MSG_NAME,
	DPUMAP_MSG_FIRST, /* list: index of the first export to tell */
	DPUMAP_MSG_NEXT,  /* list: index to go on with; absent when there is no more */
	DPUMAP_MSG_DESCRIPTOR,
	DPUMAP_MSG_DIGEST, /* handle of a running digest */
	DPUMAP_MSG_OFFSET,
	DPUMAP_MSG_LENGTH,
	DPUMAP_MSG_SHA256,
	DPUMAP_MSG_EXPORTS,
	DPUMAP_MSG_DEVICE,
	DPUMAP_MSG_DM_TOTAL,
	DPUMAP_MSG_DM_FREE,
	DPUMAP_MSG_DM_LONGEST, /* that is free in one piece */
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
	DPUMAP_OPS,
};

/* What is said about an export to anybody who may see it. */
struct dpumap_export_info {
	char name[DPUMAP_EXPORT_NAME_MAX];
	char kind[DPUMAP_EXPORT_KIND_MAX];
	uint64_t size;
	uint32_t access; /* enum doca_access_flag */
};

/* Text and bytes are borrowed: of the caller when encoding, of the frame when decoded. */
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
/* False when the message is full. */
bool dpumap_msg_add_export(struct dpumap_msg *msg, const struct dpumap_export_info *info);
/* Copies a text field with a NUL; an absent field is "". A text too long for the buffer is cut. */
void dpumap_msg_get_text(const struct dpumap_msg *msg, enum dpumap_msg_key key, char *text,
			 size_t size);
const char *dpumap_msg_key_name(enum dpumap_msg_key key);

const char *dpumap_op_name(enum dpumap_op op);
/* Which operation the message asks for; false when its name is none of them. */
bool dpumap_op_find(const struct dpumap_msg *msg, enum dpumap_op *op);

/* Names are 1 to 63 of A-Z a-z 0-9 . _ -, and begin with a letter or digit. */
bool dpumap_export_name_valid(const char *name);

/* INVALID_VALUE for a field beyond its limit, TOO_BIG when it does not fit. */
doca_error_t dpumap_msg_encode(const struct dpumap_msg *msg, uint8_t *buf, size_t size, size_t *len,
			       struct dpumap_fault *fault);
/* The bytes may come from anybody. INVALID_VALUE with the reason; msg is then unusable. */
doca_error_t dpumap_msg_decode(const uint8_t *buf, size_t len, struct dpumap_msg *msg,
			       struct dpumap_fault *fault);

/* -- frames over a non-blocking socket; at most one outgoing frame at a time -- */

struct dpumap_conn;

/* Takes fd over, also on failure, and makes it non-blocking. */
doca_error_t dpumap_conn_create(int fd, struct dpumap_conn **conn, struct dpumap_fault *fault);
/* Wipes what was transferred and closes the socket. NULL is allowed. */
void dpumap_conn_destroy(struct dpumap_conn *conn);
int dpumap_conn_fd(const struct dpumap_conn *conn);

/* Reads what has arrived. AGAIN: nothing; CONNECTION_RESET: the peer is gone. */
doca_error_t dpumap_conn_fill(struct dpumap_conn *conn, struct dpumap_fault *fault);
/*
 * The first complete frame's payload, which stays valid until dpumap_conn_drop_frame(). AGAIN: not
 * complete yet; INVALID_VALUE: a length that no frame has.
 */
doca_error_t dpumap_conn_frame(const struct dpumap_conn *conn, const uint8_t **payload, size_t *len,
			       struct dpumap_fault *fault);
void dpumap_conn_drop_frame(struct dpumap_conn *conn);

/* Encodes msg into the outgoing frame. IN_USE while the last one has not been sent. */
doca_error_t dpumap_conn_put(struct dpumap_conn *conn, const struct dpumap_msg *msg,
			     struct dpumap_fault *fault);
/* Sends what the socket takes. AGAIN: some is left; CONNECTION_RESET: the peer is gone. */
doca_error_t dpumap_conn_flush(struct dpumap_conn *conn, struct dpumap_fault *fault);
bool dpumap_conn_has_output(const struct dpumap_conn *conn);
/* Since when a frame has been incomplete, in either direction; 0 when none is. */
uint64_t dpumap_conn_stalled_since(const struct dpumap_conn *conn);

/* -- listening -- */

struct dpumap_listener;

/*
 * Listens on a Unix socket. A socket file that nobody listens on is replaced; one that is served
 * is IN_USE, and a path that is no socket is left alone. With open_to_all everybody may connect
 * (and is told off by the caller according to the peer's credentials), otherwise the owner and
 * root.
 */
doca_error_t dpumap_listener_create(const char *path, bool open_to_all,
				    struct dpumap_listener **listener, struct dpumap_fault *fault);
/* Removes the socket file if it is still the one created. NULL is allowed. */
void dpumap_listener_destroy(struct dpumap_listener *listener);
int dpumap_listener_fd(const struct dpumap_listener *listener);

struct dpumap_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* AGAIN: nobody waits; FULL: the process has no descriptor left. The caller owns *fd. */
doca_error_t dpumap_listener_accept(struct dpumap_listener *listener, int *fd,
				    struct dpumap_peer *peer, struct dpumap_fault *fault);

/* Where agents meet if they are not told: $XDG_RUNTIME_DIR/dpumapd.sock or /run/dpumapd.sock. */
void dpumap_channel_default_path(char *path, size_t size);

/* -- asking -- */

struct dpumap_client;

/*
 * Connects and greets. stop, when not NULL, is looked at whenever a signal interrupts the waiting:
 * non-zero ends the call with SHUTDOWN; it must outlive the client. timeout_ms limits each call.
 */
doca_error_t dpumap_client_create(const char *path, unsigned int timeout_ms,
				  const volatile int *stop, struct dpumap_client **client,
				  struct dpumap_fault *fault);
void dpumap_client_destroy(struct dpumap_client *client);
/*
 * Sends the request, which gets its id here, and waits for the reply, which is borrowed until the
 * next call. An error status is returned, with the server's text.
 */
doca_error_t dpumap_client_call(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_msg *reply, struct dpumap_fault *fault);

#endif
