/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A host of a fleet: list the exports, connect to the DPU of one by its name, and watch it until it
 * is gone.
 *
 * Build: cc -DDOCA_ALLOW_EXPERIMENTAL_API -o fleet fleet.c $(pkg-config --cflags --libs dpumap-fleet)
 * Run: ./fleet http://192.168.100.9:2379 rack1 dpu1:bulk host.crt host.key ca.crt
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/channel.h>
#include <dpumap/fleet.h>

struct wanted {
	const char *name; /* DPU:EXPORT */
	bool is_gone;
};

static void print_export(union doca_data user_data, const struct dpumap_fleet_export *e)
{
	(void)user_data;
	printf("%s:%s  %s  %llu bytes\n", e->dpu, e->name, e->kind, (unsigned long long)e->size);
}

/* What the DPU itself says, which counts. */
static void print_real(union doca_data user_data, const struct dpumap_channel_export *e)
{
	(void)user_data;
	printf("the DPU exports %s with %llu bytes\n", e->name, (unsigned long long)e->size);
}

static void heard(union doca_data user_data, enum dpumap_fleet_event event,
		  const struct dpumap_fleet_dpu *dpu, const struct dpumap_fleet_export *e)
{
	struct wanted *wanted = user_data.ptr;
	char name[2 * DPUMAP_FLEET_NAME_MAX + 2];

	(void)dpu;
	if (event == DPUMAP_FLEET_STALE)
		printf("etcd does not answer; the list stays as it was\n");
	if (event != DPUMAP_FLEET_REMOVED || !e)
		return;
	snprintf(name, sizeof(name), "%s:%s", e->dpu, e->name);
	printf("%s is gone\n", name);
	if (strcmp(name, wanted->name) == 0)
		wanted->is_gone = true;
}

static void must(doca_error_t result, const char *what, const char *why)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s (%s)\n", what, why, doca_error_get_name(result));
	exit(EXIT_FAILURE);
}

static void ask_dpu(struct dpumap_fleet *fleet, const char *name, char *files[])
{
	union doca_data none = {0};
	struct dpumap_channel *channel;

	must(dpumap_channel_create(&channel), "channel", "no memory");
	must(dpumap_channel_set_certificate(channel, files[0], files[1], files[2], NULL), "files",
	     dpumap_channel_get_error(channel));
	must(dpumap_fleet_connect(fleet, name, channel), name, dpumap_fleet_get_error(fleet));
	must(dpumap_channel_list(channel, print_real, none), "list",
	     dpumap_channel_get_error(channel));
	dpumap_channel_destroy(channel);
}

static void watch(struct dpumap_fleet *fleet, const struct wanted *wanted)
{
	struct pollfd fd = {.events = POLLIN};
	int wait_ms;

	must(dpumap_fleet_get_notification_handle(fleet, &fd.fd), "watch", "");
	while (!wanted->is_gone) {
		must(dpumap_fleet_get_next_time(fleet, &wait_ms), "watch", "");
		poll(&fd, 1, wait_ms);
		must(dpumap_fleet_process(fleet), "watch", dpumap_fleet_get_error(fleet));
	}
}

int main(int argc, char **argv)
{
	struct wanted wanted = {.name = argc == 7 ? argv[3] : NULL};
	union doca_data data = {.ptr = &wanted};
	struct dpumap_fleet *fleet;

	if (argc != 7)
		return fprintf(stderr, "usage: fleet ENDPOINT FLEET DPU:EXPORT CERT KEY CA\n");
	setvbuf(stdout, NULL, _IOLBF, 0);
	must(dpumap_fleet_create(argv[2], &fleet), argv[2], "not a valid name");
	must(dpumap_fleet_add_endpoint(fleet, argv[1]), argv[1], dpumap_fleet_get_error(fleet));
	must(dpumap_fleet_start(fleet), argv[1], dpumap_fleet_get_error(fleet));
	must(dpumap_fleet_watch(fleet, heard, data), "watch", dpumap_fleet_get_error(fleet));
	must(dpumap_fleet_list(fleet, NULL, NULL, 0, print_export, data), "list",
	     dpumap_fleet_get_error(fleet));
	ask_dpu(fleet, wanted.name, argv + 4);
	watch(fleet, &wanted);
	dpumap_fleet_destroy(fleet);
	return 0;
}
