/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One kernel context in several processes: by fork, exec, dup, and descriptors sent over a Unix
 * socket; the importing calls of libibverbs; and what remains when one of the processes ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "fixture.h"
#include "rc.h"

#define STEP_ENV   "DPUMAP_TEST_STEP"
#define SOCKET_ENV "DPUMAP_TEST_SOCKET"
#define DM_BYTES   4096

/* What one process sends to another about its context: numbers only, as any two programs could. */
struct card {
	uint32_t pd, mr, dm, dm_mr;
	uint32_t key, dm_key;
	uint64_t addr;
};

/* A context with one object of each kind that can be imported. */
struct owner {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_dm *dm;
	struct ibv_mr *dm_mr;
	struct rc rc;
	struct card card;
};

static struct owner owner;

static bool fill_dm(struct ibv_dm *dm, uint32_t seed)
{
	uint8_t bytes[DM_BYTES];

	fixture_fill(bytes, sizeof(bytes), seed);
	return !ibv_memcpy_to_dm(dm, 0, bytes, sizeof(bytes));
}

static bool dm_holds(struct ibv_dm *dm, uint32_t seed)
{
	uint8_t bytes[DM_BYTES], wanted[DM_BYTES];

	fixture_fill(wanted, sizeof(wanted), seed);
	return !ibv_memcpy_from_dm(bytes, dm, 0, sizeof(bytes)) &&
	       !memcmp(bytes, wanted, sizeof(bytes));
}

static bool own(struct owner *o)
{
	struct ibv_alloc_dm_attr attr = {.length = DM_BYTES};

	o->context = fixture_open_context();
	o->pd = o->context ? ibv_alloc_pd(o->context) : NULL;
	o->dm = o->pd ? ibv_alloc_dm(o->context, &attr) : NULL;
	if (!o->dm)
		return false;
	o->dm_mr = ibv_reg_dm_mr(o->pd, o->dm, 0, DM_BYTES, RC_ALL | IBV_ACCESS_ZERO_BASED);
	if (!o->dm_mr || !rc_open_loopback(&o->rc, o->pd) || !fill_dm(o->dm, 5))
		return false;
	fixture_fill(o->rc.bytes, RC_BYTES, 6);
	o->card = (struct card){
		.pd = o->pd->handle,
		.mr = o->rc.mr->handle,
		.dm = o->dm->handle,
		.dm_mr = o->dm_mr->handle,
		.key = o->rc.mr->rkey,
		.dm_key = o->dm_mr->rkey,
		.addr = (uintptr_t)o->rc.bytes,
	};
	return true;
}

static bool disown(struct owner *o)
{
	return rc_close(&o->rc) && !ibv_dereg_mr(o->dm_mr) && !ibv_free_dm(o->dm) &&
	       !ibv_dealloc_pd(o->pd) && !ibv_close_device(o->context);
}

static int open_owner(void **state)
{
	return fixture_count(state) || !own(&owner) ? -1 : 0;
}

static int close_owner(void **state)
{
	return disown(&owner) ? fixture_recount(state) : -1;
}

/* --- descriptors over a socket ---------------------------------------------------------------- */

static bool send_byte(int socket, char what)
{
	return send(socket, &what, 1, MSG_NOSIGNAL) == 1;
}

static bool expect_byte(int socket, char what)
{
	char c = 0;

	return recv(socket, &c, 1, 0) == 1 && c == what;
}

/* --- what importers do; an exit status that tells where it went wrong ------------------------- */

struct import {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr, *dm_mr;
	struct ibv_dm *dm;
};

static int import_all(int fd, const struct card *card, struct import *i)
{
	i->context = ibv_import_device(fd);
	if (!i->context)
		return 20;
	i->pd = ibv_import_pd(i->context, card->pd);
	if (!i->pd)
		return 21;
	i->mr = ibv_import_mr(i->pd, card->mr);
	i->dm_mr = ibv_import_mr(i->pd, card->dm_mr);
	if (!i->mr || !i->dm_mr)
		return 22;
	i->dm = ibv_import_dm(i->context, card->dm);
	if (!i->dm)
		return 23;
	return i->mr->rkey == card->key && i->mr->length == RC_BYTES &&
			       i->dm_mr->rkey == card->dm_key
		       ? 0
		       : 24;
}

