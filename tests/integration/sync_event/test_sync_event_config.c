/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sync events: arguments, states, locations, memory, exports and capabilities. */
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_mmap.h>

#include "sync_side.h"

#define LEN	   4096u
#define ALL_ACCESS (NET_ACCESS | PCI_RW)
#define NET_ACCESS                                                                        \
	(LOCAL_RW | (uint32_t)(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
			       DOCA_ACCESS_FLAG_RDMA_ATOMIC))
#define INVALID(call) assert_error(call, DOCA_ERROR_INVALID_VALUE)

static const union doca_data no_data = {.u64 = 0};

static void on_get(struct doca_sync_event_task_get *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)task, (void)data, (void)ctx_data;
}

static void on_set(struct doca_sync_event_task_notify_set *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)task, (void)data, (void)ctx_data;
}

static void on_add(struct doca_sync_event_task_notify_add *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)task, (void)data, (void)ctx_data;
}

static void on_eq(struct doca_sync_event_task_wait_eq *task, union doca_data data,
		  union doca_data ctx_data)
{
	(void)task, (void)data, (void)ctx_data;
}

static void on_neq(struct doca_sync_event_task_wait_neq *task, union doca_data data,
		   union doca_data ctx_data)
{
	(void)task, (void)data, (void)ctx_data;
}

/* rule: X-1 */
static void null_for_the_object_is_invalid(void **state)
{
	struct doca_sync_event *event = NULL;
	const uint8_t *bytes = NULL;
	uint8_t data[32] = {0};
	uint64_t value = 0;
	size_t len = 0;

	INVALID(doca_sync_event_create(NULL));
	INVALID(doca_sync_event_create_from_export(NULL, data, sizeof(data), &event));
	INVALID(doca_sync_event_create_from_export(test.dev, NULL, sizeof(data), &event));
	INVALID(doca_sync_event_create_from_export(test.dev, data, sizeof(data), NULL));
	INVALID(doca_sync_event_add_publisher_location_cpu(NULL, test.dev));
	INVALID(doca_sync_event_add_publisher_location_cpu(test.event, NULL));
	INVALID(doca_sync_event_add_subscriber_location_cpu(NULL, test.dev));
	INVALID(doca_sync_event_add_subscriber_location_cpu(test.event, NULL));
	INVALID(doca_sync_event_add_publisher_location_remote_pci(NULL));
	INVALID(doca_sync_event_add_subscriber_location_remote_pci(NULL));
	INVALID(doca_sync_event_add_publisher_location_remote_net(NULL));
	INVALID(doca_sync_event_set_addr(NULL, &value));
	INVALID(doca_sync_event_set_addr(test.event, NULL));
	INVALID(doca_sync_event_set_addr(test.event,
					 (uint64_t *)(uintptr_t)(data + 1 - (uintptr_t)data % 2)));
	INVALID(doca_sync_event_set_doca_buf(test.event, NULL));
	INVALID(doca_sync_event_start(NULL));
	INVALID(doca_sync_event_stop(NULL));
	INVALID(doca_sync_event_export_to_remote_pci(NULL, test.dev, &bytes, &len));
	INVALID(doca_sync_event_export_to_remote_pci(test.event, NULL, &bytes, &len));
	INVALID(doca_sync_event_export_to_remote_pci(test.event, test.dev, NULL, &len));
	INVALID(doca_sync_event_export_to_remote_pci(test.event, test.dev, &bytes, NULL));
	INVALID(doca_sync_event_export_to_remote_net(NULL, &bytes, &len));
	INVALID(doca_sync_event_export_to_remote_net(test.event, NULL, &len));
	INVALID(doca_sync_event_export_to_remote_net(test.event, &bytes, NULL));
	assert_null(event);
	assert_null(bytes);
	assert_int_equal(len, 0);
}

