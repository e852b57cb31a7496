/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A device dies under objects of each kind. All end at the first call, the device closes, and the same process uses
 * the device when it has returned.
 */
#include <stdlib.h>
#include <unistd.h>

#include <doca_dma.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include <dpumap/parent_domain.h>
#include <dpumap/umem.h>

#include "fixture.h"

#define BYTES	    4096u
#define MAX_OBJECTS 64

typedef doca_error_t end_fn(void *object);

/* What was created, in this order; it ends in the opposite one. */
static struct object {
	const char *name;
	void *object;
	end_fn *end;
} objects[MAX_OBJECTS];
static size_t num_objects;

static struct doca_dev *dev;
static struct doca_pe *pe;

static void keep(const char *name, void *object, end_fn *end)
{
	assert_true(num_objects < MAX_OBJECTS);
	objects[num_objects++] = (struct object){name, object, end};
}

/* --- memory ----------------------------------------------------------------------------------- */

static doca_error_t end_map(void *map)
{
	doca_error_t result = doca_mmap_stop(map);

	return result == DOCA_SUCCESS ? doca_mmap_destroy(map) : result;
}

static doca_error_t end_started_map(void *map)
{
	return doca_mmap_destroy(map);
}

static doca_error_t free_memory(void *memory)
{
	free(memory);
	return DOCA_SUCCESS;
}

static void *new_memory(void)
{
	void *memory = aligned_alloc(BYTES, BYTES);

	assert_non_null(memory);
	keep("memory", memory, free_memory);
	return memory;
}

static struct doca_mmap *new_map(uint32_t access, end_fn *end)
{
	struct doca_mmap *map;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, new_memory(), BYTES));
	assert_ok(doca_mmap_set_permissions(map, access));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_start(map));
	keep("map", map, end);
	return map;
}

static void create_maps(void)
{
	uint32_t access = LOCAL_RW | PCI_RW | DOCA_ACCESS_FLAG_RDMA_WRITE;
	struct doca_mmap *map = new_map(access, end_map);
	const void *bytes;
	size_t len;

	new_map(LOCAL_RW, end_started_map);
	keep("imported map", fixture_import_pci(dev, map), end_map);
	assert_ok(doca_mmap_export_rdma(map, dev, &bytes, &len));
	/* Other rights than those of the map need a key of their own. */
	assert_ok(doca_mmap_export_rdma(new_map(PCI_RW | DOCA_ACCESS_FLAG_RDMA_READ, end_map), dev,
					&bytes, &len));
}

static doca_error_t end_dm(void *dm)
{
	return dpumap_dm_free(dm);
}

static doca_error_t end_umem(void *umem)
{
	return dpumap_umem_deregister(umem);
}

static void create_card_memory(void)
{
	struct dpumap_umem *umem;
	struct dpumap_dm *dm;
	uint8_t bytes[256];
	size_t len;

	assert_ok(dpumap_dm_alloc(dev, BYTES, 0, &dm));
	keep("device memory", dm, end_dm);
	for (int exported = 0; exported < 2; exported++) {
		assert_ok(dpumap_umem_register(dev, new_memory(), BYTES, LOCAL_RW, &umem));
		if (exported)
			assert_ok(dpumap_umem_export(umem, bytes, sizeof(bytes), &len));
		keep(exported ? "exported umem" : "umem", umem, end_umem);
	}
}

/* --- queues ----------------------------------------------------------------------------------- */

static doca_error_t end_domain(void *domain)
{
	return dpumap_parent_domain_destroy(domain);
}

static doca_error_t end_queue(void *dma)
{
	return dpumap_dma_destroy(dma);
}

static void create_queues(void)
{
	const struct dpumap_parent_domain_attr attr = {0};
	struct dpumap_parent_domain *domain;
	struct dpumap_dma *dma;

	assert_ok(dpumap_parent_domain_create(dev, &attr, &domain));
	keep("parent domain", domain, end_domain);
	assert_ok(dpumap_dma_create_on(domain, 4, &dma));
	keep("copy queue", dma, end_queue);
}

static void on_copy(struct doca_dma_task_memcpy *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task, (void)task_data, (void)ctx_data;
}

static void start(struct doca_ctx *ctx)
{
	assert_ok(doca_pe_connect_ctx(pe, ctx));
	assert_ok(doca_ctx_start(ctx));
}

static doca_error_t end_dma(void *dma)
{
	doca_error_t result = doca_ctx_stop(doca_dma_as_ctx(dma));

	return result == DOCA_SUCCESS ? doca_dma_destroy(dma) : result;
}

static doca_error_t end_rdma(void *rdma)
{
	doca_error_t result = doca_ctx_stop(doca_rdma_as_ctx(rdma));

	return result == DOCA_SUCCESS ? doca_rdma_destroy(rdma) : result;
}

