/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The host exports the bytes of a file. The DPU copies them into a file of its own. This source is
 * the host's program if it is compiled with DOCA_ARCH_HOST, and the DPU's program if it is compiled
 * with DOCA_ARCH_DPU.
 */
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "common.h"

DOCA_LOG_REGISTER(EXAMPLE::HOST_EXPORTS);

#ifdef DOCA_ARCH_HOST

static doca_error_t export_bytes(const struct config *config, struct doca_dev *dev,
				 const char *bytes, size_t len)
{
	struct memory memory;
	doca_error_t result;

	result = create_memory(dev, len, DOCA_ACCESS_FLAG_PCI_READ_ONLY, &memory);
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(memory.bytes, bytes, len);
	result = publish(config, &memory, dev);
	if (result == DOCA_SUCCESS) {
		DOCA_LOG_INFO("The DPU can read %zu bytes of %s", len, config->file);
		wait_for_enter();
	}
	destroy_memory(&memory);
	return result;
}

static doca_error_t run(const struct config *config)
{
	struct doca_dev *dev;
	doca_error_t result;
	char *bytes;
	size_t len;

	result = read_file(config->file, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_device(config->pci_addr, can_export, &dev);
	if (result == DOCA_SUCCESS) {
		result = export_bytes(config, dev, bytes, len);
		result = keep_first(result, doca_dev_close(dev));
	}
	free(bytes);
	return result;
}

#else

static doca_error_t fetch(const struct config *config, struct copier *copier)
{
	struct doca_mmap *remote;
	struct memory memory;
	doca_error_t result;
	char *remote_addr;
	size_t len;

	result = import(config, copier->dev, &remote, &remote_addr, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_memory(copier->dev, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &memory);
	if (result == DOCA_SUCCESS) {
		result = copy(copier, (struct place){memory.mmap, memory.bytes},
			      (struct place){remote, remote_addr}, len);
		DOCA_ERROR_PROPAGATE(result, write_file(config->file, memory.bytes, len));
		destroy_memory(&memory);
	}
	result = keep_first(result, doca_mmap_destroy(remote));
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("Copied %zu bytes from the host to %s", len, config->file);
	return result;
}

static doca_error_t run(const struct config *config)
{
	struct copier copier;
	struct doca_dev *dev;
	doca_error_t result;

	result = open_device(config->pci_addr, can_copy, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_copier(dev, &copier);
	if (result == DOCA_SUCCESS) {
		result = fetch(config, &copier);
		close_copier(&copier);
	}
	result = keep_first(result, doca_dev_close(dev));
	return result;
}

#endif

int main(int argc, char **argv)
{
	struct config config = {.descriptor = "descriptor.bin", .buffer = "buffer.txt"};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, "pfdb", &config));
	DOCA_ERROR_PROPAGATE(result, run(&config));
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