static int unimport_all(struct import *i)
{
	ibv_unimport_dm(i->dm);
	ibv_unimport_mr(i->dm_mr);
	ibv_unimport_mr(i->mr);
	ibv_unimport_pd(i->pd);
	return ibv_close_device(i->context) ? 25 : 0;
}

/* With its own queues the importer copies what the owner registered. */
static int use_keys(struct rc *rc, const struct card *card)
{
	uint8_t wanted[RC_BYTES];

	fixture_fill(wanted, sizeof(wanted), 6);
	if (rc_read(rc, card->key, card->addr, RC_BYTES) != IBV_WC_SUCCESS)
		return 30;
	if (memcmp(rc->bytes, wanted, sizeof(wanted)) != 0)
		return 31;
	fixture_fill(rc->bytes, DM_BYTES, 7);
	return rc_write(rc, card->dm_key, 0, DM_BYTES) == IBV_WC_SUCCESS ? 0 : 32;
}

static int use_import(struct import *i, const struct card *card)
{
	static struct rc rc;
	int code;

	if (!dm_holds(i->dm, 5))
		return 26;
	if (!rc_open_loopback(&rc, i->pd))
		return 27;
	code = use_keys(&rc, card);
	if (!rc_close(&rc))
		return 28;
	return code ? code : (dm_holds(i->dm, 7) ? 0 : 29);
}

static int import_and_use(int fd, const struct card *card)
{
	struct import i = {0};
	int code = import_all(fd, card, &i), end;

	if (!code)
		code = use_import(&i, card);
	if (!i.dm)
		return code;
	end = unimport_all(&i);
	return code ? code : end;
}

/* --- steps: what this program does as another process ----------------------------------------- */

static int step_import(int socket)
{
	struct card card;
	int fd = process_receive_fd(socket, &card, sizeof(struct card));

	return fd < 0 ? 10 : import_and_use(fd, &card);
}

/* The importer imports the region and destroys it. */
static int step_destroy(int socket)
{
	struct card card;
	struct import i = {0};
	int fd = process_receive_fd(socket, &card, sizeof(struct card)), code;

	code = fd < 0 ? 10 : import_all(fd, &card, &i);
	if (code)
		return code;
	if (ibv_dereg_mr(i.mr))
		return 11;
	ibv_unimport_mr(i.dm_mr);
	ibv_unimport_dm(i.dm);
	ibv_unimport_pd(i.pd);
	return ibv_close_device(i.context) ? 12 : 0;
}

/* An owner whose context others use: when told, it ends or executes another program. */
static int step_own(int socket)
{
	static struct owner o;

	if (!own(&o) || !process_send_fd(socket, o.context->cmd_fd, &o.card, sizeof(struct card)))
		return 10;
	if (expect_byte(socket, 'x') && !setenv(STEP_ENV, "wait", 1))
		execl(test_options.self, test_options.self, (char *)NULL);
	return 11;
}

static int step_wait(int socket)
{
	return send_byte(socket, 'w') && expect_byte(socket, 'q') ? 0 : 10;
}

/* The descriptor and its objects were inherited across exec. */
static int step_inherit(int socket)
{
	struct card card;
	char fd_text[16];

	if (recv(socket, &card, sizeof(card), 0) != (ssize_t)sizeof(card) ||
	    recv(socket, fd_text, sizeof(fd_text), 0) <= 0)
		return 10;
	return import_and_use((int)strtol(fd_text, NULL, 10), &card);
}

static const struct {
	const char *name;
	int (*run)(int socket);
} steps[] = {
	{"import", step_import}, {"destroy", step_destroy}, {"own", step_own},
	{"wait", step_wait},	 {"inherit", step_inherit},
};

static int run_step(const char *name)
{
	int socket = process_inherited(SOCKET_ENV);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (!strcmp(steps[i].name, name))
			return steps[i].run(socket);
	return 2;
}

