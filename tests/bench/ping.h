/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Round trips of messages of PING_LEN bytes between the client, which is the process on the host,
 * and the server: by a bare Unix socket, by a bare TLS connection over TCP, and by control messages of
 * doca_comch. Both sides either poll or wait for a file descriptor.
 */
#ifndef DPUMAP_BENCH_PING_H
#define DPUMAP_BENCH_PING_H

#include "duo.h"

#define PING_LEN 64u

struct ping {
	const struct duo *duo;
	bool is_server;
	bool waits; /* for a file descriptor */
	void *own;  /* the kind's */
};

struct ping_kind {
	const char *name;
	bool (*open)(struct ping *ping); /* false after printing an error */
	void (*close)(struct ping *ping);
	bool (*run)(struct ping *ping, size_t round_trips);
};

extern const struct ping_kind ping_unix;
extern const struct ping_kind ping_tls;
extern const struct ping_kind ping_comch;

#endif