/* rule: X-1 */
static void null_for_an_output_is_invalid(void **state)
{
	uint64_t value = 5;

	sync_start();
	INVALID(doca_sync_event_get(NULL, &value));
	INVALID(doca_sync_event_get(test.event, NULL));
	INVALID(doca_sync_event_update_add(NULL, 1, &value));
	INVALID(doca_sync_event_update_add(test.event, 1, NULL));
	INVALID(doca_sync_event_update_set(NULL, 1));
	INVALID(doca_sync_event_wait_eq(NULL, 0, 0));
	INVALID(doca_sync_event_wait_neq_yield(NULL, 0, 0));
	INVALID(doca_sync_event_wait_gt(NULL, 0, 0));
	assert_int_equal(value, 5);
	assert_int_equal(sync_value(), 0);
}

/* rule */
static void null_for_tasks_is_invalid(void **state)
{
	struct doca_sync_event_task_wait_eq *eq = NULL;
	struct doca_sync_event_task_notify_add *add = NULL;
	struct doca_sync_event_task_get *get = NULL;
	uint64_t value;

	INVALID(doca_sync_event_task_get_set_conf(NULL, on_get, on_get, 1));
	INVALID(doca_sync_event_task_get_set_conf(test.event, NULL, on_get, 1));
	INVALID(doca_sync_event_task_notify_set_set_conf(test.event, on_set, NULL, 1));
	INVALID(doca_sync_event_task_notify_add_set_conf(test.event, NULL, on_add, 1));
	INVALID(doca_sync_event_task_wait_eq_set_conf(test.event, on_eq, NULL, 1));
	INVALID(doca_sync_event_task_wait_neq_set_conf(test.event, NULL, on_neq, 1));
	assert_ok(doca_sync_event_task_get_set_conf(test.event, on_get, on_get, 1));
	assert_ok(doca_sync_event_task_notify_add_set_conf(test.event, on_add, on_add, 1));
	sync_use_ctx();
	sync_start_ctx();
	INVALID(doca_sync_event_task_get_alloc_init(NULL, &value, no_data, &get));
	INVALID(doca_sync_event_task_get_alloc_init(test.event, NULL, no_data, &get));
	INVALID(doca_sync_event_task_get_alloc_init(test.event, &value, no_data, NULL));
	INVALID(doca_sync_event_task_notify_add_alloc_init(test.event, 1, NULL, no_data, &add));
	INVALID(doca_sync_event_task_wait_eq_alloc_init(NULL, 0, 0, no_data, &eq));
	assert_null(get);
	assert_null(add);
	assert_null(doca_sync_event_task_get_as_doca_task(NULL));
	assert_null(doca_sync_event_task_notify_set_as_doca_task(NULL));
	assert_null(doca_sync_event_task_notify_add_as_doca_task(NULL));
	assert_null(doca_sync_event_task_wait_eq_as_doca_task(NULL));
	assert_null(doca_sync_event_task_wait_neq_as_doca_task(NULL));
	sync_stop_ctx();
}

/* rule: X-10 */
static void clean_up_of_null_is_an_error(void **state)
{
	enum doca_ctx_states now;

	assert_null(doca_sync_event_as_ctx(NULL));
	INVALID(doca_ctx_stop(doca_sync_event_as_ctx(NULL)));
	INVALID(doca_ctx_get_state(NULL, &now));
	INVALID(doca_sync_event_destroy(NULL));
	INVALID(doca_sync_event_remote_net_destroy(NULL));
}

/* rule: X-2, SE-12 */
static void capabilities_choose_the_device(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(test.dev);

	assert_ok(doca_sync_event_cap_is_create_from_export_supported(info));
	assert_ok(doca_sync_event_cap_is_export_to_remote_pci_supported(info));
	assert_ok(doca_sync_event_cap_is_export_to_remote_net_supported(info));
	assert_ok(doca_sync_event_cap_remote_net_is_create_from_export_supported(info));
	assert_ok(doca_sync_event_cap_task_get_is_supported(info));
	assert_ok(doca_sync_event_cap_task_notify_set_is_supported(info));
	assert_ok(doca_sync_event_cap_task_notify_add_is_supported(info));
	assert_ok(doca_sync_event_cap_task_wait_eq_is_supported(info));
	assert_ok(doca_sync_event_cap_task_wait_neq_is_supported(info));
	INVALID(doca_sync_event_cap_is_create_from_export_supported(NULL));
	INVALID(doca_sync_event_cap_is_export_to_dpa_supported(NULL));
	INVALID(doca_sync_event_cap_task_wait_eq_is_supported(NULL));
}