/* Start another process on the DPU, with a socket to it. */
static pid_t start_step(const char *name, int *socket)
{
	pid_t pid;

	setenv(STEP_ENV, name, 1);
	pid = process_spawn_self("dpu", SOCKET_ENV, socket);
	unsetenv(STEP_ENV);
	return pid;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void assert_owner_works(void)
{
	assert_int_equal(rc_read(&owner.rc, owner.dm_mr->rkey, 0, DM_BYTES), IBV_WC_SUCCESS);
	assert_int_equal(rc_gather(&owner.rc, owner.dm_mr->lkey, 0, DM_BYTES), IBV_WC_SUCCESS);
}

static void a_process_imports_a_context_from_a_socket(void **state)
{
	int socket;
	pid_t pid = start_step("import", &socket);

	assert_true(pid > 0);
	assert_true(
		process_send_fd(socket, owner.context->cmd_fd, &owner.card, sizeof(struct card)));
	assert_int_equal(process_exit_code(pid), 0);
	assert_true(dm_holds(owner.dm, 7));
	assert_owner_works();
	close(socket);
}

static void a_program_imports_a_context_that_it_inherited(void **state)
{
	int socket, inherited = dup(owner.context->cmd_fd);
	char fd_text[16];
	pid_t pid;

	assert_true(inherited >= 0);
	pid = start_step("inherit", &socket);
	assert_true(pid > 0);
	snprintf(fd_text, sizeof(fd_text), "%d", inherited);
	assert_int_equal(send(socket, &owner.card, sizeof(owner.card), 0), sizeof(owner.card));
	assert_true(send(socket, fd_text, sizeof(fd_text), 0) > 0);
	assert_int_equal(process_exit_code(pid), 0);
	assert_owner_works();
	close(inherited);
	close(socket);
}

static void a_duplicated_context_is_imported(void **state)
{
	assert_int_equal(import_and_use(dup(owner.context->cmd_fd), &owner.card), 0);
	assert_owner_works();
}

static void a_child_imports_the_context_of_its_parent(void **state)
{
	pid_t pid = fork();

	if (!pid)
		_exit(import_and_use(dup(owner.context->cmd_fd), &owner.card));
	assert_int_equal(process_exit_code(pid), 0);
	assert_owner_works();
}

/* Use the inherited context with no call that tells the child from its parent. */
static int use_inherited_context(void)
{
	static struct rc rc;
	struct ibv_pd *pd = ibv_alloc_pd(owner.context);
	int code;

	if (!pd || !rc_open_loopback(&rc, pd))
		return 10;
	fixture_fill(rc.bytes, RC_BYTES, 9);
	code = rc_write(&rc, rc.mr->rkey, (uintptr_t)rc.bytes + 4096, 4096);
	if (code || memcmp(rc.bytes, rc.bytes + 4096, 4096) != 0)
		return 11;
	if (rc_read(&rc, owner.rc.mr->rkey, owner.card.addr, 16) != IBV_WC_REM_ACCESS_ERR)
		return 12; /* of another domain */
	return rc_close(&rc) && !ibv_dealloc_pd(pd) ? 0 : 13;
}

static void parent_and_child_use_the_context(void **state)
{
	pid_t pid = fork();

	if (!pid)
		_exit(use_inherited_context());
	assert_owner_works();
	assert_int_equal(process_exit_code(pid), 0);
	assert_owner_works();
}

static void a_grandchild_uses_the_context(void **state)
{
	pid_t pid = fork();

	if (!pid) {
		int code = use_inherited_context();

		pid = code ? -1 : fork();
		if (!pid)
			_exit(use_inherited_context());
		_exit(code ? code : process_exit_code(pid));
	}
	assert_int_equal(process_exit_code(pid), 0);
	assert_owner_works();
}

/* Objects that a child created belong to the context, and end with it. */
static void objects_of_a_child_end_with_the_context(void **state)
{
	static struct rc rc;
	pid_t pid = fork();

	if (!pid) {
		struct ibv_pd *pd = ibv_alloc_pd(owner.context);

		_exit(!pd || !rc_open_loopback(&rc, pd));
	}
	assert_int_equal(process_exit_code(pid), 0);
	assert_owner_works();
}

static void import_of_missing_or_other_objects_is_refused(void **state)
{
	struct ibv_context *context = ibv_import_device(dup(owner.context->cmd_fd));
	struct ibv_pd *pd;

	assert_non_null(context);
	assert_null(ibv_import_pd(context, 4711));
	assert_int_equal(errno, ENOENT);
	assert_null(ibv_import_pd(context, owner.card.mr));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_import_dm(context, owner.card.pd));
	pd = ibv_import_pd(context, owner.card.pd);
	assert_non_null(pd);
	assert_null(ibv_import_mr(pd, 4711));
	assert_null(ibv_import_mr(pd, owner.card.dm));
	ibv_unimport_pd(pd);
	assert_int_equal(ibv_close_device(context), 0);
	assert_null(ibv_import_device(4711));
	assert_owner_works();
}

