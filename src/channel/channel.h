/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How export descriptors travel between the agents: requests and replies over a Unix socket or TLS.
 *
 *   frame    4 bytes little-endian length of what follows, 1..DPUMAP_FRAME_MAX
 *   message  one CBOR map (RFC 8949) of the fields below: text keys, definite lengths, no key twice
 *
 * A connection begins with hello, in which the sides agree on a version; hello itself never
 * changes. Every request carries an id and is answered by one reply with that id and a status,
 * which is a doca_error_t; a reply that is no success also has an error text. Replies come in the
 * order of the requests. To those who watch, the server also sends events between replies: frames
 * of id 0 with an event. A peer that sends anything malformed is told why, once, and disconnected.
 */
#ifndef DPUMAP_CHANNEL_H
#define DPUMAP_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel/address.h"
#include "channel/tls.h"
#include "common/fault.h"

#define DPUMAP_CHANNEL_VERSION 1u
#define DPUMAP_FRAME_HEADER    4u
#define DPUMAP_FRAME_MAX       65536u

#define DPUMAP_EXPORT_NAME_MAX 64 /* with the NUL */
#define DPUMAP_EXPORT_KIND_MAX 16 /* with the NUL */
#define DPUMAP_DEVICE_NAME_MAX 64 /* with the NUL */
#define DPUMAP_EXPORTS_PER_MSG 64u
#define DPUMAP_DESCRIPTOR_MAX  512u
#define DPUMAP_DETAILS_MAX     512u

/* -- messages -- */

enum dpumap_msg_key {
	DPUMAP_MSG_ID,
	DPUMAP_MSG_OP,
	DPUMAP_MSG_VERSION,
	DPUMAP_MSG_STATUS,
	DPUMAP_MSG_ERROR,
	DPUMAP_MSG_NAME,
	DPUMAP_MSG_AFTER, /* list: tell exports whose names are behind this one */
	DPUMAP_MSG_NEXT,  /* list: after which name to go on; absent when there is no more */
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
	DPUMAP_MSG_EVENT,      /* of the export called NAME */
	DPUMAP_MSG_DETAILS,    /* of one end of an RDMA connection */
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
	DPUMAP_OP_WATCH, /* from now on, events */
	DPUMAP_OP_PING,
	DPUMAP_OP_CONNECT, /* over RDMA, to an export that was got; the reply has the other end */
	DPUMAP_OPS,
};

