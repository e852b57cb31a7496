/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A library to preload. It overrides functions of libibverbs and libmlx5, and fails in ways that the
 * emulated card does not support; the environment variable SPOIL selects which.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#define HELD_SIZE  ((1 << 20) + 4096) /* of a file that no other program has */
#define EXPORT	   __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static int is_spoilt(const char *what)
{
	const char *wanted = getenv("SPOIL");

	return wanted && strcmp(wanted, what) == 0;
}

/* "file": the user is not permitted to open devices. */
EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (is_spoilt("file") && strncmp(path, "/dev/infiniband/", 16) == 0) {
		errno = EACCES;
		return -1;
	}
	return NEXT(open)(path, flags, mode);
}

/* What a test holds up waits until the test has opened the FIFO $SPOIL_FIFO and closed it, if there is one. */
static void hold(const char *what)
{
	struct pollfd held = {.fd = -1};

	if (!is_spoilt(what))
		return;
	held.fd = NEXT(open)(getenv("SPOIL_FIFO"), O_WRONLY);
	if (held.fd < 0)
		return;
	if (write(held.fd, "", 1) == 1)
		poll(&held, 1, -1); /* POLLERR */
	close(held.fd);
}

/* "resolver": it does not answer for this name, for a while. */
EXPORT int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **list)
{
	if (node && strcmp(node, "held.test") == 0 && !(hints->ai_flags & AI_NUMERICHOST)) {
		hold("resolver");
		node = "127.0.0.1";
	}
	return NEXT(getaddrinfo)(node, service, hints, list);
}

/* "pins": registering much memory takes long. */
#undef ibv_reg_mr
EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	if (length >= 1 << 20)
		hold("pins");
	return NEXT(ibv_reg_mr)(pd, addr, length, access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				       unsigned int access)
{
	if (length >= 1 << 20)
		hold("pins");
	return NEXT(ibv_reg_mr_iova2)(pd, addr, length, iova, access);
}

/* The same for the end of a registration. */
EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	if (mr->length >= 1 << 20)
		hold("unpins");
	return NEXT(ibv_dereg_mr)(mr);
}

/* And where an export needs a umem. */
static struct mlx5dv_devx_umem *much;

EXPORT struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg_ex(struct ibv_context *context,
							struct mlx5dv_devx_umem_in *in)
{
	struct mlx5dv_devx_umem *umem;

	if (in->size >= 1 << 20)
		hold("pins");
	umem = NEXT(mlx5dv_devx_umem_reg_ex)(context, in);
	if (umem && in->size >= 1 << 20)
		much = umem;
	return umem;
}

EXPORT int mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *umem)
{
	if (umem == much)
		hold("unpins");
	return NEXT(mlx5dv_devx_umem_dereg)(umem);
}

/* "server": that of a network file system does not answer. */
EXPORT int fstat(int fd, struct stat *st)
{
	int err = NEXT(fstat)(fd, st);

	if (err == 0 && S_ISREG(st->st_mode) && st->st_size == HELD_SIZE)
		hold("server");
	return err;
}

EXPORT int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *st)
{
	int err = NEXT(statx)(dir, path, flags, mask, st);

	if (err == 0 && S_ISREG(st->stx_mode) && st->stx_size == HELD_SIZE &&
	    !(flags & AT_STATX_DONT_SYNC))
		hold("server");
	return err;
}

static int (*query_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);

static int query_port_down(struct ibv_context *context, uint8_t number, struct ibv_port_attr *attr,
			   size_t size)
{
	int err = query_port(context, number, attr, size);

	attr->state = IBV_PORT_DOWN;
	return err;
}

static struct ibv_context *spoil(struct ibv_context *context)
{
	struct verbs_context *verbs = context ? verbs_get_ctx(context) : NULL;

	if (verbs && is_spoilt("port") && verbs->query_port != query_port_down) {
		query_port = verbs->query_port;
		verbs->query_port = query_port_down;
	}
	return context;
}

/* "devx": the kernel or the firmware does not support DEVX. "port": the cable is disconnected. */
EXPORT struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
					      struct mlx5dv_context_attr *attr)
{
	if (is_spoilt("devx") && attr->flags & MLX5DV_CONTEXT_FLAGS_DEVX) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return spoil(NEXT(mlx5dv_open_device)(device, attr));
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return spoil(NEXT(ibv_open_device)(device));
}

/* "driver": the device belongs to another driver. */
EXPORT bool mlx5dv_is_supported(struct ibv_device *device)
{
	return !is_spoilt("driver") && NEXT(mlx5dv_is_supported)(device);
}

/* "hang": a command never returns. "crash": the provider crashes. */
EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	while (is_spoilt("hang"))
		pause();
	if (is_spoilt("crash"))
		raise(SIGKILL);
	return NEXT(ibv_alloc_pd)(context);
}

/* "disk": the disk of an exported file fails. "slow": it takes long. */
EXPORT int msync(void *addr, size_t len, int flags)
{
	hold("slow");
	if (is_spoilt("disk")) {
		errno = EIO;
		return -1;
	}
	return NEXT(msync)(addr, len, flags);
}
