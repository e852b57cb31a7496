/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A host agent on another machine, which reaches exports over RDMA.
 *
 *   test_peer ADDRESS ADMIN
 *
 * dpumapd has these exports: far and other (64 KiB) and ro (4 KiB, read-only) via RDMA, and near over PCI.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <dpumap/channel.h>
#include <dpumap/desc.h>

#include "dpumapd_ctl.h"

#define BYTES	    4096u
#define LIMIT	    64 /* maximum number of connections of a client */
#define PATIENCE_MS 30000
#define MSEC	    1000000L

static const char *address, *admin;
static struct doca_dev *dev;

/* --- the agent -------------------------------------------------------------------------------- */

/* An agent with a channel, a map of its own memory, and an RDMA context. */
static struct {
	struct dpumap_channel *channel;
	struct doca_mmap *local;
	struct doca_buf_inventory *bufs;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	unsigned int num_ended;
	doca_error_t status; /* of the last task */
} self;

static uint8_t bytes[BYTES];

#define assert_ok(result) assert_int_equal(result, DOCA_SUCCESS)

static void on_read(struct doca_rdma_task_read *task, union doca_data data, union doca_data ctx)
{
	(void)data, (void)ctx;
	self.num_ended++;
	self.status = doca_task_get_status(doca_rdma_task_read_as_task(task));
	doca_task_free(doca_rdma_task_read_as_task(task));
}

static void on_write(struct doca_rdma_task_write *task, union doca_data data, union doca_data ctx)
{
	(void)data, (void)ctx;
	self.num_ended++;
	self.status = doca_task_get_status(doca_rdma_task_write_as_task(task));
	doca_task_free(doca_rdma_task_write_as_task(task));
}

static void open_local(void)
{
	assert_ok(doca_mmap_create(&self.local));
	assert_ok(doca_mmap_add_dev(self.local, dev));
	assert_ok(doca_mmap_set_memrange(self.local, bytes, sizeof(bytes)));
	assert_ok(doca_mmap_start(self.local));
	assert_ok(doca_buf_inventory_create(2, &self.bufs));
	assert_ok(doca_buf_inventory_start(self.bufs));
}

static void open_rdma(void)
{
	assert_ok(doca_pe_create(&self.pe));
	assert_ok(doca_rdma_create(dev, &self.rdma));
	assert_ok(doca_pe_connect_ctx(self.pe, doca_rdma_as_ctx(self.rdma)));
	assert_ok(doca_rdma_task_read_set_conf(self.rdma, on_read, on_read, 1));
	assert_ok(doca_rdma_task_write_set_conf(self.rdma, on_write, on_write, 1));
	assert_ok(doca_rdma_set_max_num_connections(self.rdma, LIMIT + 1));
	assert_ok(doca_ctx_start(doca_rdma_as_ctx(self.rdma)));
}

static int begin(void **state)
{
	memset(&self, 0, sizeof(self));
	memset(bytes, 0, sizeof(bytes));
	assert_ok(dpumap_channel_create(&self.channel));
	assert_ok(dpumap_channel_set_address(self.channel, address));
	if (dpumap_channel_connect(self.channel) != DOCA_SUCCESS)
		fail_msg("%s", dpumap_channel_get_error(self.channel));
	open_local();
	open_rdma();
	return 0;
}

static int end(void **state)
{
	assert_ok(doca_ctx_stop(doca_rdma_as_ctx(self.rdma)));
	assert_ok(doca_rdma_destroy(self.rdma));
	assert_ok(doca_pe_destroy(self.pe));
	assert_ok(doca_buf_inventory_destroy(self.bufs));
	assert_ok(doca_mmap_destroy(self.local));
	dpumap_channel_destroy(self.channel);
	return 0;
}

/* Start the context again: after a failed task it is IDLE, and its connections are closed. */
static void restart(void)
{
	assert_ok(doca_ctx_start(doca_rdma_as_ctx(self.rdma)));
}

/* --- its operations --------------------------------------------------------------------------- */

static struct doca_mmap *import(const char *name)
{
	struct doca_mmap *map;

	if (dpumap_channel_import(self.channel, name, dev, &map) != DOCA_SUCCESS)
		fail_msg("%s", dpumap_channel_get_error(self.channel));
	return map;
}

static struct doca_rdma_connection *join(const char *name)
{
	struct doca_rdma_connection *connection;

	if (dpumap_channel_connect_rdma(self.channel, name, self.rdma, &connection) != DOCA_SUCCESS)
		fail_msg("%s", dpumap_channel_get_error(self.channel));
	return connection;
}