enum dpumap_event {
	DPUMAP_EVENT_ADDED,
	DPUMAP_EVENT_CHANGED, /* descriptors of before are void */
	DPUMAP_EVENT_REMOVED,
	DPUMAP_EVENTS,
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

const char *dpumap_event_name(enum dpumap_event event);
/* Is the message an event, and which? False when it is none, or an unknown one. */
bool dpumap_event_find(const struct dpumap_msg *msg, enum dpumap_event *event);

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

/*
 * Takes fd over, also on failure, and makes it non-blocking. tls is NULL on a Unix socket;
 * server is whom a TLS client expects (tls.h).
 */
doca_error_t dpumap_conn_create(int fd, struct dpumap_tls *tls, const char *server,
				struct dpumap_conn **conn, struct dpumap_fault *fault);
/* Wipes what was transferred and closes the socket. NULL is allowed. */
void dpumap_conn_destroy(struct dpumap_conn *conn);
int dpumap_conn_fd(const struct dpumap_conn *conn);
/* What to poll() for before the next try of what answered AGAIN. */
short dpumap_conn_events(const struct dpumap_conn *conn);
/*
 * To be called until it succeeds, before anything is sent or received. AGAIN; CONNECTION_RESET;
 * AUTHENTICATION, UNSUPPORTED_VERSION.
 */
doca_error_t dpumap_conn_handshake(struct dpumap_conn *conn, struct dpumap_fault *fault);
/* Of a TLS connection, after the handshake (tls.h). */
doca_error_t dpumap_conn_peer_name(const struct dpumap_conn *conn,
				   char name[static DPUMAP_PEER_NAME_MAX],
				   struct dpumap_fault *fault);
/* AUTHENTICATION if tls, newer than the connection, would not accept the peer's certificate. */
doca_error_t dpumap_conn_check_again(const struct dpumap_conn *conn, const struct dpumap_tls *tls,
				     struct dpumap_fault *fault);

/* Reads what has arrived. AGAIN: nothing; CONNECTION_RESET: the peer is gone. With TLS also the
 * handshake's: a server's refusal reaches the client when it reads. */
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
 * On a Unix socket: a socket file that nobody listens on is replaced; one that is served is IN_USE,
 * and a path that is no socket is left alone. With open_to_all everybody may connect (and is told
 * off by the caller according to the peer's credentials), otherwise the owner and root.
 *
 * On TCP, the host is an address of ours or * for all; port 0 is any that is free.
 */
doca_error_t dpumap_listener_create(const struct dpumap_address *address, bool open_to_all,
				    struct dpumap_listener **listener, struct dpumap_fault *fault);
/* Takes over a listening socket that was passed to us; its file is not ours to remove. */
doca_error_t dpumap_listener_adopt(int fd, struct dpumap_listener **listener,
				   struct dpumap_fault *fault);
/* Removes the socket file if it is still the one created. NULL is allowed. */
void dpumap_listener_destroy(struct dpumap_listener *listener);
int dpumap_listener_fd(const struct dpumap_listener *listener);
enum dpumap_address_kind dpumap_listener_kind(const struct dpumap_listener *listener);
/* The TCP port; 0 on a Unix socket. */
uint16_t dpumap_listener_port(const struct dpumap_listener *listener);

#define DPUMAP_PEER_TEXT_MAX 64 /* with the NUL */

struct dpumap_peer {
	enum dpumap_address_kind kind;
	char text[DPUMAP_PEER_TEXT_MAX]; /* for logs: "uid 0 pid 7", "192.0.2.1:4000" */
	pid_t pid;			 /* the credentials: of a Unix socket's peer */
	uid_t uid;
	gid_t gid;
};

/*
 * AGAIN: nobody waits; CONNECTION_RESET: somebody came and went; FULL: the process has no
 * descriptor left. The caller owns *fd.
 */
doca_error_t dpumap_listener_accept(struct dpumap_listener *listener, int *fd,
				    struct dpumap_peer *peer, struct dpumap_fault *fault);

/* Where agents meet if they are not told: $XDG_RUNTIME_DIR/dpumapd.sock or /run/dpumapd.sock. */
void dpumap_channel_default_path(char *path, size_t size);

/* -- asking -- */

struct dpumap_client;

/*
 * Connects and greets. tls is for an address of that kind; server is whom
 * its certificate must name, NULL for the address's host. stop, when not NULL, is looked at
 * whenever a signal interrupts the waiting: non-zero ends the call with SHUTDOWN; it must outlive
 * the client. timeout_ms limits each call.
 */
doca_error_t dpumap_client_create(const struct dpumap_address *address, struct dpumap_tls *tls,
				  const char *server, unsigned int timeout_ms,
				  const volatile int *stop, struct dpumap_client **client,
				  struct dpumap_fault *fault);
void dpumap_client_destroy(struct dpumap_client *client);
/*
 * Sends the request, which gets its id here, and waits for the reply, which is borrowed until the
 * next call. An error status is returned, with the server's text.
 */
doca_error_t dpumap_client_call(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_msg *reply, struct dpumap_fault *fault);

/*
 * The next thing that the server told without being asked, in order, without waiting. AGAIN: none;
 * CONNECTION_RESET and others: nothing will come any more.
 */
doca_error_t dpumap_client_next_event(struct dpumap_client *client, enum dpumap_event *event,
				      char name[static DPUMAP_EXPORT_NAME_MAX],
				      struct dpumap_fault *fault);
/* Readable when there may be one, but for those that came with a reply. */
int dpumap_client_fd(const struct dpumap_client *client);

#endif
