/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "random_client.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "base/array.h"
#include "rc.h"

#define KEEP	   6	      /* objects of a kind at once */
#define BIG	   (4u << 20) /* a copy that takes long */
#define GRANDCHILD 0x80000000u

static struct client {
	uint64_t random;
	uint32_t seed;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr[KEEP];
	struct ibv_dm *dm[KEEP];
	struct rc *rc[KEEP];
	struct ibv_context *more[KEEP];
	struct sharer sharer;
	bool has_sharer;
	uint8_t *big;
	struct ibv_mr *big_mr;
} client;

static uint32_t draw(uint32_t below)
{
	return test_draw(&client.random, below);
}

/* --- what it does: an exit status if something was wrong -------------------------------------- */

static int make_or_unmake_mr(void)
{
	struct ibv_mr **mr = &client.mr[draw(KEEP)];

	if (*mr) {
		if (ibv_dereg_mr(*mr))
			return 20;
		*mr = NULL;
		return 0;
	}
	*mr = ibv_reg_mr(client.pd, client.big, 4096 * (1 + (size_t)draw(1000)), RC_ALL);
	return *mr ? 0 : 21;
}

/* Device memory is scarce: the allocation may fail. */
static int make_or_unmake_dm(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 64 * (1 + (size_t)draw(32))};
	struct ibv_dm **dm = &client.dm[draw(KEEP)];

	if (!*dm) {
		*dm = ibv_alloc_dm(client.context, &attr);
		return 0;
	}
	if (ibv_free_dm(*dm))
		return 22;
	*dm = NULL;
	return 0;
}

static int make_or_unmake_rc(void)
{
	struct rc **rc = &client.rc[draw(KEEP)];

	if (*rc) {
		if (!rc_close(*rc))
			return 23;
		free(*rc);
		*rc = NULL;
		return 0;
	}
	*rc = aligned_alloc(64, (sizeof(**rc) + 63) & ~(size_t)63);
	return *rc && rc_open_loopback(*rc, client.pd) ? 0 : 24;
}

static struct rc *any_rc(void)
{
	uint32_t first = draw(KEEP), i;

	for (i = 0; i < KEEP; i++)
		if (client.rc[(first + i) % KEEP])
			return client.rc[(first + i) % KEEP];
	return NULL;
}

static int copy_small(void)
{
	struct rc *rc = any_rc();

	if (!rc)
		return make_or_unmake_rc();
	fixture_fill(rc->bytes, 4096, draw(1000));
	if (rc_write(rc, rc->mr->rkey, (uintptr_t)rc->bytes + 4096, 4096))
		return 25;
	return memcmp(rc->bytes, rc->bytes + 4096, 4096) ? 26 : 0;
}

/* The client is often killed in the middle of this. */
static int copy_big(void)
{
	struct rc *rc = any_rc();
	struct ibv_sge sge = {(uintptr_t)client.big, BIG / 2, client.big_mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)client.big + BIG / 2, client.big_mr->rkey},
	};

	if (!rc)
		return make_or_unmake_rc();
	return rc_post(rc, &wr) && !rc_wait(rc, FIXTURE_TIMEOUT_MS) ? 0 : 27;
}

static int send_to_itself(void)
{
	struct rc *rc = any_rc();
	struct ibv_sge sge = {0, 512, 0};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (!rc)
		return make_or_unmake_rc();
	sge.addr = (uintptr_t)rc->bytes + 1024;
	sge.lkey = rc->mr->lkey;
	return rc_receive(rc, 512) && rc_post(rc, &wr) && !rc_wait(rc, FIXTURE_TIMEOUT_MS) &&
			       !rc_wait(rc, FIXTURE_TIMEOUT_MS)
		       ? 0
		       : 28;
}

