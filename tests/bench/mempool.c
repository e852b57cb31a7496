/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "mempool.h"

#include <sched.h>
#include <stdio.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>

#include "base/array.h"

#define CACHE	    256
#define MAX_OPTIONS 32

static struct rte_mempool *pool;

/* Bind DPDK to the current CPU, as it binds its threads by default. */
static bool start_dpdk(char **options, int num_options)
{
	static const char *const fixed[] = {
		"bench_buf",	     "--no-huge", "--no-pci", "--no-telemetry", "--no-shconf",
		"--log-level=error", "-m",	  "64",	      "--lcores",
	};
	char *argv[MAX_OPTIONS], lcores[32];
	int argc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		argv[argc++] = (char *)fixed[i];
	snprintf(lcores, sizeof(lcores), "0@%d", sched_getcpu());
	argv[argc++] = lcores;
	for (int i = 0; i < num_options && argc < MAX_OPTIONS; i++)
		argv[argc++] = options[i];
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "bench: DPDK cannot be started: %s\n", rte_strerror(rte_errno));
		return false;
	}
	return true;
}

bool mempool_open(size_t objects, size_t size, char **options, int num_options)
{
	if (!start_dpdk(options, num_options))
		return false;
	pool = rte_mempool_create("bufs", (unsigned int)objects, (unsigned int)size, CACHE, 0, NULL,
				  NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	if (pool)
		return true;
	fprintf(stderr, "bench: a mempool cannot be created: %s\n", rte_strerror(rte_errno));
	rte_eal_cleanup();
	return false;
}

void mempool_close(void)
{
	rte_mempool_free(pool);
	rte_eal_cleanup();
}

bool mempool_run(void **objects, size_t burst, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < burst; j++)
			if (rte_mempool_get(pool, &objects[j]))
				return false;
		for (size_t j = 0; j < burst; j++)
			rte_mempool_put(pool, objects[j]);
	}
	return true;
}