#define UNSUPPORTED(call) assert_error(call, DOCA_ERROR_NOT_SUPPORTED)

/* rule: SEE-location-2 */
static void dpa_and_gpu_are_not_supported(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(test.dev);
	struct doca_sync_event *event = test.event;
	struct doca_dpa *dpa = (struct doca_dpa *)&test;
	struct doca_gpu *gpu = (struct doca_gpu *)&test;
	doca_gpu_dev_sync_event_t *gpu_handle = NULL;
	doca_dpa_dev_sync_event_t dpa_handle = 0;

	UNSUPPORTED(doca_sync_event_cap_is_export_to_dpa_supported(info));
	UNSUPPORTED(doca_sync_event_cap_is_export_to_gpu_supported(info));
	UNSUPPORTED(doca_sync_event_cap_remote_net_is_export_to_dpa_supported(info));
	UNSUPPORTED(doca_sync_event_cap_remote_net_is_export_to_gpu_supported(info));
	UNSUPPORTED(doca_sync_event_add_publisher_location_dpa(event, dpa));
	UNSUPPORTED(doca_sync_event_add_publisher_location_gpu(event, gpu));
	UNSUPPORTED(doca_sync_event_add_subscriber_location_dpa(event, dpa));
	UNSUPPORTED(doca_sync_event_add_subscriber_location_gpu(event, gpu));
	UNSUPPORTED(doca_sync_event_get_dpa_handle(event, dpa, &dpa_handle));
	UNSUPPORTED(doca_sync_event_get_gpu_handle(event, gpu, &gpu_handle));
	INVALID(doca_sync_event_add_publisher_location_dpa(event, NULL));
	INVALID(doca_sync_event_get_dpa_handle(event, dpa, NULL));
}

/* rule: SE-2a */
static void event_has_one_location_of_each_kind(void **state)
{
	INVALID(doca_sync_event_add_publisher_location_cpu(test.event, test.dev));
	INVALID(doca_sync_event_add_publisher_location_remote_net(test.event));
	INVALID(doca_sync_event_add_subscriber_location_remote_pci(test.event));
}

/* rule: SEE-start */
static void start_without_locations_is_bad_state(void **state)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create(&event));
	assert_error(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_add_publisher_location_cpu(event, test.dev));
	assert_error(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_add_subscriber_location_remote_pci(event));
	assert_ok(doca_sync_event_start(event));
	assert_error(doca_sync_event_start(event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_destroy(event));
	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_pe_connect_ctx(test.pe, doca_sync_event_as_ctx(event)));
	assert_error(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_destroy(event));
}