static void create_contexts(void)
{
	struct doca_rdma_connection *connection;
	struct doca_rdma *rdma;
	struct doca_dma *dma;
	const void *details;
	size_t len;

	assert_ok(doca_dma_create(dev, &dma));
	assert_ok(doca_dma_task_memcpy_set_conf(dma, on_copy, on_copy, 4));
	start(doca_dma_as_ctx(dma));
	keep("DMA context", dma, end_dma);
	assert_ok(doca_rdma_create(dev, &rdma));
	start(doca_rdma_as_ctx(rdma));
	assert_ok(doca_rdma_export(rdma, &details, &len, &connection));
	keep("RDMA context", rdma, end_rdma);
}

/* --- sync events ------------------------------------------------------------------------------ */

static doca_error_t end_event(void *event)
{
	doca_error_t result = doca_sync_event_stop(event);

	return result == DOCA_SUCCESS ? doca_sync_event_destroy(event) : result;
}

static doca_error_t end_started_event(void *event)
{
	return doca_sync_event_destroy(event);
}

static doca_error_t end_net_event(void *event)
{
	return doca_sync_event_remote_net_destroy(event);
}

static struct doca_sync_event *new_event(doca_error_t (*locate)(struct doca_sync_event *event),
					 end_fn *end)
{
	struct doca_sync_event *event;

	assert_ok(doca_sync_event_create(&event));
	assert_ok(locate(event));
	assert_ok(doca_sync_event_add_subscriber_location_cpu(event, dev));
	assert_ok(doca_sync_event_start(event));
	keep("exported sync event", event, end);
	return event;
}

static void create_events(void)
{
	struct doca_sync_event_remote_net *remote;
	struct doca_sync_event *event;
	const uint8_t *bytes;
	size_t len;

	event = new_event(doca_sync_event_add_publisher_location_remote_pci, end_event);
	assert_ok(doca_sync_event_export_to_remote_pci(event, dev, &bytes, &len));
	assert_ok(doca_sync_event_create_from_export(dev, bytes, len, &event));
	assert_ok(doca_sync_event_start(event));
	keep("imported sync event", event, end_started_event);
	event = new_event(doca_sync_event_add_publisher_location_remote_net, end_started_event);
	assert_ok(doca_sync_event_export_to_remote_net(event, &bytes, &len));
	assert_ok(doca_sync_event_remote_net_create_from_export(dev, bytes, len, &remote));
	keep("remote sync event", remote, end_net_event);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void inject(const char *fault)
{
	const char *const argv[] = {test_options.emu, "fault", fault, NULL};

	assert_int_equal(process_run(argv), 0);
}

static void create_all(void)
{
	doca_notification_handle_t handle;

	assert_ok(fixture_open_device(&dev));
	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_pe_get_notification_handle(pe, &handle));
	create_maps();
	create_card_memory();
	create_queues();
	create_contexts();
	create_events();
}

static void end_all(void)
{
	while (num_objects) {
		const struct object *o = &objects[--num_objects];
		doca_error_t result = o->end(o->object);

		if (result != DOCA_SUCCESS)
			fail_msg("%s: %s", o->name, doca_error_get_name(result));
	}
	assert_ok(doca_pe_destroy(pe));
	assert_ok(doca_dev_close(dev));
}

static void use_returned_device(void)
{
	struct fixture_buf from, to;
	struct fixture f;

	assert_ok(fixture_open(&f));
	assert_ok(fixture_buf_create(&f, BYTES, LOCAL_RW, &from));
	assert_ok(fixture_buf_create(&f, BYTES, LOCAL_RW, &to));
	assert_ok(fixture_copy(
		&f, &(struct fixture_copy){to.mmap, to.bytes, from.mmap, from.bytes, BYTES}));
	assert_ok(fixture_buf_destroy(&from));
	assert_ok(fixture_buf_destroy(&to));
	assert_ok(fixture_close(&f));
}

/* In a process of its own, which ends with what libibverbs keeps of objects of a device that is gone. */
static void in_a_child(void (*part)(void))
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		part();
		_exit(0);
	}
	assert_int_equal(process_exit_code(child), 0);
}

static void outlive_the_device(void)
{
	create_all();
	inject("device");
	end_all();
	inject("clear");
	use_returned_device();
}

static void objects_of_a_dead_device_end_at_once(void **state)
{
	(void)state;
	in_a_child(outlive_the_device);
}

/* The same without a fault: no object depends on it. */
static void objects_of_a_device_end_at_once(void **state)
{
	(void)state;
	create_all();
	end_all();
	use_returned_device();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(objects_of_a_device_end_at_once),
		counted_test(objects_of_a_dead_device_end_at_once),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
