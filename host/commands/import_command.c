/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <dpumap/dev.h>

#include "base/clock.h"
#include "common/size.h"
#include "host/base/interrupt.h"
#include "host/import/import.h"
#include "host/remote/descriptor_file.h"
#include "host/remote/remote.h"
#include "host/remote/report.h"

/* A signal may arrive just before poll(): check the flag periodically. */
#define SLEEP_MS 200
#define ALIVE_NS (15 * NSEC_PER_SEC)

struct held_import {
	const struct options *options;
	struct dpumap_client *client; /* NULL: a saved descriptor is used */
	struct remote_export export;
	struct import import;
	bool interrupted; /* while it was held */
	bool is_lost;	  /* its device failed */
};

/* An import on a failed device, where each command may wait for minutes: it ends with the process. */
static struct import lost;

static void print_import(const struct held_import *h)
{
	bool holds = h->options->given & OPTION_HOLD;
	char size[DPUMAP_SIZE_TEXT_MAX];
	struct json_object *object;

	if (!(h->options->given & OPTION_JSON)) {
		dpumap_size_format(h->import.size, size);
		printf("imported     %s, %s (%" PRIu64 " bytes), on %s%s\n", h->import.name, size,
		       h->import.size, h->import.device.name, holds ? ", held" : "");
		fflush(stdout);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "imported");
	json_add_text(object, "name", h->import.name);
	json_add_number(object, "size", h->import.size);
	json_add_text(object, "device", h->import.device.name);
	json_add_text(object, "engine", h->import.engine);
	json_print_line(object);
}

static doca_error_t revoked(const struct held_import *h, enum dpumap_event event,
			    struct dpumap_error *error)
{
	struct json_object *object;

	if (h->options->given & OPTION_JSON) {
		object = json_object_new_object();
		json_add_text(object, "event", dpumap_event_name(event));
		json_add_text(object, "name", h->import.name);
		json_print_line(object);
	}
	return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
				"export %s was %s: the import is revoked", h->import.name,
				dpumap_event_name(event));
}

static doca_error_t keep_alive(const struct held_import *h, uint64_t *last_reply_ns,
			       struct dpumap_error *error)
{
	uint64_t now = monotonic_ns();

	if (now - *last_reply_ns < ALIVE_NS)
		return DOCA_SUCCESS;
	*last_reply_ns = now;
	return remote_ping(h->client, error);
}

static doca_error_t check_device(struct held_import *h, struct dpumap_error *error)
{
	enum dpumap_dev_event event;

	while (!h->is_lost && dpumap_dev_next_event(h->import.device.dev, &event) == DOCA_SUCCESS)
		h->is_lost = event == DPUMAP_DEV_EVENT_FATAL;
	if (h->is_lost)
		return dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
					"device %s has failed or was removed (see dmesg): "
					"the import of export %s is lost",
					h->import.device.name, h->import.name);
	return DOCA_SUCCESS;
}

static doca_error_t sleep_until_readable(struct held_import *h, struct dpumap_error *error)
{
	struct pollfd p[] = {
		{.fd = h->client ? dpumap_client_fd(h->client) : -1, .events = POLLIN},
		{.fd = -1, .events = POLLIN},
	};

	dpumap_dev_get_event_handle(h->import.device.dev, &p[1].fd);
	if (poll(p, 2, SLEEP_MS) < 0 && errno != EINTR)
		return dpumap_error_errno(error, errno, "cannot wait for dpumapd");
	return check_device(h, error);
}

/* SUCCESS when interrupted: the normal end. */
static doca_error_t hold(struct held_import *h, struct dpumap_error *error)
{
	uint64_t last_reply_ns = monotonic_ns();
	char name[DPUMAP_EXPORT_NAME_MAX];
	doca_error_t result = DOCA_SUCCESS;
	enum dpumap_event event;

	while (!interrupt_signal && result == DOCA_SUCCESS) {
		result = h->client ? dpumap_client_next_event(h->client, &event, name, error)
				   : DOCA_ERROR_AGAIN;
		if (result == DOCA_ERROR_AGAIN) {
			result = sleep_until_readable(h, error);
			if (result == DOCA_SUCCESS && h->client)
				result = keep_alive(h, &last_reply_ns, error);
		} else if (result == DOCA_SUCCESS && event != DPUMAP_EVENT_ADDED &&
			   strcmp(name, h->import.name) == 0) {
			result = revoked(h, event, error);
		}
	}
	if (interrupt_signal) {
		interrupt_finish();
		h->interrupted = true;
		return DOCA_SUCCESS;
	}
	if (result == DOCA_ERROR_CONNECTION_RESET)
		return dpumap_error_set(
			error, result,
			"dpumapd closed the connection: the import of export %s may be revoked",
			h->import.name);
	return result;
}

/* Watches before it gets the descriptor, so that no event is missed. */
static doca_error_t get_by_name(struct held_import *h, const char *name, struct dpumap_error *error)
{
	doca_error_t result = remote_connect(h->options, &h->client, error);

	if (result == DOCA_SUCCESS && h->options->given & OPTION_HOLD)
		result = remote_watch(h->client, error);
	if (result == DOCA_SUCCESS)
		result = remote_get(h->client, name, &h->export, error);
	return result;
}

static doca_error_t get_from_file(struct held_import *h, struct dpumap_error *error)
{
	struct dpumap_desc desc = {0};
	doca_error_t result;

	result = descriptor_file_load(h->options->descriptor, &h->export, error);
	if (result == DOCA_SUCCESS)
		result = import_decode(h->export.desc, h->export.desc_len, h->options->descriptor,
				       &desc, error);
	h->export.info.size = desc.len;
	snprintf(h->export.info.name, sizeof(h->export.info.name), "a saved descriptor");
	dpumap_desc_wipe(&desc);
	return result;
}

static doca_error_t release(struct held_import *h, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	import_close(&h->import);
	if (h->client)
		result = remote_release(h->client, h->export.info.name, error);
	/* The signal may have interrupted another request: the end of the connection is enough. */
	return h->interrupted ? DOCA_SUCCESS : result;
}

doca_error_t import_command(const struct options *options, struct dpumap_error *error)
{
	struct held_import h = {.options = options};
	doca_error_t result;

	if (options->descriptor)
		result = get_from_file(&h, error);
	else
		result = get_by_name(&h, options->args[0], error);
	if (result == DOCA_SUCCESS)
		result = import_open(options, h.client, &h.export, &h.import, error);
	if (result == DOCA_SUCCESS) {
		print_import(&h);
		result = options->given & OPTION_HOLD ? hold(&h, error) : DOCA_SUCCESS;
	}
	if (result == DOCA_SUCCESS)
		result = release(&h, error);
	if (h.is_lost)
		lost = h.import;
	else
		import_close(&h.import);
	dpumap_client_destroy(h.client);
	remote_export_wipe(&h.export);
	return result;
}

const char *import_check(const struct options *options)
{
	return options->descriptor || options->num_args ? NULL : "import needs NAME";
}
