/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "lives.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "loop.h"

#define KEEP	   6	      /* objects of a kind at once */
#define BIG	   (4u << 20) /* a copy that takes a while */
#define GRANDCHILD 0x80000000u

static struct life {
	struct random_state random;
	uint32_t seed;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr[KEEP];
	struct ibv_dm *dm[KEEP];
	struct loop *loop[KEEP];
	struct ibv_context *more[KEEP];
	struct side side;
	bool has_side;
	uint8_t *big;
	struct ibv_mr *big_mr;
} life;

uint32_t lives_draw(struct random_state *random, uint32_t below)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random->state >> 33) % below;
}

static uint32_t draw(uint32_t below)
{
	return lives_draw(&life.random, below);
}

/* --- what it does: an exit status if something was wrong
 * ------------------------------------------ */

static int make_or_unmake_mr(void)
{
	struct ibv_mr **mr = &life.mr[draw(KEEP)];

	if (*mr) {
		if (ibv_dereg_mr(*mr))
			return 20;
		*mr = NULL;
		return 0;
	}
	*mr = ibv_reg_mr(life.pd, life.big, 4096 * (1 + (size_t)draw(1000)), LOOP_ALL);
	return *mr ? 0 : 21;
}

/* Device memory is scarce: there may be none. */
static int make_or_unmake_dm(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 64 * (1 + (size_t)draw(32))};
	struct ibv_dm **dm = &life.dm[draw(KEEP)];

	if (!*dm) {
		*dm = ibv_alloc_dm(life.context, &attr);
		return 0;
	}
	if (ibv_free_dm(*dm))
		return 22;
	*dm = NULL;
	return 0;
}

static int make_or_unmake_loop(void)
{
	struct loop **loop = &life.loop[draw(KEEP)];

	if (*loop) {
		if (!loop_close(*loop))
			return 23;
		free(*loop);
		*loop = NULL;
		return 0;
	}
	*loop = aligned_alloc(64, (sizeof(**loop) + 63) & ~(size_t)63);
	return *loop && loop_open(*loop, life.pd) ? 0 : 24;
}

static struct loop *any_loop(void)
{
	uint32_t first = draw(KEEP), i;

	for (i = 0; i < KEEP; i++)
		if (life.loop[(first + i) % KEEP])
			return life.loop[(first + i) % KEEP];
	return NULL;
}

static int copy_small(void)
{
	struct loop *loop = any_loop();

	if (!loop)
		return make_or_unmake_loop();
	rig_fill(loop->bytes, 4096, draw(1000));
	if (loop_write(loop, loop->mr->rkey, (uintptr_t)loop->bytes + 4096, 4096))
		return 25;
	return memcmp(loop->bytes, loop->bytes + 4096, 4096) ? 26 : 0;
}

/* Often it ends in the middle of this. */
static int copy_big(void)
{
	struct loop *loop = any_loop();
	struct ibv_sge sge = {(uintptr_t)life.big, BIG / 2, life.big_mr->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)life.big + BIG / 2, life.big_mr->rkey},
	};

	if (!loop)
		return make_or_unmake_loop();
	return loop_post(loop, &wr) && !loop_wait(loop, RIG_PATIENCE_MS) ? 0 : 27;
}

static int send_to_itself(void)
{
	struct loop *loop = any_loop();
	struct ibv_sge sge = {0, 512, 0};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (!loop)
		return make_or_unmake_loop();
	sge.addr = (uintptr_t)loop->bytes + 1024;
	sge.lkey = loop->mr->lkey;
	return loop_receive(loop, 512) && loop_post(loop, &wr) &&
			       !loop_wait(loop, RIG_PATIENCE_MS) &&
			       !loop_wait(loop, RIG_PATIENCE_MS)
		       ? 0
		       : 28;
}

