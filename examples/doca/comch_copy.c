/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file goes to the DPU and back. The host exports its memory and offers the descriptor in a
 * message; the DPU imports it and copies the file. Then the DPU exports its copy and the host
 * copies it back, and compares. This source is the DPU's program if it is compiled with
 * DOCA_ARCH_DPU, and the host's program if it is compiled with DOCA_ARCH_HOST.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "channel.h"
#include "common.h"

#define MAX_LEN ((uint64_t)1 << 30) /* of a file from the host */

DOCA_LOG_REGISTER(EXAMPLE::COMCH_COPY);

/* --- messages --------------------------------------------------------------------------------- */

/* The first bytes of each message, little endian. The descriptor follows an offer. */
enum message_type {
	OFFER = 1, /* memory that the peer may read */
	RESULT = 2 /* of the copy, or of an earlier step */
};
struct header {
	uint32_t type;
	uint32_t result;
	uint64_t addr;
	uint64_t len;
};

static doca_error_t send_result(struct channel *channel, doca_error_t result)
{
	const struct header header = {.type = htole32(RESULT), .result = htole32((uint32_t)result)};

	return send_message(channel, &header, sizeof(header));
}

/* Export the memory, and send the descriptor with its address and length in one message. */
static doca_error_t send_offer(struct channel *channel, const struct memory *memory,
			       struct doca_dev *dev)
{
	struct header header = {.type = htole32(OFFER),
				.addr = htole64((uint64_t)(uintptr_t)memory->bytes),
				.len = htole64(memory->len)};
	const void *desc;
	doca_error_t result;
	char *bytes;
	size_t len;

	result = doca_mmap_export_pci(memory->mmap, dev, &desc, &len);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Cannot export the memory: %s", doca_error_get_descr(result));
		return result;
	}
	bytes = malloc(sizeof(header) + len);
	if (!bytes)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), desc, len);
	result = send_message(channel, bytes, sizeof(header) + len);
	free(bytes);
	return result;
}

/* Wait for a message of this type. The peer sends its result instead if a step of it failed. */
static doca_error_t receive(struct channel *channel, enum message_type type, struct header *header,
			    struct message **message)
{
	doca_error_t result = receive_message(channel, message);

	if (result != DOCA_SUCCESS)
		return result;
	if ((*message)->len < sizeof(*header)) {
		result = DOCA_ERROR_INVALID_VALUE;
	} else {
		memcpy(header, (*message)->bytes, sizeof(*header));
		if (le32toh(header->type) == RESULT && header->result)
			result = (doca_error_t)le32toh(header->result);
		else if (le32toh(header->type) != type)
			result = DOCA_ERROR_INVALID_VALUE;
	}
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	DOCA_LOG_ERR("The peer's message is wrong, or it reports an error: %s",
		     doca_error_get_descr(result));
	free(*message);
	return result;
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Copy what the message offers to new memory that the peer may read as well. */
static doca_error_t copy_offer(struct copier *copier, const struct header *header,
			       const struct message *message, struct memory *memory)
{
	uint64_t len = le64toh(header->len);
	struct doca_mmap *remote;
	doca_error_t result;

	if (!len || len > MAX_LEN) {
		DOCA_LOG_ERR("The peer offers %" PRIu64 " bytes, not 1 to %" PRIu64, len, MAX_LEN);
		return DOCA_ERROR_TOO_BIG;
	}
	result = doca_mmap_create_from_export(NULL, message->bytes + sizeof(*header),
					      message->len - sizeof(*header), copier->dev, &remote);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Cannot import the peer's memory: %s", doca_error_get_descr(result));
		return result;
	}
	result = create_memory(copier->dev, len,
			       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY,
			       memory);
	if (result == DOCA_SUCCESS) {
		result =
			copy(copier, (struct place){memory->mmap, memory->bytes},
			     (struct place){remote, (char *)(uintptr_t)le64toh(header->addr)}, len);
		if (result != DOCA_SUCCESS)
			destroy_memory(memory);
	}
	return keep_first(result, doca_mmap_destroy(remote));
}

/* Wait for the peer's offer, copy it, and free the message. */
static doca_error_t receive_copy(struct channel *channel, struct copier *copier,
				 struct memory *memory)
{
	struct message *message;
	struct header header;
	doca_error_t result = receive(channel, OFFER, &header, &message);

	if (result != DOCA_SUCCESS)
		return result;
	result = copy_offer(copier, &header, message, memory);
	free(message);
	return result;
}

#ifdef DOCA_ARCH_DPU

