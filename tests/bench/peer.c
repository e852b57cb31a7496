/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dpumap/dm.h>

#include "peer.h"

void bench_fill(uint8_t *memory, size_t len)
{
	for (size_t i = 0; i < len; i++)
		memory[i] = (uint8_t)(i * 7 + i / 4096);
}

static int announce(const void *addr, size_t len, const uint8_t *desc, size_t desc_len)
{
	printf("%d %" PRIuPTR " %zu ", (int)getpid(), (uintptr_t)addr, len);
	for (size_t i = 0; i < desc_len; i++)
		printf("%02x", desc[i]);
	printf("\n");
	return fflush(stdout);
}

static int export_until_input_ends(struct doca_dev *dev, struct doca_mmap *map, void *addr,
				   size_t len)
{
	const void *desc;
	size_t desc_len;
	doca_error_t error;
	char byte;
	int status = 1;

	error = doca_mmap_export_pci(map, dev, &desc, &desc_len);
	if (error != DOCA_SUCCESS)
		bench_fail("the map cannot be exported", error);
	else if (announce(addr, len, desc, desc_len) == 0)
		status = read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
	return status;
}

/* A memfd is the memory that other processes can map; they find it by its descriptor. */
static uint8_t *allocate(size_t len, bool shareable)
{
	int fd = shareable ? memfd_create("bench", MFD_CLOEXEC) : -1;
	void *memory = MAP_FAILED;

	if (!shareable)
		memory =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (fd >= 0 && ftruncate(fd, (off_t)len) == 0)
		memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED && fd >= 0)
		close(fd);
	return memory;
}

int bench_export_memory(size_t len, bool shareable)
{
	struct doca_dev *dev = bench_open_device(doca_mmap_cap_is_export_pci_supported);
	struct doca_mmap *map;
	uint8_t *memory;
	int status = 1;

	if (!dev)
		return 1;
	memory = allocate(len, shareable);
	if (memory == MAP_FAILED) {
		bench_fail("memory to export cannot be allocated", DOCA_ERROR_NO_MEMORY);
		doca_dev_close(dev);
		return 1;
	}
	bench_fill(memory, len);
	map = bench_map(dev, memory, len, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	if (map) {
		status = export_until_input_ends(dev, map, memory, len);
		doca_mmap_destroy(map);
	}
	munmap(memory, len);
	doca_dev_close(dev);
	return status;
}

static struct doca_mmap *map_dm(struct doca_dev *dev, struct dpumap_dm *dm, size_t len)
{
	struct doca_mmap *map = NULL;
	doca_error_t error = doca_mmap_create(&map);

	DOCA_ERROR_PROPAGATE(error,
			     doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	DOCA_ERROR_PROPAGATE(error, dpumap_mmap_set_dm_memrange(map, dm, 0, len));
	DOCA_ERROR_PROPAGATE(error, doca_mmap_add_dev(map, dev));
	DOCA_ERROR_PROPAGATE(error, doca_mmap_start(map));
	if (error == DOCA_SUCCESS)
		return map;
	bench_fail("a map of device memory cannot be created", error);
	if (map)
		doca_mmap_destroy(map);
	return NULL;
}

int bench_export_device_memory(size_t len)
{
	struct doca_dev *dev = bench_open_device(doca_mmap_cap_is_export_pci_supported);
	struct dpumap_dm *dm = NULL;
	struct doca_mmap *map;
	void *addr = NULL;
	size_t got;
	int status = 1;

	if (!dev)
		return 1;
	if (dpumap_dm_alloc(dev, len, 6, &dm) != DOCA_SUCCESS) {
		bench_fail("device memory to export cannot be allocated", DOCA_ERROR_NO_MEMORY);
		doca_dev_close(dev);
		return 1;
	}
	map = map_dm(dev, dm, len);
	if (map && doca_mmap_get_memrange(map, &addr, &got) == DOCA_SUCCESS)
		status = export_until_input_ends(dev, map, addr, len);
	if (map)
		doca_mmap_destroy(map);
	dpumap_dm_free(dm);
	doca_dev_close(dev);
	return status;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_hex(const char *hex, struct bench_export *exported)
{
	size_t n = 0;

	for (; hex_digit(hex[0]) >= 0 && hex_digit(hex[1]) >= 0; hex += 2) {
		if (n == sizeof(exported->desc))
			return -1;
		exported->desc[n++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
	}
	exported->desc_len = n;
	return n > 0 && *hex == '\n' ? 0 : -1;
}

/* Read a line "PID ADDRESS LENGTH DESCRIPTOR\n", with DESCRIPTOR in hexadecimal. */
static int parse_export(const char *line, struct bench_export *exported)
{
	char *end;

	exported->pid = (pid_t)strtol(line, &end, 10);
	exported->addr = strtoull(end, &end, 10);
	exported->len = strtoull(end, &end, 10);
	if (exported->pid <= 0 || exported->addr == 0 || *end != ' ')
		return -1;
	return parse_hex(end + 1, exported);
}

static int read_export(int fd, struct bench_export *exported)
{
	char line[2 * BENCH_DESC_MAX + 128];
	FILE *output = fdopen(fd, "r");
	int status = -1;

	if (!output) {
		close(fd);
		return -1;
	}
	if (fgets(line, sizeof(line), output))
		status = parse_export(line, exported);
	(void)fclose(output);
	return status;
}

static void run_command(int input, int output, char *const command[])
{
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0) {
		execvp(command[0], command);
		perror(command[0]);
	}
	_exit(127);
}

int bench_peer_start(struct bench_peer *peer, char *const command[])
{
	int input[2];
	int output[2];

	if (pipe2(input, O_CLOEXEC) != 0)
		goto failed;
	if (pipe2(output, O_CLOEXEC) != 0)
		goto close_input;
	peer->pid = fork();
	if (peer->pid == 0)
		run_command(input[0], output[1], command);
	close(input[0]);
	close(output[1]);
	peer->input = input[1];
	if (peer->pid < 0) {
		close(output[0]);
		close(peer->input);
		goto failed;
	}
	if (read_export(output[0], &peer->exported) == 0)
		return 0;
	bench_peer_stop(peer);
	fprintf(stderr, "bench: the peer did not print its export\n");
	return -1;

close_input:
	close(input[0]);
	close(input[1]);
failed:
	perror("bench: cannot start the peer");
	return -1;
}

void bench_peer_stop(struct bench_peer *peer)
{
	close(peer->input);
	waitpid(peer->pid, NULL, 0);
}