static int wait_for_event(void)
{
	struct loop *loop = any_loop();
	struct ibv_cq *cq;
	void *arg;

	if (!loop)
		return make_or_unmake_loop();
	if (ibv_req_notify_cq(loop->cq, 0) ||
	    loop_write(loop, loop->mr->rkey, (uintptr_t)loop->bytes + 4096, 64) ||
	    ibv_get_cq_event(loop->channel, &cq, &arg))
		return 29;
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static int open_or_close_another(void)
{
	struct ibv_context **context = &life.more[draw(KEEP)];

	if (!*context) {
		*context = rig_open_context();
		return *context && ibv_alloc_pd(*context) ? 0 : 30;
	}
	ibv_close_device(*context);
	*context = NULL;
	return 0;
}

static int import_itself(void)
{
	struct ibv_context *context = ibv_import_device(dup(life.context->cmd_fd));
	struct ibv_pd *pd = context ? ibv_import_pd(context, life.pd->handle) : NULL;

	if (!pd)
		return 31;
	ibv_unimport_pd(pd);
	return ibv_close_device(context) ? 32 : 0;
}

/* Shared memory, in both directions. */
static int share(void)
{
	const struct side_export what = {
		draw(2) ? SIDE_MEMORY : SIDE_DEVICE_MEMORY, LIVES_BYTES,
		DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, life.seed};
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	static struct side_desc theirs, mine;
	uint8_t got[64], wanted[LIVES_BYTES];

	if (life.has_side || poll(&in, 1, 0) != 1 ||
	    read(STDIN_FILENO, &theirs, sizeof(theirs)) != (ssize_t)sizeof(theirs))
		return 0;
	if (side_open(&life.side) != DOCA_SUCCESS)
		return 33;
	life.has_side = true;
	if (side_import_map(&life.side, 0, &theirs) != DOCA_SUCCESS ||
	    side_read(&life.side, 0, 0, got, sizeof(got)) != DOCA_SUCCESS)
		return 34;
	rig_fill(wanted, sizeof(wanted), LIVES_SEED);
	if (memcmp(got, wanted, sizeof(got)) != 0)
		return 35;
	if (side_export_map(&life.side, 1, &what, &mine) != DOCA_SUCCESS)
		return what.source == SIDE_MEMORY ? 36 : 0;
	return write(STDOUT_FILENO, &mine, sizeof(mine)) == (ssize_t)sizeof(mine) ? 0 : 37;
}

/* The child goes on with the same context, and goes with its parent if not before. */
static int bear(void)
{
	pid_t parent = getpid(), pid;

	if (life.seed & GRANDCHILD)
		return 0;
	pid = fork();
	if (pid)
		return pid < 0 ? 38 : 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	life.seed |= GRANDCHILD;
	life.random.state ^= GRANDCHILD;
	life.has_side = true; /* that is its parent's, too */
	/* Objects are their parent's. */
	memset(life.loop, 0, sizeof(life.loop));
	memset(life.dm, 0, sizeof(life.dm));
	memset(life.more, 0, sizeof(life.more));
	life.pd = ibv_alloc_pd(life.context);
	life.big_mr = life.pd ? ibv_reg_mr(life.pd, life.big, BIG, LOOP_ALL) : NULL;
	if (!life.big_mr)
		_exit(0);
	memset(life.mr, 0, sizeof(life.mr));
	return 0;
}

/* Another program in the same process, which inherits what was open. */
static int begin_anew(void)
{
	if (life.seed & GRANDCHILD)
		return 0;
	dup(life.context->cmd_fd);
	execl(rig_options.self, rig_options.self, "--emu", rig_options.emu, (char *)NULL);
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
} deeds[] = {
	{make_or_unmake_mr, 12},
	{make_or_unmake_dm, 8},
	{make_or_unmake_loop, 12},
	{copy_small, 20},
	{copy_big, 12},
	{send_to_itself, 10},
	{wait_for_event, 10},
	{import_itself, 4},
	{share, 10},
	{open_or_close_another, 4},
	{bear, 2},
	{begin_anew, 1},
	{end, 1},
};

static int act(void)
{
	uint32_t total = 0, at;
	size_t i;

	for (i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
		total += deeds[i].weight;
	at = draw(total);
	for (i = 0; at >= deeds[i].weight; i++)
		at -= deeds[i].weight;
	return deeds[i].run();
}

int lives_run(uint32_t seed)
{
	int code = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	life.seed = seed;
	life.random.state = seed + (uint64_t)getpid();
	life.big = aligned_alloc(4096, BIG);
	life.context = rig_open_context();
	life.pd = life.context ? ibv_alloc_pd(life.context) : NULL;
	life.big_mr = life.pd ? ibv_reg_mr(life.pd, life.big, BIG, LOOP_ALL) : NULL;
	if (!life.big_mr)
		return 10;
	while (!code) {
		code = act();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	/* What a grandchild finds wrong its parent may have ended. */
	return life.seed & GRANDCHILD ? 0 : code;
}

/* --- the witness ---------------------------------------------------------------------------------
 */

static int witness_round(struct loop *loop, struct ibv_pd *pd, uint32_t round)
{
	struct ibv_mr *mr;

	rig_fill(loop->bytes, 4096, round);
	mr = ibv_reg_mr(pd, loop->bytes + 4096, 4096, LOOP_ALL);
	if (!mr)
		return 50;
	if (loop_write(loop, mr->rkey, (uintptr_t)mr->addr, 4096))
		return 51;
	if (memcmp(loop->bytes, loop->bytes + 4096, 4096) != 0)
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

int lives_witness(void)
{
	static struct loop loop;
	struct ibv_context *context = rig_open_context();
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	uint32_t round = 0;
	int code = 0;

	if (!pd || !loop_open(&loop, pd))
		return 49;
	life.loop[0] = &loop;
	while (!code && !told_to_end())
		code = witness_round(&loop, pd, round++);
	if (code)
		return code;
	fprintf(stderr, "a witness saw %u rounds\n", round);
	return loop_close(&loop) && !ibv_dealloc_pd(pd) && !ibv_close_device(context) ? 0 : 54;
}
