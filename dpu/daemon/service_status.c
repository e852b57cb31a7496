/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/service_status.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <systemd/sd-daemon.h>

/* systemd ignores a message of more than 4096 bytes. */
#define ADDRESSES_MAX 2048

static void put_addresses(const struct daemon *daemon, FILE *out)
{
	char *text = NULL;
	size_t len = 0, num;
	FILE *list = open_memstream(&text, &len);

	if (!list)
		return;
	num = daemon_describe(daemon, list);
	if (fclose(list) == 0 && len <= ADDRESSES_MAX)
		fprintf(out, ", on %s", text);
	else
		fprintf(out, ", on %zu addresses", num);
	free(text);
}

static void put(FILE *out, struct daemon *daemon)
{
	size_t exports = export_table_count(daemon_exports(daemon));
	size_t failed = export_table_failed(daemon_exports(daemon))->num;
	struct server_stats stats;

	server_get_stats(daemon_server(daemon), &stats);
	fprintf(out, "%zu export%s", exports, exports == 1 ? "" : "s");
	if (failed)
		fprintf(out, " (and %zu failed)", failed);
	fprintf(out, ", %u client%s", stats.clients, stats.clients == 1 ? "" : "s");
	put_addresses(daemon, out);
	if (daemon_registry(daemon)) {
		fputs("; ", out);
		registry_describe(daemon_registry(daemon), out);
	}
}

/* NULL: no memory. */
static char *describe(struct daemon *daemon)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	put(out, daemon);
	fclose(out);
	return text;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void notify(struct service_status *status, struct daemon *daemon, bool is_ready)
{
	char *text = describe(daemon);
	bool is_changed = text && !is_same(text, status->text);

	if (is_ready || is_changed)
		sd_notifyf(0, "%s%s%s", is_ready ? "READY=1\n" : "", text ? "STATUS=" : "",
			   text ? text : "");
	free(status->text);
	status->text = text;
}

void service_status_ready(struct service_status *status, struct daemon *daemon)
{
	notify(status, daemon, true);
}

void service_status_update(struct service_status *status, struct daemon *daemon)
{
	if (getenv("NOTIFY_SOCKET"))
		notify(status, daemon, false);
}

void service_status_free(struct service_status *status)
{
	free(status->text);
	status->text = NULL;
}
