/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "device/device_priv.h"
#include "device/hca_priv.h"
#include "log/log.h"

static doca_error_t check_own(const struct dpumap_device *device)
{
	if (!device->user_pd)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: the context belongs to the program, which reads its events itself",
			   dpumap_hca_name(device->hca));
}

/* libibverbs opens the file so that reading it waits. */
static doca_error_t make_nonblocking(const struct dpumap_device *device)
{
	int fd = device->context->async_fd;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "%s: making its events non-blocking failed: %s",
				   dpumap_hca_name(device->hca), strerror(errno));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_event_fd(const struct dpumap_device *device, int *fd)
{
	doca_error_t result = check_own(device);

	if (result == DOCA_SUCCESS)
		result = make_nonblocking(device);
	if (result == DOCA_SUCCESS)
		*fd = device->context->async_fd;
	return result;
}

/* False: the event is not one of those that the library passes on. */
static bool find_kind(const struct ibv_async_event *raw, enum dpumap_dev_event *event)
{
	bool is_port = raw->element.port_num == DPUMAP_DEVICE_PORT;

	switch (raw->event_type) {
	case IBV_EVENT_DEVICE_FATAL:
		*event = DPUMAP_DEV_EVENT_FATAL;
		return true;
	case IBV_EVENT_PORT_ERR:
		*event = DPUMAP_DEV_EVENT_PORT_DOWN;
		return is_port;
	case IBV_EVENT_PORT_ACTIVE:
		*event = DPUMAP_DEV_EVENT_PORT_UP;
		return is_port;
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_WQ_FATAL:
		*event = DPUMAP_DEV_EVENT_QUEUE_FAILED;
		return true;
	default:
		return false;
	}
}

static void log_event(const struct dpumap_device *device, enum ibv_event_type type,
		      bool queue_failed)
{
	const char *name = dpumap_hca_name(device->hca);

	if (queue_failed)
		dpumap_log(DPUMAP_LOG_ERROR,
			   "%s: a queue failed and completes no more work: %s; stop its context",
			   name, ibv_event_type_str(type));
	else
		dpumap_log(DPUMAP_LOG_INFO, "%s: event: %s", name, ibv_event_type_str(type));
}

/* End of file or EIO: the kernel no longer has the device. */
static doca_error_t fail_read(const struct dpumap_device *device, int err,
			      enum dpumap_dev_event *event)
{
	if (err == EAGAIN || err == EINTR)
		return DOCA_ERROR_AGAIN;
	dpumap_log(DPUMAP_LOG_INFO, "%s: its events have ended: %s", dpumap_hca_name(device->hca),
		   err ? strerror(err) : "end of file");
	*event = DPUMAP_DEV_EVENT_FATAL;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_next_event(const struct dpumap_device *device,
				      enum dpumap_dev_event *event)
{
	doca_error_t result = check_own(device);
	struct ibv_async_event raw;
	bool is_wanted = false;

	if (result == DOCA_SUCCESS)
		result = make_nonblocking(device);
	while (result == DOCA_SUCCESS && !is_wanted) {
		errno = 0; /* the end of the file leaves it alone */
		if (ibv_get_async_event(device->context, &raw))
			return fail_read(device, errno, event);
		is_wanted = find_kind(&raw, event);
		/* Before another thread destroys the queue that the event names, which waits. */
		ibv_ack_async_event(&raw);
		log_event(device, raw.event_type,
			  is_wanted && *event == DPUMAP_DEV_EVENT_QUEUE_FAILED);
	}
	return result;
}
