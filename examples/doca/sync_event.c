/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A counter that the DPU and the host share. The DPU creates and exports it, and waits until the host
 * has counted to ROUNDS. Then it sets it to DONE, for which the host waits. This source is the host's
 * program if it is compiled with DOCA_ARCH_HOST, and the DPU's program if it is compiled with
 * DOCA_ARCH_DPU.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <doca_log.h>
#include <doca_sync_event.h>

#include "common.h"

DOCA_LOG_REGISTER(EXAMPLE::SYNC_EVENT);

#define ROUNDS 3u
#define DONE   1000u

#ifdef DOCA_ARCH_DPU

#define check_device doca_sync_event_cap_is_export_to_remote_pci_supported

static doca_error_t export_event(const struct config *config, struct doca_dev *dev,
				 struct doca_sync_event *event)
{
	const uint8_t *bytes;
	doca_error_t result;
	size_t len;

	result = doca_sync_event_export_to_remote_pci(event, dev, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	return write_file(config->descriptor, bytes, len);
}

static doca_error_t open_event(const struct config *config, struct doca_dev *dev,
			       struct doca_sync_event **event)
{
	doca_error_t result;

	(void)config;
	result = doca_sync_event_create(event);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_add_publisher_location_remote_pci(*event);
	DOCA_ERROR_PROPAGATE(result, doca_sync_event_add_subscriber_location_cpu(*event, dev));
	return result;
}

static doca_error_t use_event(const struct config *config, struct doca_dev *dev,
			      struct doca_sync_event *event)
{
	doca_error_t result = export_event(config, dev, event);

	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("Waiting for the host to count to %u", ROUNDS);
	result = doca_sync_event_wait_gt_yield(event, ROUNDS - 1, UINT64_MAX);
	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("The host has counted to %u", ROUNDS);
	result = doca_sync_event_update_set(event, DONE);
	/* The event must exist until the host has seen the value. */
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_wait_gt_yield(event, DONE, UINT64_MAX);
	return result;
}

#else

#define check_device doca_sync_event_cap_is_create_from_export_supported

static doca_error_t open_event(const struct config *config, struct doca_dev *dev,
			       struct doca_sync_event **event)
{
	doca_error_t result;
	char *bytes;
	size_t len;

	result = read_file(config->descriptor, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_create_from_export(dev, (const uint8_t *)bytes, len, event);
	free(bytes);
	return result;
}

static doca_error_t use_event(const struct config *config, struct doca_dev *dev,
			      struct doca_sync_event *event)
{
	doca_error_t result = DOCA_SUCCESS;
	uint64_t before;

	(void)config;
	(void)dev;
	for (unsigned int i = 0; i < ROUNDS && result == DOCA_SUCCESS; i++) {
		result = doca_sync_event_update_add(event, 1, &before);
		if (result == DOCA_SUCCESS)
			DOCA_LOG_INFO("The value was %" PRIu64, before);
	}
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_wait_eq_yield(event, DONE, UINT64_MAX);
	if (result == DOCA_SUCCESS)
		result = doca_sync_event_update_add(event, 1, &before);
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("The DPU has set it to %" PRIu64, before);
	return result;
}

#endif

static doca_error_t run(const struct config *config)
{
	struct doca_sync_event *event = NULL;
	struct doca_dev *dev;
	doca_error_t result;

	result = open_device(config->pci_addr, check_device, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_event(config, dev, &event);
	DOCA_ERROR_PROPAGATE(result, doca_sync_event_start(event));
	DOCA_ERROR_PROPAGATE(result, use_event(config, dev, event));
	if (event)
		result = keep_first(result, doca_sync_event_destroy(event));
	return keep_first(result, doca_dev_close(dev));
}

int main(int argc, char **argv)
{
	struct config config = {.descriptor = "event.bin"};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, "pd", &config));
	DOCA_ERROR_PROPAGATE(result, run(&config));
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