static int wait_for_event(void)
{
	struct rc *rc = any_rc();
	struct ibv_cq *cq;
	void *arg;

	if (!rc)
		return make_or_unmake_rc();
	if (ibv_req_notify_cq(rc->cq, 0) ||
	    rc_write(rc, rc->mr->rkey, (uintptr_t)rc->bytes + 4096, 64) ||
	    ibv_get_cq_event(rc->channel, &cq, &arg))
		return 29;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static int open_or_close_another(void)
{
	struct ibv_context **context = &client.more[draw(KEEP)];

	if (!*context) {
		*context = fixture_open_context();
		return *context && ibv_alloc_pd(*context) ? 0 : 30;
	}
	ibv_close_device(*context);
	*context = NULL;
	return 0;
}

static int import_itself(void)
{
	struct ibv_context *context = ibv_import_device(dup(client.context->cmd_fd));
	struct ibv_pd *pd = context ? ibv_import_pd(context, client.pd->handle) : NULL;

	if (!pd)
		return 31;
	ibv_unimport_pd(pd);
	return ibv_close_device(context) ? 32 : 0;
}

/* Shared memory, in both directions. */
static int share(void)
{
	const struct map_spec what = {
		draw(2) ? FROM_MEMORY : FROM_DEVICE_MEMORY, CLIENT_BYTES,
		DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, client.seed};
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	static struct descriptor received, own;
	uint8_t got[64], wanted[CLIENT_BYTES];

	if (client.has_sharer || poll(&in, 1, 0) != 1 ||
	    read(STDIN_FILENO, &received, sizeof(received)) != (ssize_t)sizeof(received))
		return 0;
	if (sharer_open(&client.sharer) != DOCA_SUCCESS)
		return 33;
	client.has_sharer = true;
	if (sharer_import(&client.sharer, 0, &received) != DOCA_SUCCESS ||
	    sharer_read(&client.sharer, 0, 0, got, sizeof(got)) != DOCA_SUCCESS)
		return 34;
	fixture_fill(wanted, sizeof(wanted), CLIENT_SEED);
	if (memcmp(got, wanted, sizeof(got)) != 0)
		return 35;
	if (sharer_export(&client.sharer, 1, &what, &own) != DOCA_SUCCESS)
		return what.source == FROM_MEMORY ? 36 : 0;
	return write(STDOUT_FILENO, &own, sizeof(own)) == (ssize_t)sizeof(own) ? 0 : 37;
}

/* The child goes on with the same context, and ends with its parent at the latest. */
static int fork_child(void)
{
	pid_t parent = getpid(), pid;

	if (client.seed & GRANDCHILD)
		return 0;
	pid = fork();
	if (pid)
		return pid < 0 ? 38 : 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	client.seed |= GRANDCHILD;
	client.random ^= GRANDCHILD;
	client.has_sharer = true; /* the sharer belongs to the parent */
	/* So do these objects. */
	memset(client.rc, 0, sizeof(client.rc));
	memset(client.dm, 0, sizeof(client.dm));
	memset(client.more, 0, sizeof(client.more));
	client.pd = ibv_alloc_pd(client.context);
	client.big_mr = client.pd ? ibv_reg_mr(client.pd, client.big, BIG, RC_ALL) : NULL;
	if (!client.big_mr)
		_exit(0);
	memset(client.mr, 0, sizeof(client.mr));
	return 0;
}

/* Execute another program in the same process, which inherits the open files. */
static int exec_again(void)
{
	if (client.seed & GRANDCHILD)
		return 0;
	dup(client.context->cmd_fd);
	execl(test_options.self, test_options.self, "--emu", test_options.emu, (char *)NULL);
	return 39;
}

static int end(void)
{
	switch (draw(4)) {
	case 0:
		raise(SIGUSR1);
		return 40;
	case 1:
		_exit(0);
	default:
		exit(0);
	}
}

static const struct {
	int (*run)(void);
	uint32_t weight;
} actions[] = {
	{make_or_unmake_mr, 12},
	{make_or_unmake_dm, 8},
	{make_or_unmake_rc, 12},
	{copy_small, 20},
	{copy_big, 12},
	{send_to_itself, 10},
	{wait_for_event, 10},
	{import_itself, 4},
	{share, 10},
	{open_or_close_another, 4},
	{fork_child, 2},
	{exec_again, 1},
	{end, 1},
};

static int act(void)
{
	uint32_t total = 0, at;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(actions); i++)
		total += actions[i].weight;
	at = draw(total);
	for (i = 0; at >= actions[i].weight; i++)
		at -= actions[i].weight;
	return actions[i].run();
}

int random_client_run(uint32_t seed)
{
	int code = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	client.seed = seed;
	client.random = seed + (uint64_t)getpid();
	client.big = aligned_alloc(4096, BIG);
	client.context = fixture_open_context();
	client.pd = client.context ? ibv_alloc_pd(client.context) : NULL;
	client.big_mr = client.pd ? ibv_reg_mr(client.pd, client.big, BIG, RC_ALL) : NULL;
	if (!client.big_mr)
		return 10;
	while (!code) {
		code = act();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	/* A grandchild may fail because its parent has ended. */
	return client.seed & GRANDCHILD ? 0 : code;
}

/* --- the steady client ------------------------------------------------------------------------ */

static int steady_round(struct rc *rc, struct ibv_pd *pd, uint32_t round)
{
	struct ibv_mr *mr;

	fixture_fill(rc->bytes, 4096, round);
	mr = ibv_reg_mr(pd, rc->bytes + 4096, 4096, RC_ALL);
	if (!mr)
		return 50;
	if (rc_write(rc, mr->rkey, (uintptr_t)mr->addr, 4096))
		return 51;
	if (memcmp(rc->bytes, rc->bytes + 4096, 4096) != 0)
		return 52;
	if (ibv_dereg_mr(mr))
		return 53;
	return send_to_itself();
}

static bool told_to_end(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&in, 1, 1) != 0;
}

int steady_client_run(void)
{
	static struct rc rc;
	struct ibv_context *context = fixture_open_context();
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	uint32_t round = 0;
	int code = 0;

	if (!pd || !rc_open_loopback(&rc, pd))
		return 49;
	client.rc[0] = &rc;
	while (!code && !told_to_end())
		code = steady_round(&rc, pd, round++);
	if (code)
		return code;
	fprintf(stderr, "a steady client completed %u rounds\n", round);
	return rc_close(&rc) && !ibv_dealloc_pd(pd) && !ibv_close_device(context) ? 0 : 54;
}
