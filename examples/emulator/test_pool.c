/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tests how the pool handles device failures.
 * Build: cc -o test_pool test_pool.c pool.c $(pkg-config --cflags --libs dpumap-emu libibverbs)
 * Run: dpumap-emu run --as dpu -- ./test_pool [chaos.plan]
 */
#include <dpumap-emu.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "pool.h"

#define CHECK(what) check(what, #what, __LINE__)

static void check(bool ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "test_pool.c:%d: check failed: %s\n", line, what);
	exit(1);
}

/* Closing a context destroys all of its objects, so one that is left has its context. */
static long long contexts(void)
{
	return dpumap_emu_count("contexts");
}

/* No object remains, whichever command fails. */
static void test_each_command_that_fails(void)
{
	char rule[128];
	struct pool p;
	int n, failed = 0;

	for (n = 1; n <= 20; n++) {
		snprintf(rule, sizeof(rule),
			 "command --method !(*.destroy|*.query*|events.*) --nth %d --errno ENOMEM",
			 n);
		CHECK(!dpumap_emu_fault(rule));
		/* libmlx5 can open the device although some of these commands fail. */
		if (pool_open(&p))
			failed++;
		else
			pool_close(&p);
		CHECK(!dpumap_emu_fault("clear"));
		CHECK(contexts() == 0);
	}
	CHECK(failed >= 10); /* a PD, a CQ, a QP with three state changes, four buffers */
}

static void test_completions(void)
{
	enum ibv_wc_status status;
	struct pool p;

	CHECK(!pool_open(&p));
	strcpy(p.bytes[0], "written by the device");
	CHECK(!dpumap_emu_fault("completion --delay 50"));
	CHECK(!pool_copy(&p, 1, 0, &status) && status == IBV_WC_SUCCESS);
	CHECK(!strcmp(p.bytes[1], p.bytes[0]));
	CHECK(!dpumap_emu_fault("completion --lose --nth 2"));
	CHECK(!pool_copy(&p, 2, 0, &status) && status == IBV_WC_SUCCESS);
	CHECK(pool_copy(&p, 3, 0, &status) == ETIMEDOUT);
	CHECK(!dpumap_emu_fault("completion --syndrome REM_ACCESS_ERR"));
	CHECK(!pool_copy(&p, 3, 0, &status) && status == IBV_WC_REM_ACCESS_ERR);
	CHECK(!pool_copy(&p, 3, 0, &status) && status == IBV_WC_WR_FLUSH_ERR);
	CHECK(!dpumap_emu_fault("clear"));
	pool_close(&p);
}

static void test_the_device_dies(void)
{
	enum ibv_wc_status status;
	struct pool p, q;

	CHECK(!pool_open(&p));
	CHECK(!pool_is_dead(&p));
	CHECK(!dpumap_emu_fault("device"));
	CHECK(pool_is_dead(&p));
	CHECK(!pool_copy(&p, 1, 0, &status) && status == IBV_WC_WR_FLUSH_ERR);
	CHECK(!ibv_alloc_pd(p.context) && errno == EIO);
	CHECK(pool_open(&q) != 0);
	CHECK(!dpumap_emu_fault("clear"));
	CHECK(!pool_open(&q));				 /* after the reset new contexts work */
	CHECK(!ibv_alloc_pd(p.context) && errno == EIO); /* and old contexts do not */
	pool_close(&q);
	pool_close(&p);
	CHECK(contexts() == 0);
}

static bool lasts(pid_t chaos)
{
	siginfo_t ended = {.si_pid = 0};

	CHECK(!waitid(P_PID, (id_t)chaos, &ended, WEXITED | WNOHANG | WNOWAIT));
	return !ended.si_pid;
}

/* Copy until the plan has ended. A failed copy means a new pool. */
static void test_chaos(const char *plan, unsigned long long seed)
{
	enum ibv_wc_status status;
	int copies = 0, err;
	struct pool p;
	pid_t chaos;

	CHECK(!dpumap_emu_chaos(plan, seed, &chaos));
	while (lasts(chaos)) {
		if (pool_open(&p))
			continue;
		do {
			snprintf(p.bytes[0], POOL_BYTES, "copy %d", copies);
			err = pool_copy(&p, 1, 0, &status);
			if (!err && !status) {
				CHECK(!strcmp(p.bytes[1], p.bytes[0]));
				copies++;
			}
		} while (!err && !status && lasts(chaos));
		pool_close(&p);
	}
	CHECK(!dpumap_emu_chaos_wait(chaos));
	CHECK(copies > 0);
	CHECK(contexts() == 0);
}

int main(int argc, char **argv)
{
	test_each_command_that_fails();
	test_completions();
	test_the_device_dies();
	if (argc > 1)
		test_chaos(argv[1], 7);
	puts("the pool handles all faults");
	return 0;
}
