/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A file goes to another machine, or to the other function of the card, over RDMA. The server listens at
 * the address of its device; a client has -a ADDRESS. The client sends the length of the file. The server
 * answers with exports of memory and of a sync event. The client writes the file to that memory, reads it
 * back and compares, and then adds 1 to the event, for which the server waits.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>
#include <doca_sync_event.h>

#include "common.h"
#include "rdma_peer.h"

DOCA_LOG_REGISTER(EXAMPLE::RDMA);

#define MAX_LEN	       ((uint64_t)1 << 30) /* of a file */
#define MAX_EXPORT_LEN 4096		   /* of a map or an event */

/* The server's message, little endian. */
struct offer {
	uint64_t addr;
	uint32_t map_len, event_len;
	uint8_t exports[MAX_EXPORT_LEN]; /* of the map, then of the event */
};

/* --- the server ------------------------------------------------------------------------------- */

static doca_error_t open_event(struct doca_dev *dev, struct doca_sync_event **event)
{
	doca_error_t result = doca_sync_event_create(event);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_sync_event_add_publisher_location_remote_net(*event);
	DOCA_ERROR_PROPAGATE(result, doca_sync_event_add_subscriber_location_cpu(*event, dev));
	DOCA_ERROR_PROPAGATE(result, doca_sync_event_start(*event));
	if (result != DOCA_SUCCESS)
		(void)doca_sync_event_destroy(*event);
	return result;
}

static doca_error_t send_offer(struct peer *peer, const struct memory *memory,
			       struct doca_sync_event *event)
{
	struct offer offer = {.addr = htole64((uint64_t)(uintptr_t)memory->bytes)};
	const uint8_t *of_event;
	const void *of_map;
	size_t map_len = 0, event_len = 0;
	doca_error_t result;

	result = doca_mmap_export_rdma(memory->mmap, peer->dev, &of_map, &map_len);
	DOCA_ERROR_PROPAGATE(result,
			     doca_sync_event_export_to_remote_net(event, &of_event, &event_len));
	if (result == DOCA_SUCCESS && map_len + event_len > sizeof(offer.exports))
		result = DOCA_ERROR_TOO_BIG;
	if (result != DOCA_SUCCESS)
		return result;
	offer.map_len = htole32((uint32_t)map_len);
	offer.event_len = htole32((uint32_t)event_len);
	memcpy(offer.exports, of_map, map_len);
	memcpy(offer.exports + map_len, of_event, event_len);
	return send_bytes(peer, &offer, sizeof(offer));
}

/* The client needs no help of this process. It may end as soon as it has added to the event. */
static doca_error_t await_event(struct peer *peer, struct doca_sync_event *event)
{
	doca_error_t result, progress;
	uint64_t number = 0;

	do {
		progress = progress_peer(peer);
		result = doca_sync_event_get(event, &number);
	} while (!number && result == DOCA_SUCCESS && progress == DOCA_SUCCESS);
	if (!number)
		result = keep_first(result, progress);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("The client has not written the file: %s",
			     doca_error_get_descr(result));
	return result;
}

static doca_error_t receive_file(struct peer *peer, size_t len, const char *path)
{
	struct doca_sync_event *event;
	struct memory memory;
	doca_error_t result;

	result = create_memory(peer->dev, len,
			       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
				       DOCA_ACCESS_FLAG_RDMA_WRITE,
			       &memory);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_event(peer->dev, &event);
	if (result == DOCA_SUCCESS) {
		result = send_offer(peer, &memory, event);
		DOCA_ERROR_PROPAGATE(result, await_event(peer, event));
		DOCA_ERROR_PROPAGATE(result, write_file(path, memory.bytes, len));
		if (result == DOCA_SUCCESS)
			DOCA_LOG_INFO("The client has written %zu bytes to %s", len, path);
		result = keep_first(result, doca_sync_event_destroy(event));
	}
	destroy_memory(&memory);
	return result;
}