/* rule: SEE-start, X-12, SE-9b */
static void context_and_direct_start_exclude_each_other(void **state)
{
	struct doca_sync_event *event = sync_create(test.dev, SYNC_BY_CPU);

	sync_use_ctx();
	assert_error(doca_sync_event_start(test.event), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_stop(test.event), DOCA_ERROR_BAD_STATE);
	sync_start_ctx();
	assert_error(doca_sync_event_destroy(test.event), DOCA_ERROR_IN_USE);
	sync_stop_ctx();
	assert_ok(doca_sync_event_start(event));
	assert_ok(doca_pe_connect_ctx(test.pe, doca_sync_event_as_ctx(event)));
	assert_error(doca_ctx_start(doca_sync_event_as_ctx(event)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_stop(event));
	assert_error(doca_sync_event_stop(event), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_sync_event_destroy(event));
}

/* No location names a device, which only the export does. */
/* rule: SEE-pci, SE-2a, SE-4a */
static void event_without_a_device_is_used_as_a_context(void **state)
{
	struct doca_sync_event *event;
	const uint8_t *bytes;
	uint32_t vectors = 0;
	uint64_t value = 1;
	struct doca_ctx *ctx;
	size_t len;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(doca_sync_event_add_publisher_location_remote_pci(event));
	assert_ok(doca_sync_event_add_subscriber_location_remote_pci(event));
	ctx = doca_sync_event_as_ctx(event);
	assert_ok(doca_ctx_cap_get_num_completion_vectors(ctx, &vectors));
	assert_int_equal(vectors, 1);
	assert_ok(doca_sync_event_task_notify_add_set_conf(event, on_add, on_add, 1));
	assert_ok(doca_pe_connect_ctx(test.pe, ctx));
	for (unsigned int i = 0; i < 2; i++) {
		assert_ok(doca_ctx_start(ctx));
		assert_ok(doca_sync_event_update_add(event, 3, &value));
		assert_int_equal(value, 0);
		assert_ok(doca_sync_event_export_to_remote_pci(event, test.dev, &bytes, &len));
		assert_ok(doca_sync_event_update_add(event, 4, &value));
		assert_int_equal(value, 3);
		assert_error(doca_sync_event_export_to_remote_net(event, &bytes, &len),
			     DOCA_ERROR_NOT_SUPPORTED);
		assert_ok(doca_ctx_stop(ctx));
	}
	assert_ok(doca_sync_event_destroy(event));
}

/* As a context, with tasks, and exported. */
static void live(void *unused)
{
	struct doca_sync_event *event = sync_create(test.dev, SYNC_BY_PCI);
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	const uint8_t *bytes;
	size_t len;

	assert_ok(doca_sync_event_task_get_set_conf(event, on_get, on_get, 8));
	assert_ok(doca_sync_event_task_wait_eq_set_conf(event, on_eq, on_eq, 8));
	assert_ok(doca_pe_connect_ctx(test.pe, ctx));
	assert_ok(doca_ctx_start(ctx));
	assert_ok(doca_sync_event_export_to_remote_pci(event, test.dev, &bytes, &len));
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_sync_event_destroy(event));
}

/* rule: SE-9b */
static void destroyed_events_leave_no_memory(void **state)
{
	fixture_assert_no_growth(live, NULL);
}

/* rule: SEE-location-1, SEE-addr, SEE-buf-1 */
static void settings_after_start_are_bad_state(void **state)
{
	static uint64_t cell;
	struct doca_buf *buf = (struct doca_buf *)&cell;

	sync_start();
	assert_error(doca_sync_event_add_publisher_location_remote_net(test.event),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_add_subscriber_location_cpu(test.event, test.dev),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_set_addr(test.event, &cell), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_set_doca_buf(test.event, buf), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_task_get_set_conf(test.event, on_get, on_get, 1),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: SEE-export-2 */
static void imported_event_takes_no_settings(void **state)
{
	static uint64_t cell;
	struct doca_buf *buf = (struct doca_buf *)&cell;

	assert_error(doca_sync_event_add_publisher_location_cpu(test.event, test.dev),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_add_subscriber_location_remote_pci(test.event),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_set_addr(test.event, &cell), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_set_doca_buf(test.event, buf), DOCA_ERROR_BAD_STATE);
}

/* rule: SEE-use, SE-3, SE-4a */
static void use_before_start_is_bad_state(void **state)
{
	const uint8_t *bytes;
	uint64_t value = 0;
	size_t len;

	assert_error(doca_sync_event_get(test.event, &value), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_update_set(test.event, 1), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_update_add(test.event, 1, &value), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_wait_eq(test.event, 0, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_export_to_remote_pci(test.event, test.dev, &bytes, &len),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_sync_event_export_to_remote_net(test.event, &bytes, &len),
		     DOCA_ERROR_BAD_STATE);
}

/* rule: SEE-pci, SEE-net */
static void export_needs_its_locations(void **state)
{
	struct doca_sync_event *event = sync_create(test.dev, SYNC_BY_NET);
	const uint8_t *bytes;
	size_t len = 0;

	assert_ok(doca_sync_event_start(event));
	UNSUPPORTED(doca_sync_event_export_to_remote_pci(event, test.dev, &bytes, &len));
	assert_ok(doca_sync_event_export_to_remote_net(event, &bytes, &len));
	assert_ok(doca_sync_event_destroy(event));
	sync_start();
	UNSUPPORTED(doca_sync_event_export_to_remote_net(test.event, &bytes, &len));
}

/* rule: SEE-pci */
static void imported_event_is_not_exported_again(void **state)
{
	const uint8_t *bytes;
	size_t len;

	sync_start();
	UNSUPPORTED(doca_sync_event_export_to_remote_pci(test.event, test.dev, &bytes, &len));
}

/* rule: SE-4b, SE-4c */
static void exported_bytes_are_ordinary_memory(void **state)
{
	const uint8_t *bytes = NULL, *again = NULL;
	struct doca_mmap *map;
	size_t len = 0;

	sync_start();
	assert_ok(doca_sync_event_export_to_remote_pci(test.event, test.dev, &bytes, &len));
	assert_in_range(len, 1, 1024);
	assert_ok(doca_sync_event_export_to_remote_pci(test.event, test.dev, &again, &len));
	assert_ptr_equal(again, bytes);
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, (void *)(uintptr_t)bytes, len));
	assert_ok(doca_mmap_add_dev(map, test.dev));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_destroy(map));
}

