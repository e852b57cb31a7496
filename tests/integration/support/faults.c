/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "base/array.h"

#define MAX_LIVE	      4096
#define STATUS_INTERNAL_ERROR 0x1 /* of a command, in the PRM */

static struct {
	enum fault_kind kind;
	unsigned int left;
	int err;
	bool fired;
} fault;

static unsigned int commands;
static void *live[MAX_LIVE];
static unsigned int nlive;

void fault_arm(enum fault_kind kind, unsigned int n, int err)
{
	fault.kind = kind;
	fault.left = n;
	fault.err = err;
	fault.fired = false;
}

void fault_disarm(void)
{
	fault.kind = FAULT_NONE;
}

bool fault_fired(void)
{
	return fault.fired;
}

unsigned int fault_count_commands(void)
{
	return commands;
}

unsigned int fault_count_live(void)
{
	return nlive;
}

static bool strikes(enum fault_kind kind)
{
	if (fault.kind != kind || --fault.left)
		return false;
	fault.kind = FAULT_NONE;
	fault.fired = true;
	return true;
}

bool fault_strikes(enum fault_kind kind, int *err)
{
	*err = fault.err;
	return strikes(kind);
}

static void *remember(void *p)
{
	if (p && nlive == MAX_LIVE) {
		fputs("faults: too many allocations to keep track of\n", stderr);
		abort();
	}
	if (p)
		live[nlive++] = p;
	return p;
}

static void forget(const void *p)
{
	for (unsigned int i = nlive; i-- > 0;) {
		if (live[i] == p) {
			live[i] = live[--nlive];
			return;
		}
	}
}

static bool no_memory(void)
{
	if (!strikes(FAULT_ALLOC))
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_posix_memalign(void **p, size_t align, size_t size);
char *__real_strdup(const char *s);
void __real_free(void *p);
void *__real_dpumap_secret_alloc(size_t size);
void __real_dpumap_secret_free(void *p, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **p, size_t align, size_t size);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);
void *__wrap_dpumap_secret_alloc(size_t size);
void __wrap_dpumap_secret_free(void *p, size_t size);

void *__wrap_dpumap_secret_alloc(size_t size)
{
	return no_memory() ? NULL : remember(__real_dpumap_secret_alloc(size));
}

void __wrap_dpumap_secret_free(void *p, size_t size)
{
	forget(p);
	__real_dpumap_secret_free(p, size);
}

void *__wrap_malloc(size_t size)
{
	return no_memory() ? NULL : remember(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory() ? NULL : remember(__real_calloc(n, size));
}

static void *moved(const void *old, void *p)
{
	if (!p)
		return NULL;
	forget(old);
	return remember(p);
}

void *__wrap_realloc(void *old, size_t size)
{
	return no_memory() ? NULL : moved(old, __real_realloc(old, size));
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return no_memory() ? NULL : moved(old, __real_reallocarray(old, n, size));
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return no_memory() ? NULL : remember(__real_aligned_alloc(align, size));
}

int __wrap_posix_memalign(void **p, size_t align, size_t size)
{
	int err = no_memory() ? ENOMEM : __real_posix_memalign(p, align, size);

	if (!err)
		remember(*p);
	return err;
}

char *__wrap_strdup(const char *s)
{
	return no_memory() ? NULL : remember(__real_strdup(s));
}

void __wrap_free(void *p)
{
	forget(p);
	__real_free(p);
}

static const struct {
	uint16_t object, method;
} destroys[] = {
	{UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY},
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY},
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY},
	{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY},
	{MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY},
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG},
};

static enum fault_kind kind_of(const struct ib_uverbs_ioctl_hdr *hdr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(destroys); i++)
		if (hdr->object_id == destroys[i].object && hdr->method_id == destroys[i].method)
			return FAULT_DESTROY;
	return FAULT_COMMAND;
}

/* Where the firmware's answer to a DEVX command goes. */
static const struct {
	uint16_t object, method, out;
} answers[] = {
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE,
	 MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
	 MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY,
	 MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT},
};

static void answer(const struct ib_uverbs_ioctl_hdr *hdr, uint16_t id)
{
	for (unsigned int i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == id && hdr->attrs[i].len)
			*(uint8_t *)(uintptr_t)hdr->attrs[i].data = STATUS_INTERNAL_ERROR;
}

/* EREMOTEIO reports an error of the firmware, whose status is in the output. */
static int fail(const struct ib_uverbs_ioctl_hdr *hdr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(answers); i++)
		if (fault.err == EREMOTEIO && hdr->object_id == answers[i].object &&
		    hdr->method_id == answers[i].method)
			answer(hdr, answers[i].out);
	errno = fault.err;
	return -1;
}

static int next_ioctl(int fd, unsigned long request, void *arg)
{
	static int (*next)(int, unsigned long, ...);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	return next(fd, request, arg);
}

/*
 * The program's own definition takes precedence over the preloaded one of the emulator, and over
 * libc's.
 */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == RDMA_VERBS_IOCTL) {
		commands++;
		if (strikes(kind_of(arg)))
			return fail(arg);
	}
	return next_ioctl(fd, request, arg);
}
