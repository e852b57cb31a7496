/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * asan_program [NUMBER]: register memory with the first device, then write that many bytes behind the
 * memory's end. For test-asan.sh, which compiles it.
 */
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

#define LEN 4096

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	char *bytes = malloc(LEN);
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, bytes, LEN, IBV_ACCESS_LOCAL_WRITE) : NULL;

	printf("%s\n", mr ? "registered" : "no device");
	fflush(stdout);
	if (argc > 1)
		bytes[LEN - 1 + atoi(argv[1])] = 1;
	if (mr)
		ibv_dereg_mr(mr);
	if (pd)
		ibv_dealloc_pd(pd);
	if (context)
		ibv_close_device(context);
	if (list)
		ibv_free_device_list(list);
	free(bytes);
	return mr ? 0 : 1;
}