/* Every byte changed, every length: none may be imported. */
/* rule: SEE-export-1 */
static void damaged_exports_are_invalid(void **state)
{
	struct doca_sync_event_remote_net *remote = NULL;
	struct doca_sync_event *event = NULL;
	struct sync_blob blob = {0};
	const uint8_t *bytes;

	sync_start();
	assert_ok(doca_sync_event_export_to_remote_pci(test.event, test.dev, &bytes, &blob.len));
	memcpy(blob.bytes, bytes, blob.len);
	for (size_t i = 0; i < blob.len; i++) {
		blob.bytes[i] ^= 1;
		INVALID(doca_sync_event_create_from_export(test.dev, blob.bytes, blob.len, &event));
		blob.bytes[i] ^= 1;
		INVALID(doca_sync_event_create_from_export(test.dev, blob.bytes, i, &event));
	}
	INVALID(doca_sync_event_create_from_export(test.dev, blob.bytes, blob.len + 1, &event));
	INVALID(doca_sync_event_remote_net_create_from_export(test.dev, blob.bytes, blob.len,
							      &remote));
	assert_null(event);
	assert_null(remote);
}

/* The export of a map is not one of an event. */
/* Another version, an unknown kind or reserved bytes, with the right checksum. */
/* rule: SEE-export-1 */
static void exports_of_another_version_are_invalid(void **state)
{
	struct doca_sync_event *event = NULL;
	struct sync_blob blob = {0};
	const uint8_t *bytes;

	sync_start();
	assert_ok(doca_sync_event_export_to_remote_pci(test.event, test.dev, &bytes, &blob.len));
	memcpy(blob.bytes, bytes, blob.len);
	for (size_t i = 8; i < 12; i++) {
		blob.bytes[i] ^= 2;
		test_put_le32(blob.bytes + 4, test_crc32c(blob.bytes + 8, blob.len - 8));
		INVALID(doca_sync_event_create_from_export(test.dev, blob.bytes, blob.len, &event));
		blob.bytes[i] ^= 2;
	}
	assert_null(event);
}

/* rule: SEE-export-1 */
static void export_of_a_map_is_invalid(void **state)
{
	struct doca_sync_event *event = NULL;
	struct doca_mmap *map;
	static _Alignas(8) uint64_t cell;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, &cell, sizeof(cell)));
	assert_ok(doca_mmap_set_permissions(map, ALL_ACCESS));
	assert_ok(doca_mmap_add_dev(map, test.dev));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_export_pci(map, test.dev, &desc, &len));
	INVALID(doca_sync_event_create_from_export(test.dev, desc, len, &event));
	assert_null(event);
	assert_ok(doca_mmap_destroy(map));
}

#define HEADER_LEN 16
#define TO_PCI	   1
#define TO_NET	   2

