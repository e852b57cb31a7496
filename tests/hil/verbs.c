/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* hil_verbs device | foreign FILE: print properties of the device with libibverbs and libmlx5 alone. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "peer.h"

#define QUERY_HCA_CAP 0x0100
#define NO_SUCH_PAGE  0xff
#define COMMAND_LEN   16

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "hil_verbs: %s: %s\n", what, why);
	return 1;
}

/* Query capabilities that no firmware has, and print how the kernel returns the refusal. */
static void print_refusal(struct ibv_context *context)
{
	uint8_t in[COMMAND_LEN] = {QUERY_HCA_CAP >> 8, [6] = NO_SUCH_PAGE, [7] = NO_SUCH_PAGE};
	uint8_t out[COMMAND_LEN] = {0};
	int error = mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out));

	printf("refusal errno=%d %s status=0x%02x syndrome=0x%02x%02x%02x%02x\n", error,
	       strerror(error), out[0], out[4], out[5], out[6], out[7]);
}

static int print_caps(struct ibv_context *context)
{
	struct mlx5dv_context caps = {.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION};
	struct ibv_port_attr port;

	if (mlx5dv_query_device(context, &caps) || ibv_query_port(context, 1, &port))
		return complain("query", strerror(errno));
	printf("cqe flags=0x%" PRIx64 " compression=%" PRIu32 ":0x%" PRIx32 "\n", caps.flags,
	       caps.cqe_comp_caps.max_num, caps.cqe_comp_caps.supported_format);
	printf("port state=%s\n", ibv_port_state_str(port.state));
	return 0;
}

/* The port that a queue pair has which was created, and nothing else. */
static int print_port_in_reset(struct ibv_context *context)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = pd && cq ? ibv_create_qp(pd, &init) : NULL;
	struct ibv_qp_attr attr = {0};
	int status = qp ? ibv_query_qp(qp, &attr, IBV_QP_PORT, &init) : errno;

	if (!status)
		printf("reset port=%u\n", attr.port_num);
	if (qp)
		ibv_destroy_qp(qp);
	if (cq)
		ibv_destroy_cq(cq);
	if (pd)
		ibv_dealloc_pd(pd);
	return status ? complain("queue pair", strerror(status)) : 0;
}

static int probe_device(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? mlx5dv_open_device(list[0], &attr) : NULL;
	int status;

	if (list)
		ibv_free_device_list(list);
	if (!context)
		return complain("device", strerror(errno));
	status = print_caps(context) | print_port_in_reset(context);
	print_refusal(context);
	ibv_close_device(context);
	return status;
}

/* Use the mkey of an import on a queue pair of another protection domain of this process. */
static int use_elsewhere(const struct doca_mmap *map, const struct doca_dev *dev)
{
	uint32_t mkey;
	void *addr;
	size_t len;

	if (doca_mmap_get_mkey(map, dev, &mkey) != DOCA_SUCCESS ||
	    doca_mmap_get_memrange(map, &addr, &len) != DOCA_SUCCESS)
		return complain("import", "no key");
	printf("foreign remote=%d local=%d\n", key_access(mkey, (uintptr_t)addr, KEY_REMOTE_READ),
	       key_access(mkey, (uintptr_t)addr, KEY_LOCAL));
	return 0;
}

static int probe_foreign(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct descriptor desc;
	struct doca_mmap *map;
	struct doca_dev *dev;
	doca_error_t result;
	int status = 1;

	if (!file)
		return complain(path, strerror(errno));
	desc.len = fread(desc.bytes, 1, sizeof(desc.bytes), file);
	fclose(file);
	if (fixture_open_device(&dev) != DOCA_SUCCESS)
		return complain("device", "does not open");
	result = doca_mmap_create_from_export(NULL, desc.bytes, desc.len, dev, &map);
	if (result == DOCA_SUCCESS) {
		status = use_elsewhere(map, dev);
		(void)doca_mmap_destroy(map);
	} else {
		complain("import", doca_error_get_name(result));
	}
	(void)doca_dev_close(dev);
	return status;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "device"))
		return probe_device();
	if (argc == 3 && !strcmp(argv[1], "foreign"))
		return probe_foreign(argv[2]);
	fprintf(stderr, "usage: hil_verbs device | foreign FILE\n");
	return 2;
}
