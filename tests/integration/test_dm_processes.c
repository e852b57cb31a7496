/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device memory in two processes of one side: this one allocates it; another, which is sent the
 * context, imports it by its number, and uses it as it likes. Who may end what.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <dpumap/dev.h>

#include "fixture.h"

#define LEN	      8192u
#define PART	      1000u
#define PART_LEN      3000u
#define SOCKET_IN_ENV "DPUMAP_TEST_SOCKET"

/* What the other process is told to do, one byte each; it answers each. */
enum order { IMPORT = 1, READ, WRITE, MAP, UNMAP, REMAP, LET_GO, LEAVE };

struct answer {
	int32_t result; /* a doca_error_t */
	struct side_desc desc;
	uint8_t bytes[LEN];
};

static struct rig rig;
static struct dpumap_dm *dm;
static struct {
	pid_t pid;
	int socket;
} other;
static uint8_t wanted[LEN], got[LEN];

/* The other process. */

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

static doca_error_t map(struct importer *i, struct side_desc *desc)
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

static doca_error_t obey(struct importer *i, enum order order, int socket, struct answer *answer)
{
	switch (order) {
	case IMPORT:
		return import(i, socket);
	case READ:
		return dpumap_dm_read(i->dm, 0, answer->bytes, LEN);
	case WRITE:
		rig_fill(answer->bytes, LEN, 2);
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
		answer.result = (int32_t)obey(&importer, (enum order)order, socket, &answer);
		if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) != (ssize_t)sizeof(answer))
			return 1;
	}
	return importer.dev != NULL;
}

/* This one. */

static bool start_other(void)
{
	const char *const argv[] = {rig_options.self, "--be-peer", NULL};
	const struct timeval patience = {.tv_sec = RIG_PATIENCE_MS / 1000};
	char number[16];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return false;
	/* The other process is to have one end only, and nobody waits for ever. */
	if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		return false;
	snprintf(number, sizeof(number), "%d", ends[1]);
	if (setenv(SOCKET_IN_ENV, number, 1))
		return false;
	other.pid = rig_spawn(argv, NULL, NULL);
	other.socket = ends[0];
	close(ends[1]);
	return other.pid > 0;
}

static int open_all(void **state)
{
	if (fixture_count(state) || rig_open(&rig) != DOCA_SUCCESS || !start_other())
		return -1;
	return dpumap_dm_alloc(rig.dev, LEN, 0, &dm) == DOCA_SUCCESS ? 0 : -1;
}

static int close_all(void **state)
{
	if (rig_close(&rig) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

static struct answer answer;

static doca_error_t await_answer(void)
{
	if (recv(other.socket, &answer, sizeof(answer), MSG_WAITALL) != (ssize_t)sizeof(answer))
		return DOCA_ERROR_CONNECTION_RESET;
	return (doca_error_t)answer.result;
}

static doca_error_t tell(enum order order)
{
	uint8_t byte = (uint8_t)order;

	if (send(other.socket, &byte, 1, MSG_NOSIGNAL) != 1)
		return DOCA_ERROR_CONNECTION_RESET;
	return await_answer();
}

static doca_error_t have_it_imported(uint32_t handle)
{
	uint8_t byte = IMPORT;
	doca_error_t result;

	if (send(other.socket, &byte, 1, MSG_NOSIGNAL) != 1 ||
	    send(other.socket, &handle, sizeof(handle), MSG_NOSIGNAL) != (ssize_t)sizeof(handle))
		return DOCA_ERROR_CONNECTION_RESET;
	result = dpumap_dev_send(rig.dev, other.socket);
	return result == DOCA_SUCCESS ? await_answer() : result;
}

static void import_there(void)
{
	uint32_t handle;

	assert_ok(dpumap_dm_get_handle(dm, &handle));
	assert_ok(have_it_imported(handle));
}

static void end_other(void)
{
	uint8_t byte = LEAVE;

	assert_int_equal(send(other.socket, &byte, 1, MSG_NOSIGNAL), 1);
	close(other.socket);
	assert_int_equal(rig_reap(other.pid), 0);
}

static void test_both_see_the_same_bytes(void **state)
{
	(void)state;
	rig_fill(wanted, LEN, 1);
	assert_ok(dpumap_dm_write(dm, 0, wanted, LEN));
	import_there();
	assert_ok(tell(READ));
	assert_memory_equal(answer.bytes, wanted, LEN);
	assert_ok(tell(WRITE));
	rig_fill(wanted, LEN, 2);
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	assert_ok(tell(LET_GO));
	/* What ended there is the import, and not the memory. */
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	end_other();
	assert_ok(dpumap_dm_free(dm));
}

/* The importer's map is exported, and imported again here: one memory, by the device as well. */
static void test_map_of_importer(void **state)
{
	struct doca_mmap *mmap;
	struct rig_buf buf;
	size_t len;
	void *addr;

	(void)state;
	rig_fill(wanted, LEN, 3);
	assert_ok(dpumap_dm_write(dm, 0, wanted, LEN));
	import_there();
	assert_ok(tell(MAP));
	assert_ok(rig_buf_create(&rig, PART_LEN, LOCAL_RW, &buf));
	assert_ok(doca_mmap_create_from_export(NULL, answer.desc.bytes, answer.desc.len, rig.dev,
					       &mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_int_equal(len, PART_LEN);
	assert_ok(rig_copy(&rig, &(struct rig_copy){buf.mmap, buf.bytes, mmap, addr, len}));
	assert_memory_equal(buf.bytes, wanted + PART, PART_LEN);
	rig_fill(buf.bytes, PART_LEN, 4);
	memcpy(wanted + PART, buf.bytes, PART_LEN);
	assert_ok(rig_copy(&rig, &(struct rig_copy){mmap, addr, buf.mmap, buf.bytes, len}));
	assert_ok(tell(READ));
	assert_memory_equal(answer.bytes, wanted, LEN);
	/* The owner's pools and maps do not know of it; the kernel does. */
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	assert_ok(tell(UNMAP));
	assert_error(rig_copy(&rig, &(struct rig_copy){buf.mmap, buf.bytes, mmap, addr, len}),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(rig_buf_destroy(&buf));
	assert_ok(dpumap_dm_free(dm));
	assert_error(tell(REMAP), DOCA_ERROR_DRIVER);
	assert_ok(tell(LET_GO));
	end_other();
}

static void test_numbers_of_nothing(void **state)
{
	uint32_t handle;

	(void)state;
	assert_ok(dpumap_dm_get_handle(dm, &handle));
	assert_ok(dpumap_dm_free(dm));
	assert_error(have_it_imported(handle), DOCA_ERROR_NOT_FOUND);
	end_other();
}

static void test_importer_dies(void **state)
{
	(void)state;
	rig_fill(wanted, LEN, 5);
	assert_ok(dpumap_dm_write(dm, 0, wanted, LEN));
	import_there();
	assert_ok(tell(READ));
	assert_int_equal(kill(other.pid, SIGKILL), 0);
	rig_reap(other.pid);
	close(other.socket);
	assert_ok(dpumap_dm_read(dm, 0, got, LEN));
	assert_memory_equal(got, wanted, LEN);
	assert_ok(dpumap_dm_free(dm));
}

#define processes_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		processes_test(test_both_see_the_same_bytes),
		processes_test(test_map_of_importer),
		processes_test(test_numbers_of_nothing),
		processes_test(test_importer_dies),
	};
	const char *socket;

	rig_parse(argc, argv);
	socket = getenv(SOCKET_IN_ENV);
	if (rig_options.is_peer)
		return socket ? be_importer((int)strtol(socket, NULL, 10)) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