/* The export of a map in the header of an exported event (docs/wire-format.md). */
static void seal(struct sync_blob *blob, uint8_t kind, const void *desc, size_t len)
{
	static const uint8_t magic[4] = {'D', 'P', 'S', 'E'};
	const uint8_t version_and_kind[4] = {1, kind};

	blob->len = HEADER_LEN + len;
	memcpy(blob->bytes, magic, sizeof(magic));
	memcpy(blob->bytes + 8, version_and_kind, sizeof(version_and_kind));
	test_put_le32(blob->bytes + 12, (uint32_t)len);
	memcpy(blob->bytes + HEADER_LEN, desc, len);
	test_put_le32(blob->bytes + 4, test_crc32c(blob->bytes + 8, blob->len - 8));
}

/* The result of an import for tasks, of memory that its exporter calls an event. */
static doca_error_t import_memory(uint8_t *at, size_t len, uint8_t kind, bool is_for_pci)
{
	struct doca_sync_event_remote_net *remote = NULL;
	struct sync_blob blob;
	struct doca_mmap *map;
	const void *desc;
	doca_error_t result;
	size_t desc_len;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, at, len));
	assert_ok(doca_mmap_set_permissions(map, ALL_ACCESS));
	assert_ok(doca_mmap_add_dev(map, test.dev));
	assert_ok(doca_mmap_start(map));
	assert_ok(is_for_pci ? doca_mmap_export_pci(map, test.dev, &desc, &desc_len)
			     : doca_mmap_export_rdma(map, test.dev, &desc, &desc_len));
	seal(&blob, kind, desc, desc_len);
	result = doca_sync_event_remote_net_create_from_export(test.dev, blob.bytes, blob.len,
							       &remote);
	assert_int_equal(remote != NULL, result == DOCA_SUCCESS);
	if (remote)
		assert_ok(doca_sync_event_remote_net_destroy(remote));
	assert_ok(doca_mmap_destroy(map));
	return result;
}

/* A right checksum does not make memory a counter. */
/* rule: SEE-export-1 */
static void exports_of_other_memory_are_invalid(void **state)
{
	static _Alignas(8) uint8_t memory[32];

	assert_ok(import_memory(memory, 8, TO_NET, false));
	INVALID(import_memory(memory, 16, TO_NET, false));
	INVALID(import_memory(memory, 4, TO_NET, false));
	INVALID(import_memory(memory + 4, 8, TO_NET, false));
	INVALID(import_memory(memory, 8, TO_PCI, false));
	INVALID(import_memory(memory, 8, TO_NET + 1, false));
	assert_int_not_equal(import_memory(memory, 8, TO_NET, true), DOCA_SUCCESS);
}

/* rule: SE-10 */
static void device_is_in_use_until_the_event_is_destroyed(void **state)
{
	assert_error(doca_dev_close(test.dev), DOCA_ERROR_IN_USE);
	sync_start();
	assert_ok(doca_sync_event_destroy(test.event));
	test.event = NULL;
}

/* Memory with a started map and a buf of 8 bytes in it. */
struct cell {
	uint8_t *bytes;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
};

static struct cell open_cell(uint32_t access)
{
	struct cell c = {.bytes = aligned_alloc(LEN, LEN)};

	assert_non_null(c.bytes);
	memset(c.bytes, 0, LEN);
	assert_ok(doca_mmap_create(&c.map));
	assert_ok(doca_mmap_set_memrange(c.map, c.bytes, LEN));
	assert_ok(doca_mmap_set_permissions(c.map, access));
	assert_ok(doca_mmap_add_dev(c.map, test.dev));
	assert_ok(doca_mmap_start(c.map));
	assert_ok(doca_buf_inventory_create(4, &c.inventory));
	assert_ok(doca_buf_inventory_start(c.inventory));
	assert_ok(doca_buf_inventory_buf_get_by_data(c.inventory, c.map, c.bytes + 64, 8, &c.buf));
	return c;
}

