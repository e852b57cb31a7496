/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dpumap_umem(3): one process registers memory, and another process copies it without registering
 * it. The second process runs this program again, with a socket to the first process.
 * Build: cc umem.c $(pkg-config --cflags --libs dpumap)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/dev.h>
#include <dpumap/dma.h>
#include <dpumap/umem.h>

#define LEN 4096

static const char text[] = "registered once";

static void check(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(1);
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t n;

	check(doca_devinfo_create_list(&list, &n), "list of devices");
	check(n ? doca_dev_open(list[0], &dev) : DOCA_ERROR_NOT_FOUND, "open");
	check(doca_devinfo_destroy_list(list), "list of devices");
	return dev;
}

static struct doca_mmap *start(struct doca_dev *dev, struct doca_mmap *map)
{
	check(doca_mmap_add_dev(map, dev), "add device");
	check(doca_mmap_start(map), "start");
	return map;
}

static void copy(struct doca_dev *dev, struct doca_mmap *to, void *dst, struct doca_mmap *from)
{
	struct dpumap_dma_completion done;
	struct dpumap_dma *dma;
	uint32_t n = 0;
	size_t len;
	void *src;

	check(doca_mmap_get_memrange(from, &src, &len), "range");
	check(dpumap_dma_create(dev, 1, &dma), "queue");
	check(dpumap_dma_memcpy(dma, to, dst, from, src, len, (union doca_data){0}), "copy");
	while (!n)
		check(dpumap_dma_poll(dma, &done, 1, &n), "poll");
	check(done.status, "copy");
	check(dpumap_dma_destroy(dma), "queue");
}

/* The second process. */
static int import(int socket)
{
	static char mine[LEN];
	struct doca_mmap *here, *there;
	struct dpumap_umem *umem;
	struct doca_dev *dev;
	char bytes[512];
	ssize_t len;

	check(dpumap_dev_receive(socket, &dev), "receive");
	len = recv(socket, bytes, sizeof(bytes), 0);
	check(len > 0 ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET, "receive");
	check(dpumap_umem_import(dev, bytes, (size_t)len, &umem), "import");

	check(doca_mmap_create(&there), "map");
	check(dpumap_mmap_set_umem_memrange(there, umem, 0, LEN), "range");
	check(doca_mmap_create(&here), "map");
	check(doca_mmap_set_memrange(here, mine, LEN), "range");
	copy(dev, start(dev, here), mine, start(dev, there));
	printf("%s\n", mine);

	check(doca_mmap_destroy(there), "map");
	check(doca_mmap_destroy(here), "map");
	check(dpumap_umem_unimport(umem), "unimport");
	check(doca_dev_close(dev), "close");
	return strcmp(mine, text) != 0;
}

static pid_t run_second(const char *program, const int pair[2])
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%d", pair[1]);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		execlp(program, program, number, (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	return pid;
}

/* The first process. */
static int export(const char *program)
{
	char *memory = calloc(1, LEN);
	struct dpumap_umem *umem;
	struct doca_dev *dev;
	char bytes[512];
	int status = 1;
	int pair[2];
	size_t len;
	pid_t pid;

	if (!memory || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return 1;
	pid = run_second(program, pair);
	memcpy(memory, text, sizeof(text));
	dev = open_first();
	check(dpumap_umem_register(dev, memory, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &umem),
	      "register");
	check(dpumap_umem_export(umem, bytes, sizeof(bytes), &len), "export");
	check(dpumap_dev_send(dev, pair[0]), "send");
	if (send(pair[0], bytes, len, 0) != (ssize_t)len)
		return 1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 1;
	check(dpumap_umem_deregister(umem), "deregister");
	check(doca_dev_close(dev), "close");
	free(memory);
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 ? import((int)strtol(argv[1], NULL, 10)) : export(argv[0]);
}