static doca_error_t refusal(const char *name)
{
	struct doca_rdma_connection *connection = NULL;
	doca_error_t result;

	result = dpumap_channel_connect_rdma(self.channel, name, self.rdma, &connection);
	assert_null(connection);
	return result;
}

static doca_error_t wait_for_end(unsigned int before)
{
	const struct timespec time = {.tv_nsec = MSEC};

	for (int left = PATIENCE_MS; self.num_ended == before; left--) {
		assert_true(left > 0);
		if (!doca_pe_progress(self.pe))
			nanosleep(&time, NULL);
	}
	return self.status;
}

static struct doca_task *make_task(struct doca_rdma_connection *to, bool is_read,
				   struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data none = {0};
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;

	if (is_read) {
		assert_ok(doca_rdma_task_read_allocate_init(self.rdma, to, src, dst, none, &read));
		return doca_rdma_task_read_as_task(read);
	}
	assert_ok(doca_rdma_task_write_allocate_init(self.rdma, to, src, dst, none, &write));
	return doca_rdma_task_write_as_task(write);
}

/* Copy all of `bytes` from or to the beginning of the map. */
static doca_error_t move(struct doca_rdma_connection *to, bool is_read, struct doca_mmap *map)
{
	struct doca_buf *src, *dst;
	unsigned int before = self.num_ended;
	doca_error_t result;
	void *there;
	size_t len;

	assert_ok(doca_mmap_get_memrange(map, &there, &len));
	assert_ok(doca_buf_inventory_buf_get_by_data(self.bufs, is_read ? map : self.local,
						     is_read ? there : bytes, BYTES, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(self.bufs, is_read ? self.local : map,
						     is_read ? bytes : there, BYTES, &dst));
	assert_ok(doca_task_submit(make_task(to, is_read, src, dst)));
	result = wait_for_end(before);
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	return result;
}

static doca_error_t get(struct doca_rdma_connection *from, struct doca_mmap *map)
{
	return move(from, true, map);
}

static doca_error_t put(struct doca_rdma_connection *to, struct doca_mmap *map)
{
	return move(to, false, map);
}

/* The device may detect either the invalid key or the closed connection first. */
static void assert_refused(doca_error_t result)
{
	assert_true(result == DOCA_ERROR_NOT_PERMITTED || result == DOCA_ERROR_CONNECTION_ABORTED);
}

static void release(const char *name)
{
	assert_ok(dpumap_channel_release(self.channel, name));
}

/* --- the tests -------------------------------------------------------------------------------- */

static void read_and_write_of_an_export_succeed(void **state)
{
	struct doca_rdma_connection *connection;
	struct doca_mmap *map = import("far");
	uint8_t wanted[BYTES];

	connection = join("far");
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = wanted[i] = (uint8_t)(i * 7 + i / 256);
	assert_ok(put(connection, map));
	memset(bytes, 0, sizeof(bytes));
	assert_ok(get(connection, map));
	assert_memory_equal(bytes, wanted, BYTES);
	assert_ok(doca_mmap_destroy(map));
	release("far");
}

static void connection_of_another_export_is_refused(void **state)
{
	struct doca_mmap *far = import("far"), *other = import("other");
	struct doca_rdma_connection *connection = join("far");

	assert_ok(get(connection, far));
	assert_int_equal(get(connection, other), DOCA_ERROR_NOT_PERMITTED);
	restart();
	assert_ok(get(join("other"), other));
	assert_ok(doca_mmap_destroy(far));
	assert_ok(doca_mmap_destroy(other));
	release("far");
	release("other");
}

/* A writable map of a read-only export. */
static struct doca_mmap *import_boldly(const char *name)
{
	uint8_t descriptor[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	struct dpumap_desc desc;
	struct doca_mmap *map;

	assert_ok(dpumap_channel_get(self.channel, name, descriptor, &len));
	assert_int_equal(dpumap_desc_decode(descriptor, len, &desc), DPUMAP_DESC_OK);
	assert_int_equal(desc.access & DOCA_ACCESS_FLAG_RDMA_WRITE, 0);
	desc.access |= DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	assert_int_equal(dpumap_desc_encode(&desc, descriptor, sizeof(descriptor), &len),
			 DPUMAP_DESC_OK);
	assert_ok(doca_mmap_create_from_export(NULL, descriptor, len, dev, &map));
	return map;
}

static void write_to_a_read_only_export_is_refused(void **state)
{
	struct doca_mmap *map = import_boldly("ro");
	struct doca_rdma_connection *connection = join("ro");

	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(put(connection, map), DOCA_ERROR_NOT_PERMITTED);
	restart();
	assert_ok(get(join("ro"), map));
	assert_int_equal(bytes[0], 0);
	assert_ok(doca_mmap_destroy(map));
	release("ro");
}

static void access_after_the_release_is_refused(void **state)
{
	struct doca_mmap *map = import("far"), *again = import("far");
	struct doca_rdma_connection *connection = join("far");

	release("far");
	assert_ok(get(connection, map)); /* the client still holds one of its two references */
	release("far");
	assert_refused(get(connection, map));
	restart();
	assert_int_equal(refusal("far"), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_mmap_destroy(again));
}

static void access_after_the_removal_is_refused(void **state)
{
	struct doca_rdma_connection *connection;
	struct doca_mmap *map;

	dpumapd_ctl(admin, "add", "name=brief,kind=dram,size=4K,via=rdma,allow=*");
	map = import("brief");
	connection = join("brief");
	assert_ok(put(connection, map));
	dpumapd_ctl(admin, "remove", "brief");
	assert_refused(put(connection, map));
	restart();
	assert_int_equal(refusal("brief"), DOCA_ERROR_NOT_FOUND);
	/* A new export with the same name is a different export. */
	dpumapd_ctl(admin, "add", "name=brief,kind=dram,size=4K,via=rdma,allow=*");
	assert_int_equal(refusal("brief"), DOCA_ERROR_NOT_PERMITTED);
	dpumapd_ctl(admin, "remove", "brief");
	assert_ok(doca_mmap_destroy(map));
}

static void connections_above_the_limit_are_refused(void **state)
{
	struct doca_mmap *map = import("far");
	struct doca_rdma_connection *connection = NULL;

	for (int i = 0; i < LIMIT; i++)
		connection = join("far");
	assert_int_equal(refusal("far"), DOCA_ERROR_FULL);
	assert_ok(get(connection, map));
	assert_ok(doca_mmap_destroy(map));
	release("far");
	assert_ok(doca_ctx_stop(doca_rdma_as_ctx(self.rdma)));
	restart();
	map = import("far");
	assert_ok(get(join("far"), map));
	assert_ok(doca_mmap_destroy(map));
	release("far");
}

static void connection_without_an_rdma_import_is_refused(void **state)
{
	uint8_t descriptor[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);

	assert_int_equal(refusal("far"), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(refusal("nowhere"), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(refusal("an invalid export name"), DOCA_ERROR_NOT_FOUND);
	assert_ok(dpumap_channel_get(self.channel, "near", descriptor, &len));
	assert_int_equal(refusal("near"), DOCA_ERROR_NOT_SUPPORTED);
	assert_non_null(strstr(dpumap_channel_get_error(self.channel), "over PCI"));
	release("near");
	assert_int_equal(dpumap_channel_connect_rdma(self.channel, "far", NULL, NULL),
			 DOCA_ERROR_INVALID_VALUE);
}

/* dpumapd closes the RDMA connections of a client that disconnects. */
static void access_after_a_disconnect_is_refused(void **state)
{
	struct doca_mmap *map = import("far");
	struct doca_rdma_connection *connection = join("far");

	dpumap_channel_destroy(self.channel);
	self.channel = NULL;
	/* dpumapd detects the disconnect a little later. */
	while (get(connection, map) == DOCA_SUCCESS)
		;
	assert_refused(self.status);
	assert_ok(doca_mmap_destroy(map));
}

static int open_device(void **state)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t num;

	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS)
		return -1;
	result = num ? doca_dev_open(list[0], &dev) : DOCA_ERROR_NOT_FOUND;
	doca_devinfo_destroy_list(list);
	return result == DOCA_SUCCESS ? 0 : -1;
}

static int close_device(void **state)
{
	return doca_dev_close(dev) == DOCA_SUCCESS ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(read_and_write_of_an_export_succeed),
		TEST(connection_of_another_export_is_refused),
		TEST(write_to_a_read_only_export_is_refused),
		TEST(access_after_the_release_is_refused),
		TEST(access_after_the_removal_is_refused),
		TEST(connections_above_the_limit_are_refused),
		TEST(connection_without_an_rdma_import_is_refused),
		TEST(access_after_a_disconnect_is_refused),
	};

	if (argc != 3)
		return 2;
	address = argv[1];
	admin = argv[2];
	return cmocka_run_group_tests(tests, open_device, close_device);
}
