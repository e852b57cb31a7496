/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Get, release and use export descriptors, also of exports that another client has imported.
 *
 *   probe get ADDRESS CERT CA NAME FILE      save the descriptor, and exit
 *   probe release ADDRESS CERT CA NAME FILE  save the descriptor, release the export, and exit
 *   probe hold ADDRESS CERT CA NAME FILE     save the descriptor, and exit when standard input ends
 *   probe use FILE NTH                       import the descriptor on the nth device and read
 *
 * CERT is the path of a certificate without .crt; `use` prints the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "importer.h"

static void save(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
		importer_must(DOCA_ERROR_IO_FAILED, path);
}

static size_t load(const char *path, void *bytes, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t len;

	importer_must(file ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, path);
	len = fread(bytes, 1, size, file);
	fclose(file);
	return len;
}

static void get(char **argv)
{
	struct dpumap_channel *channel = importer_create_channel(argv[2], argv[3], argv[4]);
	uint8_t descriptor[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);

	importer_must(dpumap_channel_connect(channel), "connect");
	importer_must(dpumap_channel_get(channel, argv[5], descriptor, &len), "get");
	save(argv[6], descriptor, len);
	if (strcmp(argv[1], "release") == 0)
		importer_must(dpumap_channel_release(channel, argv[5]), "release");
	puts("got");
	fflush(stdout);
	if (strcmp(argv[1], "hold") == 0)
		while (getchar() != EOF)
			;
	dpumap_channel_destroy(channel);
}

static void use(char **argv)
{
	struct doca_dev *dev = importer_open_device((uint32_t)strtoul(argv[3], NULL, 10));
	uint8_t descriptor[1024];
	size_t len = load(argv[2], descriptor, sizeof(descriptor));
	struct importer importer;
	struct doca_mmap *remote;
	doca_error_t result;

	result = doca_mmap_create_from_export(NULL, descriptor, len, dev, &remote);
	if (result != DOCA_SUCCESS) {
		printf("import: %s\n", doca_error_get_name(result));
		doca_dev_close(dev);
		return;
	}
	importer_open(&importer, dev, 64);
	printf("read: %s\n", doca_error_get_name(importer_read(&importer, remote)));
	importer_close(&importer);
	doca_mmap_destroy(remote);
	doca_dev_close(dev);
}

int main(int argc, char **argv)
{
	if (argc == 7)
		get(argv);
	else if (argc == 4 && strcmp(argv[1], "use") == 0)
		use(argv);
	else
		return 2;
	return 0;
}
