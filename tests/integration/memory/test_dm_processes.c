/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device memory in two processes on one function. The parent allocates it; the peer receives the
 * context, imports the memory by its number, and uses it. The tests show which process may end
 * what.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <dpumap/dev.h>

#include "fixture.h"
#include "peer.h"

#define LEN	      8192u
#define PART	      1000u
#define PART_LEN      3000u
#define SOCKET_IN_ENV "DPUMAP_TEST_SOCKET"

/* Orders to the peer, one byte each; it answers each. */
enum order { IMPORT = 1, READ, WRITE, MAP, UNMAP, REMAP, LET_GO, LEAVE };

struct answer {
	int32_t result; /* a doca_error_t */
	struct descriptor desc;
	uint8_t bytes[LEN];
};

static struct dpumap_dm *dm;
static uint8_t wanted[LEN], got[LEN];

/* The peer. */

struct importer {
	struct doca_dev *dev;
	struct dpumap_dm *dm;
	struct doca_mmap *mmap;
};

static doca_error_t import(struct importer *i, int socket)
{
	doca_error_t result;
	uint32_t handle;

	if (recv(socket, &handle, sizeof(handle), MSG_WAITALL) != (ssize_t)sizeof(handle))
		return DOCA_ERROR_CONNECTION_RESET;
	result = dpumap_dev_receive(socket, &i->dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dm_import(i->dev, handle, &i->dm);
	if (result != DOCA_SUCCESS && doca_dev_close(i->dev) == DOCA_SUCCESS)
		i->dev = NULL;
	return result;
}

static doca_error_t map(struct importer *i, struct descriptor *desc)
{
	const void *bytes;
	doca_error_t result;

	result = doca_mmap_create(&i->mmap);
	DOCA_ERROR_PROPAGATE(result, dpumap_mmap_set_dm_memrange(i->mmap, i->dm, PART, PART_LEN));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(i->mmap, LOCAL_RW | PCI_RW));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(i->mmap, i->dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(i->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_export_pci(i->mmap, i->dev, &bytes, &desc->len));
	if (result == DOCA_SUCCESS)
		memcpy(desc->bytes, bytes, desc->len);
	return result;
}

static doca_error_t let_go(struct importer *i)
{
	doca_error_t result = DOCA_SUCCESS;

	if (i->mmap)
		result = doca_mmap_destroy(i->mmap);
	DOCA_ERROR_PROPAGATE(result, dpumap_dm_free(i->dm));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(i->dev));
	memset(i, 0, sizeof(*i));
	return result;
}

static doca_error_t execute(struct importer *i, enum order order, int socket, struct answer *answer)
{
	switch (order) {
	case IMPORT:
		return import(i, socket);
	case READ:
		return dpumap_dm_read(i->dm, 0, answer->bytes, LEN);
	case WRITE:
		fixture_fill(answer->bytes, LEN, 2);
		return dpumap_dm_write(i->dm, 0, answer->bytes, LEN);
	case MAP:
		return map(i, &answer->desc);
	case UNMAP:
		return doca_mmap_stop(i->mmap);
	case REMAP:
		return doca_mmap_start(i->mmap);
	case LET_GO:
		return let_go(i);
	default:
		return DOCA_ERROR_UNEXPECTED;
	}
}

static int be_importer(int socket)
{
	struct answer answer = {0};
	struct importer importer = {0};
	uint8_t order;

	while (recv(socket, &order, 1, 0) == 1 && order != LEAVE) {
		answer.result = (int32_t)execute(&importer, (enum order)order, socket, &answer);
		if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) != (ssize_t)sizeof(answer))
			return 1;
	}
	return importer.dev != NULL;
}

/* The parent. */

static bool start_peer(void)
{
	const char *const argv[] = {test_options.self, "--be-peer", NULL};
	const struct timeval patience = {.tv_sec = FIXTURE_TIMEOUT_MS / 1000};
	char number[16];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return false;
	/* The peer inherits one end only, and receiving times out. */
	if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		return false;
	snprintf(number, sizeof(number), "%d", ends[1]);
	if (setenv(SOCKET_IN_ENV, number, 1))
		return false;
	peer.pid = process_spawn(argv, NULL, NULL);
	peer.to = peer.from = ends[0];
	close(ends[1]);
	return peer.pid > 0;
}

static int open_all(void **state)
{
	if (fixture_setup(state) || !start_peer())
		return -1;
	return dpumap_dm_alloc(fixture.dev, LEN, 0, &dm) == DOCA_SUCCESS ? 0 : -1;
}

static struct answer answer;

static doca_error_t await_answer(void)
{
	if (recv(peer.to, &answer, sizeof(answer), MSG_WAITALL) != (ssize_t)sizeof(answer))
		return DOCA_ERROR_CONNECTION_RESET;
	return (doca_error_t)answer.result;
}

