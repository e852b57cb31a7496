/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/listeners.h"

#include <stdlib.h>
#include <time.h>

#include <systemd/sd-daemon.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/daemon/signals.h"

/* Longest wait for another server that starts at the same address. */
#define OTHER_START_NS (30 * NSEC_PER_SEC)

doca_error_t listeners_create_one(const struct listeners *listeners,
				  const struct dpumap_address *address, bool open_to_all,
				  struct dpumap_listener **listener, struct dpumap_error *error)
{
	const struct timespec pause = {.tv_nsec = 10 * NSEC_PER_MSEC};
	uint64_t end = listeners->is_starting ? monotonic_ns() + OTHER_START_NS : 0;
	bool is_logged = false;
	doca_error_t result;

	for (;;) {
		result = dpumap_listener_create(address, open_to_all, listener, error);
		if (result != DOCA_ERROR_AGAIN)
			return result;
		if (signals_stop_is_asked() || monotonic_ns() > end)
			break;
		if (!is_logged)
			log_warning("%s: waiting", error->text);
		is_logged = true;
		nanosleep(&pause, NULL);
	}
	error->code = signals_stop_is_asked() ? DOCA_ERROR_SHUTDOWN : DOCA_ERROR_IN_USE;
	return error->code;
}

static doca_error_t listen_at(const struct listeners *l, const struct settings *settings,
			      const char *text, struct dpumap_listener **listener,
			      struct dpumap_error *error)
{
	struct dpumap_address address;
	doca_error_t result = dpumap_address_parse(text, &address, error);

	if (result != DOCA_SUCCESS)
		return result;
	return listeners_create_one(l, &address, settings_allow_others(settings), listener, error);
}

doca_error_t listeners_open(const struct listeners *listeners, const struct settings *settings,
			    struct opened *opened, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	opened->list = calloc(settings->num_listen + 1, sizeof(struct dpumap_listener *));
	if (!opened->list)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for listeners");
	for (size_t i = 0; i < settings->num_listen && result == DOCA_SUCCESS; i++) {
		if (server_find_listener(listeners->server, settings->listen[i]))
			continue;
		result = listen_at(listeners, settings, settings->listen[i],
				   &opened->list[opened->num], error);
		opened->num += result == DOCA_SUCCESS;
	}
	return result;
}

doca_error_t listeners_add(const struct listeners *listeners, struct opened *opened,
			   struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	while (opened->num && result == DOCA_SUCCESS)
		result = server_listen(listeners->server, opened->list[--opened->num], error);
	return result;
}

void listeners_close(struct opened *opened)
{
	while (opened->num)
		dpumap_listener_destroy(opened->list[--opened->num]);
	free(opened->list);
	opened->list = NULL;
}

void listeners_use(struct listeners *listeners, const struct settings *settings, bool open_to_all)
{
	server_use_listeners(listeners->server, settings->listen, settings->num_listen,
			     open_to_all);
}

doca_error_t listeners_adopt(struct listeners *listeners, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;
	struct dpumap_listener *listener;
	int num = sd_listen_fds(1);

	for (int i = 0; i < num && result == DOCA_SUCCESS; i++) {
		result = dpumap_listener_adopt(SD_LISTEN_FDS_START + i, &listener, error);
		if (result != DOCA_SUCCESS)
			break;
		listeners->has_adopted_tcp |= dpumap_listener_kind(listener) == DPUMAP_ADDRESS_TLS;
		result = server_listen(listeners->server, listener, error);
	}
	return result;
}

struct description {
	FILE *out;
	size_t num;
};

static void add_address(struct description *to, const char *text)
{
	fprintf(to->out, "%s%s", to->num++ ? ", " : "", text);
}

static void add_listener(void *to, const struct dpumap_listener *listener)
{
	char text[DPUMAP_HOST_MAX + 16];

	dpumap_listener_describe(listener, text, sizeof(text));
	add_address(to, text);
}

size_t listeners_describe(const struct listeners *listeners, const struct settings *settings,
			  FILE *out)
{
	struct description to = {.out = out};

	for (size_t i = 0; i < settings->num_listen; i++) {
		const struct dpumap_listener *listener =
			server_find_listener(listeners->server, settings->listen[i]);

		if (!listener || dpumap_listener_is_adopted(listener))
			continue;
		if (dpumap_listener_kind(listener) == DPUMAP_ADDRESS_TLS)
			add_listener(&to, listener); /* with the port in use */
		else
			add_address(&to, settings->listen[i]);
	}
	server_each_adopted(listeners->server, add_listener, &to);
	return to.num;
}
