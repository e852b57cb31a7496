/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dmadev.h"

#include <stdio.h>
#include <unistd.h>

#include <rte_dmadev.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "base/array.h"

#define DEVICE	0
#define CHANNEL 0

/* Let DPDK's threads run on any CPU: the driver's thread does not get a CPU of its own. */
static bool start_dpdk(void)
{
	static const char *const fixed[] = {
		"bench_emu",	     "--no-huge", "--no-pci", "--no-telemetry",	     "--no-shconf",
		"--log-level=error", "-m",	  "64",	      "--vdev=dma_skeleton", "--lcores",
	};
	char *argv[ARRAY_SIZE(fixed) + 1], lcores[32];
	int argc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		argv[argc++] = (char *)fixed[i];
	snprintf(lcores, sizeof(lcores), "0@(0-%ld)", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	argv[argc++] = lcores;
	if (rte_eal_init(argc, argv) >= 0)
		return true;
	fprintf(stderr, "bench: DPDK cannot be started: %s\n", rte_strerror(rte_errno));
	return false;
}

bool dmadev_open(uint16_t depth)
{
	struct rte_dma_conf conf = {.nb_vchans = 1};
	struct rte_dma_vchan_conf channel = {.direction = RTE_DMA_DIR_MEM_TO_MEM, .nb_desc = depth};

	if (!start_dpdk())
		return false;
	if (rte_dma_is_valid(DEVICE) && !rte_dma_configure(DEVICE, &conf) &&
	    !rte_dma_vchan_setup(DEVICE, CHANNEL, &channel))
		return true;
	fprintf(stderr, "bench: dma_skeleton cannot be set up\n");
	rte_eal_cleanup();
	return false;
}

bool dmadev_run(bool on)
{
	return !(on ? rte_dma_start(DEVICE) : rte_dma_stop(DEVICE));
}

void dmadev_close(void)
{
	rte_dma_close(DEVICE);
	rte_eal_cleanup();
}

bool dmadev_post(const struct dmadev_copy *copies, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rte_dma_copy(DEVICE, CHANNEL, (rte_iova_t)(uintptr_t)copies[i].src,
				 (rte_iova_t)(uintptr_t)copies[i].dst, (uint32_t)copies[i].len,
				 0) < 0)
			return false;
	return !rte_dma_submit(DEVICE, CHANNEL);
}

int dmadev_reap(uint16_t n)
{
	bool failed = false;
	uint16_t got = rte_dma_completed(DEVICE, CHANNEL, n, NULL, &failed);

	return failed ? -1 : got;
}
