/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The DPU exports writable memory. The host copies a file into it, and back again to verify the
 * copy. This source is the DPU's program if it is compiled with DOCA_ARCH_DPU, and the host's
 * program if it is compiled with DOCA_ARCH_HOST.
 */
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "common.h"

#define SHARED_LEN ((size_t)8 << 20)
/* The length of the file, in little-endian order, precedes its bytes. */
#define HEAD_LEN sizeof(uint64_t)

DOCA_LOG_REGISTER(EXAMPLE::DPU_EXPORTS);

#ifdef DOCA_ARCH_DPU

/* The host wrote the length, so it may be wrong. */
static doca_error_t take_file(const struct config *config, const struct memory *memory)
{
	uint64_t len;

	memcpy(&len, memory->bytes, HEAD_LEN);
	len = le64toh(len);
	if (len > memory->len - HEAD_LEN) {
		DOCA_LOG_ERR("The host claims %zu bytes; the memory has room for %zu", (size_t)len,
			     memory->len - HEAD_LEN);
		return DOCA_ERROR_INVALID_VALUE;
	}
	DOCA_LOG_INFO("The host wrote %zu bytes", (size_t)len);
	return len ? write_file(config->file, memory->bytes + HEAD_LEN, len) : DOCA_SUCCESS;
}

static doca_error_t share(const struct config *config, struct doca_dev *dev)
{
	struct memory memory;
	doca_error_t result;

	result = create_memory(dev, SHARED_LEN,
			       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE,
			       &memory);
	if (result != DOCA_SUCCESS)
		return result;
	result = publish(config, &memory, dev);
	if (result == DOCA_SUCCESS) {
		DOCA_LOG_INFO("The host can write %zu bytes", memory.len - HEAD_LEN);
		wait_for_enter();
		result = take_file(config, &memory);
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
	const uint64_t head = htole64(len);
	struct doca_mmap *remote;
	struct memory memory;
	doca_error_t result;
	char *remote_addr;
	size_t room, total;

	result = import(config, copier->dev, &remote, &remote_addr, &room);
	if (result != DOCA_SUCCESS)
		return result;
	if (room < HEAD_LEN || len > room - HEAD_LEN) {
		DOCA_LOG_ERR("%s has %zu bytes, and its length %zu; the DPU exports only %zu",
			     config->file, len, HEAD_LEN, room);
		result = DOCA_ERROR_TOO_BIG;
		goto destroy_remote;
	}
	total = HEAD_LEN + len;
	result = create_memory(copier->dev, 2 * total, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &memory);
	if (result != DOCA_SUCCESS)
		goto destroy_remote;
	memcpy(memory.bytes, &head, HEAD_LEN);
	memcpy(memory.bytes + HEAD_LEN, bytes, len);
	result = there_and_back(copier, (struct place){remote, remote_addr}, &memory, total);
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
