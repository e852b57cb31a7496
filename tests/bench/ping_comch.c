/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Round trips by control messages. */
#include <stdlib.h>

#include "control.h"
#include "ping.h"

static bool open_comch(struct ping *ping)
{
	struct control *c = calloc(1, sizeof(*c));

	ping->own = c;
	if (!c || !control_open(c, ping->duo, ping->is_server, "bench ping"))
		return false;
	c->echoes = ping->is_server;
	return true;
}

static void close_comch(struct ping *ping)
{
	if (ping->own)
		control_close(ping->own);
	free(ping->own);
}

static bool run(struct ping *ping, size_t round_trips)
{
	static const uint8_t message[PING_LEN];
	struct control *c = ping->own;
	size_t end = c->received + round_trips;

	while (c->received < end) {
		size_t before = c->received;

		if (!ping->is_server && !control_send(c, message, PING_LEN))
			return false;
		while (c->received == before)
			if (!control_progress(c, ping->waits))
				return false;
	}
	return true;
}

const struct ping_kind ping_comch = {"doca_comch", open_comch, close_comch, run};
