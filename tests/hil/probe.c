/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* hil_probe COMMAND: what a device says of itself, a line a fact; what scripts/hil cannot ask by
 * the two programs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/dm.h>
#include <dpumap/dma.h>

#define PIECES_MAX    4096
#define LOG_ALIGN_MIN 6

static int fail(const char *what, doca_error_t result)
{
	fprintf(stderr, "hil_probe: %s: %s\n", what, doca_error_get_name(result));
	return 1;
}

static void print_limit(const char *name, doca_error_t result, uint64_t value)
{
	if (result == DOCA_SUCCESS)
		printf(" %s=%" PRIu64, name, value);
	else
		printf(" %s=%s", name, doca_error_get_name(result));
}

static void print_device(struct doca_devinfo *info)
{
	char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE] = "-";
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE] = "-";
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_PF;
	uint32_t log_align = 0;
	uint16_t vhca_id = 0;
	uint64_t value = 0;
	doca_error_t result;

	(void)doca_devinfo_get_ibdev_name(info, ibdev, sizeof(ibdev));
	(void)doca_devinfo_get_pci_addr_str(info, addr);
	(void)doca_devinfo_get_pci_func_type(info, &type);
	printf("%s pci=%s type=%d", ibdev, addr, (int)type);
	result = doca_devinfo_get_vhca_id(info, &vhca_id);
	print_limit("vhca_id", result, vhca_id);
	result = dpumap_dm_cap_get_max_len(info, &value);
	print_limit("dm_max", result, value);
	result = dpumap_dm_cap_get_granularity(info, &value);
	print_limit("dm_granularity", result, value);
	result = dpumap_dm_cap_get_max_log_align(info, &log_align);
	print_limit("dm_max_log_align", result, log_align);
	printf("\n");
}

/* Print the representors that the firmware reports: on a DPU one for each host function, on a host none. */
static void print_representors(struct doca_dev *dev)
{
	char addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint32_t n = 0;

	result = doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n);
	if (result != DOCA_SUCCESS) {
		printf("representors %s\n", doca_error_get_name(result));
		return;
	}
	printf("representors %" PRIu32, n);
	for (uint32_t i = 0; i < n; i++)
		if (doca_devinfo_rep_get_pci_addr_str(list[i], addr) == DOCA_SUCCESS)
			printf(" %s", addr);
	printf("\n");
	if (n)
		(void)doca_devinfo_rep_destroy_list(list);
}

static void print_queue(struct doca_dev *dev)
{
	enum dpumap_dma_engine engine = DPUMAP_DMA_ENGINE_RDMA;
	struct dpumap_dma *dma;
	uint64_t max_len = 0;
	doca_error_t result;

	result = dpumap_dma_create(dev, 1, &dma);
	if (result != DOCA_SUCCESS) {
		printf("queue %s\n", doca_error_get_name(result));
		return;
	}
	(void)dpumap_dma_get_engine(dma, &engine);
	(void)dpumap_dma_get_max_len(dma, &max_len);
	printf("queue engine=%s max_len=%" PRIu64 "\n",
	       engine == DPUMAP_DMA_ENGINE_MMO ? "mmo" : "rdma", max_len);
	(void)dpumap_dma_destroy(dma);
}

static int probe_devices(struct doca_dev *dev)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n = 0;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return fail("list of devices", result);
	for (uint32_t i = 0; i < n; i++)
		print_device(list[i]);
	(void)doca_devinfo_destroy_list(list);
	print_representors(dev);
	print_queue(dev);
	return 0;
}

/* As many pieces of one alignment as there are: how many, and whether each is what was asked for.
 */
static int fill_with_pieces(struct doca_dev *dev, uint32_t log_align)
{
	struct dpumap_dm *pieces[PIECES_MAX];
	doca_error_t result = DOCA_SUCCESS;
	size_t len = (size_t)1 << log_align;
	uint32_t n = 0;
	int status = 0;

	while (n < PIECES_MAX) {
		result = dpumap_dm_alloc(dev, len, log_align, &pieces[n]);
		if (result != DOCA_SUCCESS)
			break;
		n++;
	}
	printf("pieces log_align=%" PRIu32 " len=%zu count=%" PRIu32 " then=%s\n", log_align, len,
	       n, doca_error_get_name(result));
	while (n > 0) {
		result = dpumap_dm_free(pieces[--n]);
		if (result != DOCA_SUCCESS)
			status = fail("free of device memory", result);
	}
	return status;
}

static int probe_pieces(struct doca_dev *dev)
{
	uint32_t max_log_align = 0;
	uint64_t before = 0, after = 0, longest = 0;
	doca_error_t result;
	int status = 0;

	result = dpumap_dm_cap_get_max_log_align(doca_dev_as_devinfo(dev), &max_log_align);
	DOCA_ERROR_PROPAGATE(result, dpumap_dm_query_free(dev, &longest, &before));
	if (result != DOCA_SUCCESS)
		return fail("device memory", result);
	printf("free longest=%" PRIu64 " total=%" PRIu64 "\n", longest, before);
	for (uint32_t align = LOG_ALIGN_MIN; align <= max_log_align && status == 0; align++)
		status = fill_with_pieces(dev, align);
	result = dpumap_dm_query_free(dev, &longest, &after);
	if (result != DOCA_SUCCESS)
		return fail("device memory", result);
	if (after != before) {
		fprintf(stderr, "hil_probe: %" PRIu64 " bytes free before, %" PRIu64 " after\n",
			before, after);
		status = 1;
	}
	return status;
}

static const struct {
	const char *name;
	int (*run)(struct doca_dev *dev);
} commands[] = {{"devices", probe_devices}, {"pieces", probe_pieces}};

static doca_error_t open_first(struct doca_dev **dev)
{
	struct doca_devinfo **list;
	doca_error_t result;
	uint32_t n = 0;

	result = doca_devinfo_create_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = n ? doca_dev_open(list[0], dev) : DOCA_ERROR_NOT_FOUND;
	(void)doca_devinfo_destroy_list(list);
	return result;
}

static int run(int (*command)(struct doca_dev *))
{
	struct doca_dev *dev;
	doca_error_t result = open_first(&dev);
	int status;

	if (result != DOCA_SUCCESS)
		return fail("device", result);
	status = command(dev);
	result = doca_dev_close(dev);
	return result == DOCA_SUCCESS ? status : fail("close", result);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(commands[i].run);
	fprintf(stderr, "usage: hil_probe devices|pieces\n");
	return 2;
}