static doca_error_t order_peer(enum order order)
{
	uint8_t byte = (uint8_t)order;

	if (send(peer.to, &byte, 1, MSG_NOSIGNAL) != 1)
		return DOCA_ERROR_CONNECTION_RESET;
	return await_answer();
}

static doca_error_t have_it_imported(uint32_t handle)
{
	uint8_t byte = IMPORT;
	doca_error_t result;

	if (send(peer.to, &byte, 1, MSG_NOSIGNAL) != 1 ||
	    send(peer.to, &handle, sizeof(handle), MSG_NOSIGNAL) != (ssize_t)sizeof(handle))
		return DOCA_ERROR_CONNECTION_RESET;
	result = dpumap_dev_send(fixture.dev, peer.to);
	return result == DOCA_SUCCESS ? await_answer() : result;
}

static void import_in_peer(void)
{
	uint32_t handle;

	assert_ok(dpumap_dm_get_handle(dm, &handle));
	assert_ok(have_it_imported(handle));
}

static void end_peer(void)
{
	uint8_t byte = LEAVE;

	assert_int_equal(send(peer.to, &byte, 1, MSG_NOSIGNAL), 1);
	assert_true(process_finish(&peer));
}

static void owner_and_importer_see_the_same_bytes(void **state)
{
	fixture_fill(wanted, LEN, 1);
	assert_ok(dpumap_dm_write(dm, 0, wanted, LEN));
	import_in_peer();
	assert_ok(order_peer(READ));
	assert_memory_equal(answer.bytes, wanted, LEN);
	assert_ok(order_peer(WRITE));
	fixture_fill(wanted, LEN, 2);
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	assert_ok(order_peer(LET_GO));
	/* This ended the import, not the memory. */
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	end_peer();
	assert_ok(dpumap_dm_free(dm));
}

/* The importer's map is exported, and imported by the parent: the device sees one memory too. */
static void map_of_an_importer_reaches_the_owners_memory(void **state)
{
	struct doca_mmap *mmap;
	struct fixture_buf buf;
	size_t len;
	void *addr;

	fixture_fill(wanted, LEN, 3);
	assert_ok(dpumap_dm_write(dm, 0, wanted, LEN));
	import_in_peer();
	assert_ok(order_peer(MAP));
	assert_ok(fixture_buf_create(&fixture, PART_LEN, LOCAL_RW, &buf));
	assert_ok(doca_mmap_create_from_export(NULL, answer.desc.bytes, answer.desc.len,
					       fixture.dev, &mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_int_equal(len, PART_LEN);
	assert_ok(fixture_copy(&fixture,
			       &(struct fixture_copy){buf.mmap, buf.bytes, mmap, addr, len}));
	assert_memory_equal(buf.bytes, wanted + PART, PART_LEN);
	fixture_fill(buf.bytes, PART_LEN, 4);
	memcpy(wanted + PART, buf.bytes, PART_LEN);
	assert_ok(fixture_copy(&fixture,
			       &(struct fixture_copy){mmap, addr, buf.mmap, buf.bytes, len}));
	assert_ok(order_peer(READ));
	assert_memory_equal(answer.bytes, wanted, LEN);
	/* The owner's pools and maps do not know the import, but the kernel does. */
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	assert_ok(order_peer(UNMAP));
	assert_error(fixture_copy(&fixture,
				  &(struct fixture_copy){buf.mmap, buf.bytes, mmap, addr, len}),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(fixture_buf_destroy(&buf));
	assert_ok(dpumap_dm_free(dm));
	assert_error(order_peer(REMAP), DOCA_ERROR_DRIVER);
	assert_ok(order_peer(LET_GO));
	end_peer();
}

static void handle_of_freed_memory_is_not_found(void **state)
{
	uint32_t handle;

	assert_ok(dpumap_dm_get_handle(dm, &handle));
	assert_ok(dpumap_dm_free(dm));
	assert_error(have_it_imported(handle), DOCA_ERROR_NOT_FOUND);
	end_peer();
}

static void death_of_an_importer_leaves_the_memory(void **state)
{
	fixture_fill(wanted, LEN, 5);
	assert_ok(dpumap_dm_write(dm, 0, wanted, LEN));
	import_in_peer();
	assert_ok(order_peer(READ));
	assert_true(process_kill(&peer));
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	assert_ok(dpumap_dm_free(dm));
}

#define processes_test(function) \
	cmocka_unit_test_setup_teardown(function, open_all, fixture_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		processes_test(owner_and_importer_see_the_same_bytes),
		processes_test(map_of_an_importer_reaches_the_owners_memory),
		processes_test(handle_of_freed_memory_is_not_found),
		processes_test(death_of_an_importer_leaves_the_memory),
	};
	const char *socket;

	test_parse_options(argc, argv);
	socket = getenv(SOCKET_IN_ENV);
	if (test_options.is_peer)
		return socket ? be_importer((int)strtol(socket, NULL, 10)) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
