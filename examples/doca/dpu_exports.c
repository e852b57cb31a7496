/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The DPU exports writable memory. The host copies a file into it, and back again to verify the
 * copy. This source is the DPU's program if it is compiled with DOCA_ARCH_DPU, and the host's
 * program if it is compiled with DOCA_ARCH_HOST.
 */
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "common.h"

#define SHARED_LEN ((size_t)8 << 20)

DOCA_LOG_REGISTER(EXAMPLE::DPU_EXPORTS);

#ifdef DOCA_ARCH_DPU

/* Length of the host's file: the zeros behind it do not count. */
static size_t content_len(const struct memory *memory)
{
	size_t len = memory->len;

	while (len && !memory->bytes[len - 1])
		len--;
	return len;
}

static doca_error_t share(const struct config *config, struct doca_dev *dev)
{
	struct memory memory;
	doca_error_t result;
	size_t len;

	result = create_memory(dev, SHARED_LEN,
			       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE,
			       &memory);
	if (result != DOCA_SUCCESS)
		return result;
	result = publish(config, &memory, dev);
	if (result == DOCA_SUCCESS) {
		DOCA_LOG_INFO("The host can write %zu bytes", memory.len);
		wait_for_enter();
		len = content_len(&memory);
		DOCA_LOG_INFO("The host wrote %zu bytes", len);
		if (len)
			result = write_file(config->file, memory.bytes, len);
	}
	destroy_memory(&memory);
	return result;
}

static doca_error_t run(const struct config *config)
{
	struct doca_dev *dev;
	doca_error_t result;

	result = open_device(config->pci_addr, can_export, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = share(config, dev);
	result = keep_first(result, doca_dev_close(dev));
	return result;
}

#else

/* Copy the first half of our memory to the DPU and back into the second half; compare both. */
static doca_error_t there_and_back(struct copier *copier, struct place remote,
				   const struct memory *memory, size_t len)
{
	struct place first = {memory->mmap, memory->bytes};
	struct place second = {memory->mmap, memory->bytes + len};
	doca_error_t result;

	result = copy(copier, remote, first, len);
	DOCA_ERROR_PROPAGATE(result, copy(copier, second, remote, len));
	if (result == DOCA_SUCCESS && memcmp(first.addr, second.addr, len) != 0) {
		DOCA_LOG_ERR("The bytes read back differ from the bytes sent");
		result = DOCA_ERROR_UNEXPECTED;
	}
	return result;
}

static doca_error_t send_bytes(const struct config *config, struct copier *copier,
			       const char *bytes, size_t len)
{
	struct doca_mmap *remote;
	struct memory memory;
	doca_error_t result;
	char *remote_addr;
	size_t room;

	result = import(config, copier->dev, &remote, &remote_addr, &room);
	if (result != DOCA_SUCCESS)
		return result;
	if (len > room) {
		DOCA_LOG_ERR("%s has %zu bytes; the DPU exports only %zu", config->file, len, room);
		result = DOCA_ERROR_TOO_BIG;
		goto destroy_remote;
	}
	result = create_memory(copier->dev, 2 * len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &memory);
	if (result != DOCA_SUCCESS)
		goto destroy_remote;
	memcpy(memory.bytes, bytes, len);
	result = there_and_back(copier, (struct place){remote, remote_addr}, &memory, len);
	destroy_memory(&memory);
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("%zu bytes of %s are in the DPU's memory", len, config->file);
destroy_remote:
	result = keep_first(result, doca_mmap_destroy(remote));
	return result;
}

static doca_error_t copy_bytes(const struct config *config, const char *bytes, size_t len)
{
	struct copier copier;
	struct doca_dev *dev;
	doca_error_t result;

	result = open_device(config->pci_addr, can_copy, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_copier(dev, &copier);
	if (result == DOCA_SUCCESS) {
		result = send_bytes(config, &copier, bytes, len);
		close_copier(&copier);
	}
	result = keep_first(result, doca_dev_close(dev));
	return result;
}

static doca_error_t run(const struct config *config)
{
	doca_error_t result;
	char *bytes;
	size_t len;

	result = read_file(config->file, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = copy_bytes(config, bytes, len);
	free(bytes);
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
