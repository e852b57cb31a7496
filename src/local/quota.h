/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bounds the lines of a log that others cause. Each source, such as a user or an address, may cause burst lines at
 * once, and as many again in 100 s. The lines of a source that exceeds this are counted, until some seconds' worth of
 * lines are free again.
 */
#ifndef DPUMAP_LOCAL_QUOTA_H
#define DPUMAP_LOCAL_QUOTA_H

#include <stdbool.h>
#include <sys/socket.h>

#define DPUMAP_QUOTA_SOURCE_MAX 96 /* with the NUL */
/* For programs that serve many clients. */
#define DPUMAP_QUOTA_BURST 500u

/* The source of an IP address: itself, or the /64 of an IPv6 address, within which a host chooses. */
void dpumap_quota_name_address(const struct sockaddr *address,
			       char source[static DPUMAP_QUOTA_SOURCE_MAX]);

/* May the source cause another line? If not, it is counted. */
bool dpumap_quota_take(const char *source, unsigned int burst);

/* A source that may cause lines again, and how many were counted; to be called until it returns false. */
bool dpumap_quota_report(char source[static DPUMAP_QUOTA_SOURCE_MAX], unsigned int *counted);

#endif