static doca_error_t write_and_offer(const struct config *config, struct channel *channel,
				    struct copier *copier, const struct memory *memory)
{
	struct message *message;
	struct header header;
	doca_error_t result;

	result = write_file(config->file, memory->bytes, memory->len);
	if (result != DOCA_SUCCESS)
		return keep_first(result, send_result(channel, result));
	DOCA_LOG_INFO("Copied %zu bytes from the host to %s", memory->len, config->file);
	result = send_offer(channel, memory, copier->dev);
	/* The memory must last until the host has copied it. */
	DOCA_ERROR_PROPAGATE(result, receive(channel, RESULT, &header, &message));
	if (result == DOCA_SUCCESS)
		free(message);
	return result;
}

static doca_error_t serve(const struct config *config, struct channel *channel,
			  struct copier *copier)
{
	struct memory memory;
	doca_error_t result = receive_copy(channel, copier, &memory);

	if (result != DOCA_SUCCESS)
		return keep_first(result, send_result(channel, result));
	result = write_and_offer(config, channel, copier, &memory);
	destroy_memory(&memory);
	return result;
}

static doca_error_t exchange(const struct config *config, struct copier *copier)
{
	struct doca_dev_rep *rep;
	struct channel channel;
	doca_error_t result = open_representor(copier->dev, config->rep_pci_addr, &rep);

	if (result != DOCA_SUCCESS)
		return result;
	result = accept_client(copier->dev, rep, config->name, &channel);
	if (result == DOCA_SUCCESS) {
		result = serve(config, &channel, copier);
		close_channel(&channel);
	}
	return keep_first(result, doca_dev_rep_close(rep));
}

static doca_error_t can_take_part(const struct doca_devinfo *devinfo)
{
	doca_error_t result = can_serve(devinfo);

	DOCA_ERROR_PROPAGATE(result, can_copy(devinfo));
	return result;
}

#else

/* Offer the file, wait until the DPU offers its copy, and compare it with the file. */
static doca_error_t there_and_back(struct channel *channel, struct copier *copier,
				   const struct memory *file)
{
	struct memory back;
	doca_error_t result = send_offer(channel, file, copier->dev);

	DOCA_ERROR_PROPAGATE(result, receive_copy(channel, copier, &back));
	if (result != DOCA_SUCCESS)
		return result;
	if (back.len != file->len || memcmp(back.bytes, file->bytes, file->len) != 0) {
		DOCA_LOG_ERR("The copy on the DPU differs from the file");
		result = DOCA_ERROR_UNEXPECTED;
	}
	destroy_memory(&back);
	return keep_first(result, send_result(channel, result));
}

/* Memory with the bytes of the file, which the DPU may read. */
static doca_error_t load(const struct config *config, struct doca_dev *dev, struct memory *memory)
{
	doca_error_t result;
	char *bytes;
	size_t len;

	result = read_file(config->file, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_memory(dev, len, DOCA_ACCESS_FLAG_PCI_READ_ONLY, memory);
	if (result == DOCA_SUCCESS)
		memcpy(memory->bytes, bytes, len);
	free(bytes);
	return result;
}

static doca_error_t exchange(const struct config *config, struct copier *copier)
{
	struct channel channel;
	struct memory memory;
	doca_error_t result = load(config, copier->dev, &memory);

	if (result != DOCA_SUCCESS)
		return result;
	result = connect_to_server(copier->dev, config->name, &channel);
	if (result == DOCA_SUCCESS) {
		result = there_and_back(&channel, copier, &memory);
		close_channel(&channel);
	}
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("%zu bytes of %s went to the DPU and back", memory.len, config->file);
	destroy_memory(&memory);
	return result;
}

static doca_error_t can_take_part(const struct doca_devinfo *devinfo)
{
	doca_error_t result = can_connect(devinfo);

	DOCA_ERROR_PROPAGATE(result, can_copy(devinfo));
	return result;
}

#endif

static doca_error_t run(const struct config *config)
{
	struct copier copier;
	struct doca_dev *dev;
	doca_error_t result;

	result = open_device(config->pci_addr, can_take_part, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_copier(dev, &copier);
	if (result == DOCA_SUCCESS) {
		result = exchange(config, &copier);
		close_copier(&copier);
	}
	return keep_first(result, doca_dev_close(dev));
}

#ifdef DOCA_ARCH_DPU
#define FLAGS "prfn"
#else
#define FLAGS "pfn"
#endif

int main(int argc, char **argv)
{
	struct config config = {.name = "comch_copy"};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, FLAGS, &config));
	DOCA_ERROR_PROPAGATE(result, run(&config));
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
