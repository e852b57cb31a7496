/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/spec/export_peers.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct export_peers {
	atomic_uint owners;
	uint32_t len;
	char text[]; /* names, each with its NUL */
};

doca_error_t export_peers_add(struct export_peers **peers, const char *peer,
			      struct dpumap_error *error)
{
	const struct export_peers *before = *peers;
	size_t old = before ? before->len : 0, more = strlen(peer) + 1;
	struct export_peers *made = malloc(sizeof(*made) + old + more);

	if (!made)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for the peers of an export");
	atomic_init(&made->owners, 1);
	made->len = (uint32_t)(old + more);
	if (before)
		memcpy(made->text, before->text, old);
	memcpy(made->text + old, peer, more);
	export_peers_free(*peers);
	*peers = made;
	return DOCA_SUCCESS;
}

struct export_peers *export_peers_share(struct export_peers *peers)
{
	if (peers)
		atomic_fetch_add(&peers->owners, 1);
	return peers;
}

void export_peers_free(struct export_peers *peers)
{
	if (peers && atomic_fetch_sub(&peers->owners, 1) == 1)
		free(peers);
}

const char *export_peers_next(const struct export_peers *peers, const char *peer)
{
	if (!peers)
		return NULL;
	peer = peer ? peer + strlen(peer) + 1 : peers->text;
	return peer < peers->text + peers->len ? peer : NULL;
}

bool export_peers_have(const struct export_peers *peers, const char *peer)
{
	const char *one = NULL;

	while ((one = export_peers_next(peers, one)))
		if (strcmp(one, peer) == 0)
			return true;
	return false;
}

bool export_peers_are_equal(const struct export_peers *a, const struct export_peers *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}
