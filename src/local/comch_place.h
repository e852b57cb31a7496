/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where servers of doca_comch listen on their own machine, and how a connection to them begins.
 *
 * A server's Unix socket is DIRECTORY/CARD-FUNCTION-HASH.sock, where HASH is that of the name, which
 * may contain every byte. Names with one hash share a socket, so the full place travels with the
 * connection and the server compares it.
 */
#ifndef DPUMAP_LOCAL_COMCH_PLACE_H
#define DPUMAP_LOCAL_COMCH_PLACE_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "local/error.h"

#define DPUMAP_COMCH_NAME_SIZE	   120 /* of a server's name, with the NUL */
#define DPUMAP_COMCH_KEY_LEN	   32
#define DPUMAP_COMCH_IDENTITY_SIZE 96 /* with the NUL */

struct dpumap_comch_place {
	uint64_t card;	   /* sys_image_guid */
	uint16_t function; /* vhca_id of the host's function */
	char name[DPUMAP_COMCH_NAME_SIZE];
};

/* The place as a person reads it. Bytes of the name that are not printable are \xNN. */
#define DPUMAP_COMCH_PLACE_TEXT_SIZE (4 * DPUMAP_COMCH_NAME_SIZE + 64)
const char *dpumap_comch_place_text(const struct dpumap_comch_place *place,
				    char text[static DPUMAP_COMCH_PLACE_TEXT_SIZE]);

/* Directories of sockets: that of the own user's servers, and that of root's. */
#define DPUMAP_COMCH_ROOT_DIRECTORY "/run/dpumap-comch"
struct dpumap_comch_directories {
	char path[2][PATH_MAX];
	unsigned int num;
};
/*
 * $DPUMAP_COMCH_DIR alone if it is set. Else $XDG_RUNTIME_DIR/dpumap-comch, unless the user is root,
 * and the directory of root's servers. A server uses the first.
 */
void dpumap_comch_directories_find(struct dpumap_comch_directories *directories);
/*
 * Creates a directory for the own servers if it is missing. NOT_PERMITTED if other users can write
 * to it; NOT_FOUND without a directory above it.
 */
doca_error_t dpumap_comch_directory_make(const char *directory, struct dpumap_error *error);
/* Removes the sockets of the current user's servers that were killed. The directory need not exist. */
void dpumap_comch_directory_sweep(const char *directory);
/* The socket of a server. INVALID_VALUE if the path is too long. */
doca_error_t dpumap_comch_place_address(const struct dpumap_comch_place *place,
					const char *directory, struct sockaddr_un *address,
					struct dpumap_error *error);
/*
 * Connects to a server in that directory, checks that the server runs as root or the own user, and
 * sends how the connection begins. *fd is non-blocking. NOT_FOUND if there is no server: nobody
 * listens; AGAIN: too many clients wait; NOT_PERMITTED.
 */
enum dpumap_comch_beginning {
	DPUMAP_COMCH_CLIENT = 1, /* frames of doca_comch follow */
	DPUMAP_COMCH_INTRODUCER, /* an introduction follows */
};
doca_error_t dpumap_comch_place_connect(const struct dpumap_comch_place *place,
					const char *directory, enum dpumap_comch_beginning begins,
					int *fd, struct dpumap_error *error);

/* The first bytes of a connection. */
struct dpumap_comch_preamble {
	char magic[4];
	uint8_t version;
	uint8_t begins; /* enum dpumap_comch_beginning */
	uint16_t function;
	uint64_t card;
	char name[DPUMAP_COMCH_NAME_SIZE]; /* NUL bytes after the name */
};
_Static_assert(sizeof(struct dpumap_comch_preamble) == 16 + DPUMAP_COMCH_NAME_SIZE, "no gaps");
void dpumap_comch_preamble_fill(const struct dpumap_comch_place *place,
				enum dpumap_comch_beginning begins,
				struct dpumap_comch_preamble *preamble);
/* INVALID_VALUE: not ours, or of another release; NOT_FOUND: for another server. */
doca_error_t dpumap_comch_preamble_check(const struct dpumap_comch_preamble *preamble,
					 const struct dpumap_comch_place *place,
					 struct dpumap_error *error);

/*
 * What dpumapd sends after the preamble, in one message with the client's socket (SCM_RIGHTS). The
 * connection stays open: dpumapd sends DPUMAP_COMCH_WITHDRAW when the client loses its right.
 */
struct dpumap_comch_introduction {
	uint8_t key[DPUMAP_COMCH_KEY_LEN];	   /* of the TLS session that follows; secret */
	char identity[DPUMAP_COMCH_IDENTITY_SIZE]; /* of the client; NUL bytes after it */
};
#define DPUMAP_COMCH_WITHDRAW 'w'

#endif
