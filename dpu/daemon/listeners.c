/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/listeners.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/daemon/signals.h"

/* Longest wait for another server that starts at the same address. */
#define OTHER_START_NS (30 * NSEC_PER_SEC)

doca_error_t listeners_create_one(const struct listeners *listeners,
				  const struct dpumap_address *address, bool open_to_all,
				  struct dpumap_listener **listener, struct dpumap_fault *fault)
{
	const struct timespec pause = {.tv_nsec = 10 * NSEC_PER_MSEC};
	uint64_t end = listeners->is_starting ? monotonic_ns() + OTHER_START_NS : 0;
	bool is_logged = false;
	doca_error_t result;

	for (;;) {
		result = dpumap_listener_create(address, open_to_all, listener, fault);
		if (result != DOCA_ERROR_AGAIN)
			return result;
		if (signals_stop_is_asked() || monotonic_ns() > end)
			break;
		if (!is_logged)
			log_warning("%s: waiting", fault->text);
		is_logged = true;
		nanosleep(&pause, NULL);
	}
	fault->code = signals_stop_is_asked() ? DOCA_ERROR_SHUTDOWN : DOCA_ERROR_IN_USE;
	return fault->code;
}

static doca_error_t listen_at(struct listeners *l, const struct settings *settings,
			      const char *text, struct dpumap_fault *fault)
{
	struct dpumap_listener *listener;
	struct dpumap_address address;
	doca_error_t result;

	result = dpumap_address_parse(text, &address, fault);
	if (result == DOCA_SUCCESS)
		result = listeners_create_one(l, &address, settings_allow_others(settings),
					      &listener, fault);
	if (result != DOCA_SUCCESS)
		return result;
	return server_listen(l->server, listener, fault);
}

doca_error_t listeners_open(struct listeners *listeners, const struct settings *settings,
			    struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < settings->num_listen && result == DOCA_SUCCESS; i++)
		if (!server_find_listener(listeners->server, settings->listen[i]))
			result = listen_at(listeners, settings, settings->listen[i], fault);
	return result;
}

void listeners_use(struct listeners *listeners, const struct settings *settings, bool open_to_all)
{
	server_use_listeners(listeners->server, settings->listen, settings->num_listen,
			     open_to_all);
}

static void add_text(char *to, size_t size, const char *text)
{
	size_t used = strlen(to);

	snprintf(to + used, size - used, ", %s", text);
}

static void note_adopted(struct listeners *l, const struct dpumap_listener *listener)
{
	char text[sizeof(l->adopted)];

	l->has_adopted_tcp |= dpumap_listener_kind(listener) == DPUMAP_ADDRESS_TLS;
	dpumap_listener_describe(listener, text, sizeof(text));
	add_text(l->adopted, sizeof(l->adopted), text);
}

doca_error_t listeners_adopt(struct listeners *listeners, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;
	struct dpumap_listener *listener;
	int num = sd_listen_fds(1);

	for (int i = 0; i < num && result == DOCA_SUCCESS; i++) {
		result = dpumap_listener_adopt(SD_LISTEN_FDS_START + i, &listener, fault);
		if (result != DOCA_SUCCESS)
			break;
		note_adopted(listeners, listener);
		result = server_listen(listeners->server, listener, fault);
	}
	return result;
}

void listeners_describe(const struct listeners *listeners, const struct settings *settings,
			char *text, size_t size)
{
	const struct dpumap_listener *listener;
	char room[DPUMAP_HOST_MAX + 16];

	text[0] = '\0';
	for (size_t i = 0; i < settings->num_listen; i++) {
		listener = server_find_listener(listeners->server, settings->listen[i]);
		if (!listener || dpumap_listener_is_adopted(listener))
			continue;
		dpumap_listener_describe(listener, room, sizeof(room));
		add_text(text, size,
			 dpumap_listener_kind(listener) == DPUMAP_ADDRESS_TLS
				 ? room
				 : settings->listen[i]);
	}
	snprintf(text + strlen(text), size - strlen(text), "%s", listeners->adopted);
	if (text[0])
		memmove(text, text + 2, strlen(text) - 1);
}
