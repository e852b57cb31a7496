/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/device_watch.h"

#include <stddef.h>
#include <sys/epoll.h>

#include <dpumap/dev.h>

#include "dpu/base/log.h"

/* The clients are notified of the end of each export before the connections close. */
static void fail(struct device_watch *device)
{
	if (device->has_failed)
		return;
	device->has_failed = true;
	log_error("device %s has failed or was removed (see dmesg): all exports have ended, and "
		  "dpumapd ends, so that its service manager starts it again",
		  export_table_device_name(device->exports));
	export_table_lose(device->exports);
}

static void on_event(struct device_watch *device, enum dpumap_dev_event event)
{
	const char *name = export_table_device_name(device->exports);

	switch (event) {
	case DPUMAP_DEV_EVENT_FATAL:
		fail(device);
		break;
	case DPUMAP_DEV_EVENT_PORT_DOWN:
		log_warning(
			"device %s: its port is down: copies over RDMA fail until it is up; check "
			"the cable and the switch",
			name);
		break;
	case DPUMAP_DEV_EVENT_PORT_UP:
		log_line("device %s: its port is up", name);
		break;
	case DPUMAP_DEV_EVENT_QUEUE_FAILED:
		log_error("device %s: a queue failed: copies on it do not end; restart dpumapd",
			  name);
		break;
	}
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct device_watch *device =
		(struct device_watch *)((char *)watch - offsetof(struct device_watch, watch));
	enum dpumap_dev_event event;

	(void)events;
	while (!device->has_failed &&
	       dpumap_dev_next_event(export_table_dev(device->exports), &event) == DOCA_SUCCESS)
		on_event(device, event);
}

doca_error_t device_watch_start(struct device_watch *device, struct loop *loop,
				struct export_table *exports, struct dpumap_error *error)
{
	doca_error_t result;
	int fd;

	device->exports = exports;
	result = dpumap_dev_get_event_handle(export_table_dev(exports), &fd);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot watch device %s",
					 export_table_device_name(exports));
	return loop_add(loop, &device->watch, fd, EPOLLIN, on_ready, error);
}
