/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What libdpumap-channel does for doca_comch: connections to other machines, and the configuration.
 * libdpumap loads it when a client or a server needs it, and finds this table by name. The table is
 * no public interface: both libraries are of one release.
 *
 * Nothing blocks, except that a dial resolves the name of a host. A failed function sets the error.
 */
#ifndef DPUMAP_LOCAL_COMCH_TLS_H
#define DPUMAP_LOCAL_COMCH_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "local/comch_place.h"

#define DPUMAP_COMCH_TLS_LIBRARY "libdpumap-channel.so.0"
#define DPUMAP_COMCH_TLS_SYMBOL	 "dpumap_private_comch_tls"
#define DPUMAP_COMCH_TLS_VERSION 2u

struct dpumap_comch_session; /* TLS */
struct dpumap_comch_remote;  /* a client's way through dpumapd */

/* Of a user of this machine at a server. */
struct dpumap_comch_rights {
	bool connect;	/* as this user */
	bool introduce; /* clients of other machines, as whom it says */
};

struct dpumap_comch_tls {
	unsigned int version;

	/*
	 * -- a TLS session on a connected socket, which it takes over --
	 * handshake, read and write return AGAIN, CONNECTION_RESET or AUTHENTICATION as a stream
	 * does (channel/stream.h). wants: events of poll() to wait for after AGAIN.
	 */
	doca_error_t (*handshake)(struct dpumap_comch_session *session, struct dpumap_error *error);
	doca_error_t (*read)(struct dpumap_comch_session *session, void *buf, size_t len,
			     size_t *done, struct dpumap_error *error);
	doca_error_t (*write)(struct dpumap_comch_session *session, const void *buf, size_t len,
			      size_t *done, struct dpumap_error *error);
	bool (*has_more)(const struct dpumap_comch_session *session);
	short (*wants)(const struct dpumap_comch_session *session);
	int (*fd)(const struct dpumap_comch_session *session);
	void (*shutdown)(struct dpumap_comch_session *session);
	void (*close)(struct dpumap_comch_session *session);

	/* -- a server: the session with an introduced client. Takes fd over, also on failure. -- */
	doca_error_t (*accept)(int fd, const unsigned char key[DPUMAP_COMCH_KEY_LEN],
			       struct dpumap_comch_session **session, struct dpumap_error *error);

	/*
	 * -- a client --
	 * NOT_FOUND if the configuration names no dpumapd on another machine.
	 */
	doca_error_t (*remote_create)(const struct dpumap_comch_place *place,
				      struct dpumap_comch_remote **remote,
				      struct dpumap_error *error);
	/*
	 * SUCCESS: *session is the caller's, connected to the server, and identity that of dpumapd.
	 * IN_PROGRESS; NOT_FOUND: the server is not there yet, call retry() later; or final.
	 */
	doca_error_t (*remote_poll)(struct dpumap_comch_remote *remote,
				    struct dpumap_comch_session **session,
				    char identity[DPUMAP_COMCH_IDENTITY_SIZE],
				    struct dpumap_error *error);
	/* Asks dpumapd again. */
	void (*remote_retry)(struct dpumap_comch_remote *remote);
	/* An epoll descriptor: constant, readable while there is something to do. */
	int (*remote_fd)(const struct dpumap_comch_remote *remote);
	void (*remote_destroy)(struct dpumap_comch_remote *remote); /* NULL is allowed */

	/* What may this user do at the own user's servers? NOT_PERMITTED: nothing; or why it is unknown. */
	doca_error_t (*check_user)(uid_t uid, struct dpumap_comch_rights *rights,
				   struct dpumap_error *error);
};

#endif
