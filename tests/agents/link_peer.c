/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The way between a client and a server of doca_comch, without a device:
 *
 *	link_peer server NAME                 echoes what clients send
 *	link_peer sink NAME                   counts what clients send
 *	link_peer client NAME WAIT_MS TEXT    sends a text, and stays until the connection ends
 *	link_peer fill NAME WAIT_MS           sends 8 MiB, more than the peer has room for
 *
 * Both print a line for each event.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comch/link/dial.h"
#include "comch/link/listener.h"

#define CLIENTS_MAX 128
#define FILL	    (64u << 20) /* more than the buffers of TCP: newer kernels let them grow to 37 MiB */

static bool is_sink;
static size_t total;

static struct dpumap_comch_place place = {.card = 0xb1eef1e1d0c4, .function = 3};

static void say(const char *what, const char *more)
{
	printf("%s %s\n", what, more);
	fflush(stdout);
}

static void await(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	poll(&p, 1, -1);
}

/* False at the end of the connection. */
static bool echo(struct dpumap_comch_link *link)
{
	char text[4096];
	doca_error_t result;
	size_t len, done;

	while ((result = dpumap_comch_link_read(link, text, sizeof(text) - 1, &len)) ==
	       DOCA_SUCCESS) {
		text[len] = '\0';
		total += len;
		if (is_sink)
			continue;
		say("got", text);
		if (dpumap_comch_link_write(link, text, len, &done) != DOCA_SUCCESS)
			return false;
	}
	return result == DOCA_ERROR_AGAIN;
}

static int serve(void)
{
	static struct dpumap_comch_link *links[CLIENTS_MAX];
	static struct pollfd fds[CLIENTS_MAX + 1];
	struct dpumap_comch_listener *listener;
	nfds_t num = 0;

	if (dpumap_comch_listener_create(&place, &listener) != DOCA_SUCCESS)
		return 1;
	say("ready", "");
	for (;;) {
		for (nfds_t i = 0; i < num; i++)
			fds[i] = (struct pollfd){.fd = dpumap_comch_link_fd(links[i]),
						 .events = POLLIN};
		fds[num] =
			(struct pollfd){.fd = dpumap_comch_listener_fd(listener), .events = POLLIN};
		poll(fds, num + 1, -1);
		for (nfds_t i = num; i > 0; i--) {
			if (!fds[i - 1].revents || echo(links[i - 1]))
				continue;
			printf("total %zu\n", total);
			say("end", dpumap_comch_link_peer(links[i - 1]));
			dpumap_comch_link_close(links[i - 1]);
			links[i - 1] = links[--num];
		}
		while (num < CLIENTS_MAX &&
		       dpumap_comch_listener_next(listener, &links[num]) == DOCA_SUCCESS)
			say("peer", dpumap_comch_link_peer(links[num++]));
	}
}

static int converse(struct dpumap_comch_link *link, const char *message)
{
	doca_error_t result;
	char text[4096];
	size_t len;

	say("peer", dpumap_comch_link_peer(link));
	result = dpumap_comch_link_write(link, message, strlen(message), &len);
	while (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN) {
		await(dpumap_comch_link_fd(link));
		result = dpumap_comch_link_read(link, text, sizeof(text) - 1, &len);
		if (result != DOCA_SUCCESS)
			continue;
		text[len] = '\0';
		say("got", text);
	}
	say("end", doca_error_get_name(result));
	dpumap_comch_link_close(link);
	return 0;
}

/* False at the end of the connection. */
static bool fill_room(struct dpumap_comch_link *link, size_t *sent)
{
	static const char zeros[4096];
	size_t len = 0, left, done;
	doca_error_t result;

	do {
		*sent += len;
		left = FILL - *sent;
		result = left ? dpumap_comch_link_write(link, zeros,
							left < sizeof(zeros) ? left : sizeof(zeros),
							&len)
			      : DOCA_ERROR_AGAIN;
	} while (result == DOCA_SUCCESS);
	dpumap_comch_link_want_write(link, left != 0);
	if (result == DOCA_ERROR_AGAIN)
		result = dpumap_comch_link_read(link, (char[1]){0}, 1, &done);
	if (result != DOCA_ERROR_AGAIN)
		say("end", doca_error_get_name(result));
	return result == DOCA_ERROR_AGAIN;
}

static int fill(struct dpumap_comch_link *link)
{
	bool is_open, was_full = false;
	size_t sent = 0;

	while ((is_open = fill_room(link, &sent)) && sent < FILL) {
		if (!was_full)
			say("full", "");
		was_full = true;
		await(dpumap_comch_link_fd(link));
	}
	if (is_open)
		say("sent", "all");
	dpumap_comch_link_close(link);
	return 0;
}

static int dial(unsigned int wait_ms, const char *message)
{
	struct dpumap_comch_dial *dial;
	struct dpumap_comch_link *link;
	doca_error_t result;

	if (dpumap_comch_dial_create(&place, wait_ms, &dial) != DOCA_SUCCESS)
		return 1;
	while ((result = dpumap_comch_dial_poll(dial, &link)) == DOCA_ERROR_IN_PROGRESS)
		await(dpumap_comch_dial_fd(dial));
	dpumap_comch_dial_destroy(dial);
	if (result == DOCA_SUCCESS)
		return message ? converse(link, message) : fill(link);
	say("failed", doca_error_get_name(result));
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	snprintf(place.name, sizeof(place.name), "%s", argv[2]);
	is_sink = strcmp(argv[1], "sink") == 0;
	if (is_sink || strcmp(argv[1], "server") == 0)
		return serve();
	if (argc < 4)
		return 2;
	return dial((unsigned int)strtoul(argv[3], NULL, 10), argv[4]);
}