static void an_importer_may_destroy_a_region(void **state)
{
	int socket;
	pid_t pid = start_step("destroy", &socket);
	struct ibv_mr *mr;

	assert_true(pid > 0);
	assert_true(
		process_send_fd(socket, owner.context->cmd_fd, &owner.card, sizeof(struct card)));
	assert_int_equal(process_exit_code(pid), 0);
	close(socket);
	assert_int_equal(rc_read(&owner.rc, owner.card.dm_key, 0, 64), IBV_WC_LOC_PROT_ERR);
	assert_int_equal(ibv_dereg_mr(owner.rc.mr), ENOENT);
	ibv_unimport_mr(owner.rc.mr); /* memory of libibverbs */
	assert_true(rc_reconnect(&owner.rc));
	mr = ibv_reg_mr(owner.pd, owner.rc.bytes, RC_BYTES, RC_ALL);
	assert_non_null(mr);
	owner.rc.mr = mr;
}

/* --- after the owner has ended ---------------------------------------------------------------- */

static struct import held;
static struct rc holder;
static struct card card_of_owner;

static pid_t hold_peer(int *socket)
{
	pid_t pid = start_step("own", socket);
	int fd;

	assert_true(pid > 0);
	fd = process_receive_fd(*socket, &card_of_owner, sizeof(struct card));
	assert_true(fd >= 0);
	assert_int_equal(import_all(fd, &card_of_owner, &held), 0);
	assert_true(rc_open_loopback(&holder, held.pd));
	assert_int_equal(use_keys(&holder, &card_of_owner), 0);
	return pid;
}

/* Device memory belongs to the card and remains; the memory of the process ended with it. */
static void assert_only_device_memory(void)
{
	uint64_t deadline = monotonic_ms() + 5000;
	int status;

	do {
		status = rc_read(&holder, card_of_owner.key, card_of_owner.addr, 4096);
	} while (status == IBV_WC_SUCCESS && monotonic_ms() < deadline);
	assert_int_equal(status, IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&holder));
	assert_int_equal(rc_read(&holder, card_of_owner.dm_key, 0, DM_BYTES), IBV_WC_SUCCESS);
	assert_true(dm_holds(held.dm, 7));
}

static void release_peer(void)
{
	assert_true(rc_close(&holder));
	assert_int_equal(unimport_all(&held), 0);
}

static void device_memory_outlives_its_killed_owner(void **state)
{
	int socket;
	pid_t pid = hold_peer(&socket);

	assert_int_equal(kill(pid, SIGKILL), 0);
	process_reap(pid);
	assert_only_device_memory();
	assert_int_equal(ibv_dereg_mr(held.mr), 0);
	held.mr = ibv_reg_mr(held.pd, holder.bytes, 64, RC_ALL);
	assert_non_null(held.mr);
	release_peer();
	close(socket);
}

/* The process still has the same number, but other memory at the same addresses. */
static void device_memory_outlives_the_program_of_its_owner(void **state)
{
	int socket;
	pid_t pid = hold_peer(&socket);

	assert_true(send_byte(socket, 'x'));
	assert_true(expect_byte(socket, 'w'));
	assert_only_device_memory();
	assert_true(send_byte(socket, 'q'));
	assert_int_equal(process_exit_code(pid), 0);
	release_peer();
	close(socket);
}

#define OWNED(function) cmocka_unit_test_setup_teardown(function, open_owner, close_owner)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		OWNED(a_process_imports_a_context_from_a_socket),
		OWNED(a_program_imports_a_context_that_it_inherited),
		OWNED(a_duplicated_context_is_imported),
		OWNED(a_child_imports_the_context_of_its_parent),
		OWNED(parent_and_child_use_the_context),
		OWNED(a_grandchild_uses_the_context),
		OWNED(objects_of_a_child_end_with_the_context),
		OWNED(import_of_missing_or_other_objects_is_refused),
		OWNED(an_importer_may_destroy_a_region),
		counted_test(device_memory_outlives_its_killed_owner),
		counted_test(device_memory_outlives_the_program_of_its_owner),
	};
	const char *step = getenv(STEP_ENV);

	test_parse_options(argc, argv);
	if (step)
		return run_step(step);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