static void close_cell(struct cell *c)
{
	assert_ok(doca_buf_dec_refcount(c->buf, NULL));
	assert_ok(doca_buf_inventory_destroy(c->inventory));
	assert_ok(doca_mmap_destroy(c->map));
	free(c->bytes);
}

/* rule: SE-14 */
static void buf_is_the_event(void **state)
{
	struct cell c = open_cell(ALL_ACCESS);
	uint64_t value = 31;
	uint16_t refs = 0;

	memcpy(c.bytes + 64, &value, sizeof(value));
	assert_ok(doca_sync_event_set_doca_buf(test.event, c.buf));
	assert_ok(doca_buf_get_refcount(c.buf, &refs));
	assert_int_equal(refs, 2);
	sync_start();
	assert_int_equal(sync_value(), 31);
	assert_int_equal(sync_ask_value(&test.peer, SYNC_ADD, 4), 31);
	memcpy(&value, c.bytes + 64, sizeof(value));
	assert_int_equal(value, 35);
	assert_ok(doca_sync_event_destroy(test.event));
	test.event = NULL;
	close_cell(&c);
}

/* rule: SEE-buf-2 */
static void buf_that_does_not_fit_is_not_permitted(void **state)
{
	struct cell c = open_cell(ALL_ACCESS);
	struct doca_buf *other;

	assert_ok(doca_buf_set_data_len(c.buf, 7));
	assert_error(doca_sync_event_set_doca_buf(test.event, c.buf), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_set_data_len(c.buf, 8));
	assert_ok(doca_buf_inventory_buf_get_by_data(c.inventory, c.map, c.bytes + 12, 8, &other));
	assert_error(doca_sync_event_set_doca_buf(test.event, other), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_buf_chain_list(c.buf, other));
	assert_error(doca_sync_event_set_doca_buf(test.event, c.buf), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_sync_event_set_doca_buf(test.event, other), DOCA_ERROR_NOT_PERMITTED);
	close_cell(&c);
}

/* rule: SEE-buf-2 */
static void buf_without_a_permission_is_not_permitted(void **state)
{
	static const uint32_t missing[] = {
		DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
		DOCA_ACCESS_FLAG_RDMA_READ,
		DOCA_ACCESS_FLAG_RDMA_WRITE,
		DOCA_ACCESS_FLAG_RDMA_ATOMIC,
	};

	for (unsigned int i = 0; i < 4; i++) {
		struct cell c = open_cell(NET_ACCESS & ~missing[i]);

		assert_error(doca_sync_event_set_doca_buf(test.event, c.buf),
			     DOCA_ERROR_NOT_PERMITTED);
		close_cell(&c);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		own_test(null_for_the_object_is_invalid),
		own_test(null_for_an_output_is_invalid),
		own_test(null_for_tasks_is_invalid),
		own_test(clean_up_of_null_is_an_error),
		own_test(capabilities_choose_the_device),
		own_test(dpa_and_gpu_are_not_supported),
		own_test(event_has_one_location_of_each_kind),
		own_test(start_without_locations_is_bad_state),
		own_test(context_and_direct_start_exclude_each_other),
		own_test(event_without_a_device_is_used_as_a_context),
		own_test(destroyed_events_leave_no_memory),
		exported_test(settings_after_start_are_bad_state),
		imported_test(imported_event_takes_no_settings),
		own_test(use_before_start_is_bad_state),
		imported_test(use_before_start_is_bad_state),
		own_test(export_needs_its_locations),
		imported_test(imported_event_is_not_exported_again),
		own_test(exported_bytes_are_ordinary_memory),
		own_test(damaged_exports_are_invalid),
		own_test(exports_of_another_version_are_invalid),
		own_test(export_of_a_map_is_invalid),
		own_test(exports_of_other_memory_are_invalid),
		exported_test(device_is_in_use_until_the_event_is_destroyed),
		imported_test(device_is_in_use_until_the_event_is_destroyed),
		exported_test(buf_is_the_event),
		own_test(buf_that_does_not_fit_is_not_permitted),
		own_test(buf_without_a_permission_is_not_permitted),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return sync_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