static doca_error_t serve(const struct config *config, struct peer *peer)
{
	const void *request;
	doca_error_t result;
	uint64_t len = 0;
	size_t size;

	result = accept_peer(peer);
	DOCA_ERROR_PROPAGATE(result, receive_bytes(peer, &request, &size));
	if (result != DOCA_SUCCESS)
		return result;
	if (size == sizeof(len))
		memcpy(&len, request, sizeof(len));
	len = le64toh(len);
	if (!len || len > MAX_LEN) {
		DOCA_LOG_ERR("The client must send a length of 1 to %" PRIu64, MAX_LEN);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return receive_file(peer, len, config->file);
}

/* --- the client ------------------------------------------------------------------------------- */

static doca_error_t receive_offer(struct peer *peer, struct offer *offer)
{
	const void *bytes;
	size_t len;
	doca_error_t result = receive_bytes(peer, &bytes, &len);

	if (result != DOCA_SUCCESS)
		return result;
	if (len != sizeof(*offer))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(offer, bytes, sizeof(*offer));
	offer->addr = le64toh(offer->addr);
	offer->map_len = le32toh(offer->map_len);
	offer->event_len = le32toh(offer->event_len);
	if (offer->map_len > MAX_EXPORT_LEN || offer->event_len > MAX_EXPORT_LEN - offer->map_len)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

/* Write the file, and read it back. */
static doca_error_t write_and_compare(struct peer *peer, struct place remote,
				      const struct memory *file)
{
	const struct place local = {file->mmap, file->bytes};
	struct memory back;
	doca_error_t result =
		create_memory(peer->dev, file->len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &back);

	if (result != DOCA_SUCCESS)
		return result;
	result = write_to(peer, remote, local, file->len);
	if (result == DOCA_SUCCESS)
		result = read_from(peer, (struct place){back.mmap, back.bytes}, remote, file->len);
	if (result == DOCA_SUCCESS && memcmp(back.bytes, file->bytes, file->len) != 0) {
		DOCA_LOG_ERR("The server's memory differs from the file");
		result = DOCA_ERROR_IO_FAILED;
	}
	destroy_memory(&back);
	return result;
}

static doca_error_t count(struct peer *peer, const struct offer *offer)
{
	struct doca_sync_event_remote_net *event;
	doca_error_t result;
	uint64_t before = 0;

	result = doca_sync_event_remote_net_create_from_export(
		peer->dev, offer->exports + offer->map_len, offer->event_len, &event);
	if (result != DOCA_SUCCESS)
		return result;
	result = add_to(peer, event, 1, &before);
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("The server's event was %" PRIu64 " and is %" PRIu64, before,
			      before + 1);
	return keep_first(result, doca_sync_event_remote_net_destroy(event));
}

static doca_error_t use_offer(struct peer *peer, const struct offer *offer,
			      const struct memory *file)
{
	struct doca_mmap *mmap;
	doca_error_t result;

	result = doca_mmap_create_from_export(NULL, offer->exports, offer->map_len, peer->dev,
					      &mmap);
	if (result != DOCA_SUCCESS)
		return result;
	result =
		write_and_compare(peer, (struct place){mmap, (char *)(uintptr_t)offer->addr}, file);
	DOCA_ERROR_PROPAGATE(result, count(peer, offer));
	return keep_first(result, doca_mmap_destroy(mmap));
}

static doca_error_t read_memory(struct doca_dev *dev, const char *path, struct memory *memory)
{
	doca_error_t result;
	char *bytes;
	size_t len;

	result = read_file(path, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_memory(dev, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, memory);
	if (result == DOCA_SUCCESS)
		memcpy(memory->bytes, bytes, len);
	free(bytes);
	return result;
}

static doca_error_t send_file(const struct config *config, struct peer *peer)
{
	struct memory file;
	struct offer offer;
	doca_error_t result = read_memory(peer->dev, config->file, &file);
	uint64_t len;

	if (result != DOCA_SUCCESS)
		return result;
	len = htole64(file.len);
	result = connect_to(config->address, peer);
	DOCA_ERROR_PROPAGATE(result, send_bytes(peer, &len, sizeof(len)));
	DOCA_ERROR_PROPAGATE(result, receive_offer(peer, &offer));
	DOCA_ERROR_PROPAGATE(result, use_offer(peer, &offer, &file));
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("%zu bytes of %s are on the server", file.len, config->file);
	destroy_memory(&file);
	return result;
}

/* ------------------------------------------------------------------------------------------------ */

static doca_error_t run(const struct config *config)
{
	struct doca_dev *dev;
	struct peer peer;
	doca_error_t result;

	result = open_device(config->pci_addr, can_talk, &dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = open_peer(dev, &peer);
	DOCA_ERROR_PROPAGATE(result,
			     config->address[0] ? send_file(config, &peer) : serve(config, &peer));
	result = keep_first(result, close_peer(&peer));
	return keep_first(result, doca_dev_close(dev));
}

int main(int argc, char **argv)
{
	struct config config = {.file = "file"};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, "pfa", &config));
	DOCA_ERROR_PROPAGATE(result, run(&config));
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
