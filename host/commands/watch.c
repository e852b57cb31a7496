/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <dpumap/channel.h>

#include "base/clock.h"
#include "channel/channel.h"
#include "host/base/interrupt.h"
#include "host/base/json.h"
#include "host/remote/remote.h"

#define MSEC_PER_SEC 1000

struct watch {
	const struct options *options;
	const struct dpumap_channel *channel;
	uint64_t num_events;
	bool is_lost;		 /* the connection */
	struct dpumap_error why; /* as it was printed */
};

static const char *event_name(enum dpumap_channel_event event)
{
	static const char *const names[] = {
		[DPUMAP_CHANNEL_ADDED] = "added",
		[DPUMAP_CHANNEL_CHANGED] = "changed",
		[DPUMAP_CHANNEL_REMOVED] = "removed",
		[DPUMAP_CHANNEL_BACK] = "back",
	};

	return names[event];
}

static void print_event(const struct watch *w, const char *event, const char *key, const char *what)
{
	struct json_object *object;

	if (!(w->options->given & OPTION_JSON)) {
		printf("%-8s %s\n", event, what);
		fflush(stdout);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", event);
	json_add_text(object, key, what);
	json_print_line(object);
}

/* Also when the reason has changed. */
static void print_lost(struct watch *w)
{
	struct json_object *object;

	w->why = *dpumap_channel_fault(w->channel);
	if (!(w->options->given & OPTION_JSON)) {
		printf("%-8s %s: %s\n", "lost", w->options->connect, w->why.text);
		fflush(stdout);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "lost");
	json_add_text(object, "connect", w->options->connect);
	json_add_text(object, "problem", w->why.text);
	json_print_line(object);
}

static void on_event(union doca_data user_data, enum dpumap_channel_event event, const char *name)
{
	struct watch *w = user_data.ptr;
	const char *only = w->options->args[0];

	if (name && only && strcmp(name, only) != 0)
		return;
	if (w->options->count && w->num_events == w->options->count)
		return;
	w->num_events += name != NULL;
	if (!name)
		w->is_lost = event == DPUMAP_CHANNEL_LOST;
	if (event == DPUMAP_CHANNEL_LOST)
		print_lost(w);
	else
		print_event(w, event_name(event), name ? "name" : "connect",
			    name ? name : w->options->connect);
}

static doca_error_t configure(struct dpumap_channel *channel, const struct options *o)
{
	doca_error_t result = dpumap_channel_set_address(channel, o->connect);

	if (result == DOCA_SUCCESS && o->tls.psk)
		result = dpumap_channel_set_psk(channel, o->tls.psk, o->tls.psk_name);
	if (result == DOCA_SUCCESS && o->tls.cert && o->tls.key && o->tls.ca)
		result = dpumap_channel_set_certificate(channel, o->tls.cert, o->tls.key, o->tls.ca,
							o->tls.crl);
	if (result == DOCA_SUCCESS && o->server)
		result = dpumap_channel_set_server_name(channel, o->server);
	if (result == DOCA_SUCCESS)
		result = dpumap_channel_set_timeout(channel, (uint32_t)o->timeout_s * MSEC_PER_SEC);
	return result;
}

static doca_error_t wait_for_more(const struct dpumap_channel *channel, struct dpumap_error *error)
{
	struct pollfd p = {.events = POLLIN};
	int wait_ms = 0;

	dpumap_channel_get_notification_handle(channel, &p.fd);
	dpumap_channel_get_next_time(channel, &wait_ms);
	if (poll(&p, 1, wait_ms) < 0 && errno != EINTR)
		return dpumap_error_errno(error, errno, "cannot wait for dpumapd");
	return DOCA_SUCCESS;
}

/* A certificate or key that is refused now would be refused again: that is the end. */
static doca_error_t check_lost(struct watch *w, struct dpumap_error *error)
{
	const struct dpumap_error *why = dpumap_channel_fault(w->channel);

	if (!w->is_lost)
		return DOCA_SUCCESS;
	if (why->code == DOCA_ERROR_AUTHENTICATION)
		return dpumap_error_set(error, why->code, "%s", why->text);
	if (strcmp(why->text, w->why.text) != 0)
		print_lost(w);
	return DOCA_SUCCESS;
}

static doca_error_t listen_on(struct watch *w, struct dpumap_channel *channel,
			      struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS &&
	       (!w->options->count || w->num_events < w->options->count)) {
		result = wait_for_more(channel, error);
		if (result == DOCA_SUCCESS)
			result = dpumap_channel_process(channel);
		if (result == DOCA_SUCCESS)
			result = check_lost(w, error);
		if (ferror(stdout))
			result = dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
						  "cannot write to standard output");
	}
	return result;
}

/* The line of a failed call is in the channel. */
static doca_error_t pass_on(doca_error_t result, const struct dpumap_channel *channel,
			    struct dpumap_error *error)
{
	return result == DOCA_SUCCESS
		       ? result
		       : dpumap_error_set(error, result, "%s", dpumap_channel_get_error(channel));
}

struct search {
	const char *name;
	bool found;
};

static void match_name(union doca_data user_data, const struct dpumap_channel_export *export)
{
	struct search *s = user_data.ptr;

	s->found = s->found || strcmp(export->name, s->name) == 0;
}

/* A name that is not exported yet may be misspelt. */
static doca_error_t print_start(const struct watch *w, struct dpumap_channel *channel)
{
	struct search s = {.name = w->options->args[0]};
	doca_error_t result = DOCA_SUCCESS;

	if (s.name)
		result = dpumap_channel_list(channel, match_name, (union doca_data){.ptr = &s});
	if (result != DOCA_SUCCESS)
		return result;
	print_event(w, "watching", "connect", w->options->connect);
	if (s.name && !s.found)
		print_event(w, "absent", "name", s.name);
	return DOCA_SUCCESS;
}

static doca_error_t begin(struct watch *w, struct dpumap_channel *channel,
			  struct dpumap_error *error)
{
	doca_error_t result = pass_on(configure(channel, w->options), channel, error);

	if (result != DOCA_SUCCESS)
		return result;
	result = pass_on(dpumap_channel_connect(channel), channel, error);
	if (result != DOCA_SUCCESS)
		return remote_explain(result, error);
	result = dpumap_channel_watch(channel, on_event, (union doca_data){.ptr = w});
	if (result == DOCA_SUCCESS)
		result = print_start(w, channel);
	return pass_on(result, channel, error);
}

doca_error_t watch_exports(const struct options *options, struct dpumap_error *error)
{
	struct watch w = {.options = options};
	struct dpumap_channel *channel;
	doca_error_t result;

	if (options->fleet)
		return fleet_watch(options, error);
	interrupt_release();
	result = dpumap_channel_create(&channel);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot create a channel");
	w.channel = channel;
	result = begin(&w, channel, error);
	if (result == DOCA_SUCCESS)
		result = listen_on(&w, channel, error);
	dpumap_channel_destroy(channel);
	return result;
}
