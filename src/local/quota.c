/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/quota.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SOURCES_MAX 64
#define SPAN	    (100 * NSEC_PER_SEC)
#define REST	    (5 * NSEC_PER_SEC)

/* Guarded by the lock of stderr: it is recursive, for signal handlers, and usable after a fork. */
static struct source {
	char name[DPUMAP_QUOTA_SOURCE_MAX];
	uint64_t free_at;     /* when its lines of the past no longer count */
	unsigned int counted; /* lines that it may not cause */
} sources[SOURCES_MAX], others = {.name = "other sources"};

static void name_ipv6(struct in6_addr address, char source[static DPUMAP_QUOTA_SOURCE_MAX])
{
	char text[INET6_ADDRSTRLEN];

	memset(address.s6_addr + 8, 0, 8);
	inet_ntop(AF_INET6, &address, text, sizeof(text));
	snprintf(source, DPUMAP_QUOTA_SOURCE_MAX, "%s/64", text);
}

void dpumap_quota_name_address(const struct sockaddr *address,
			       char source[static DPUMAP_QUOTA_SOURCE_MAX])
{
	const struct in6_addr *ipv6 =
		&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	const void *ipv4 = &((const struct sockaddr_in *)(const void *)address)->sin_addr;

	if (address->sa_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(ipv6)) {
		name_ipv6(*ipv6, source);
		return;
	}
	if (address->sa_family == AF_INET6)
		ipv4 = ipv6->s6_addr + 12;
	inet_ntop(AF_INET, ipv4, source, DPUMAP_QUOTA_SOURCE_MAX);
}

static bool is_used(const struct source *s, uint64_t now)
{
	return s->counted || s->free_at > now;
}

/* Without a free place, a new source shares one with others. */
static struct source *find(const char *name, uint64_t now)
{
	struct source *unused = &others;

	for (size_t i = 0; i < SOURCES_MAX; i++) {
		if (!is_used(&sources[i], now))
			unused = &sources[i];
		else if (!strncmp(sources[i].name, name, sizeof(sources[i].name) - 1))
			return &sources[i];
	}
	if (unused != &others)
		snprintf(unused->name, sizeof(unused->name), "%s", name);
	return unused;
}

static bool take(struct source *s, uint64_t cost, uint64_t now)
{
	if (s->free_at < now)
		s->free_at = now;
	if (s->counted || s->free_at + cost > now + SPAN) {
		s->counted++;
		return false;
	}
	s->free_at += cost;
	return true;
}

bool dpumap_quota_take(const char *source, unsigned int burst)
{
	uint64_t now = monotonic_ns();
	bool may;

	flockfile(stderr);
	may = take(find(source, now), SPAN / burst, now);
	funlockfile(stderr);
	return may;
}

static bool report(struct source *s, uint64_t now, char name[static DPUMAP_QUOTA_SOURCE_MAX],
		   unsigned int *counted)
{
	if (!s->counted || s->free_at + REST > now + SPAN)
		return false;
	memcpy(name, s->name, sizeof(s->name));
	*counted = s->counted;
	s->counted = 0;
	return true;
}

bool dpumap_quota_report(char source[static DPUMAP_QUOTA_SOURCE_MAX], unsigned int *counted)
{
	uint64_t now = monotonic_ns();
	bool found;

	flockfile(stderr);
	found = report(&others, now, source, counted);
	for (size_t i = 0; i < SOURCES_MAX && !found; i++)
		found = report(&sources[i], now, source, counted);
	funlockfile(stderr);
	return found;
}
