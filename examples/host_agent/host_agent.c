/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A host agent: connect to the DPU over TLS, import an export, and copy from it.
 *
 * Build: cc -o host_agent host_agent.c $(pkg-config --cflags --libs dpumap-channel)
 * Run: ./host_agent tls:192.168.100.2:7470 bulk host.crt host.key ca.crt
 */
#include <stdio.h>
#include <stdlib.h>

#include <dpumap/channel.h>
#include <dpumap/dma.h>

static void must(doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		exit(fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result)));
}

int main(int argc, char **argv)
{
	struct dpumap_dma_completion done = {0};
	struct doca_mmap *remote, *local;
	struct dpumap_channel *channel;
	struct doca_devinfo **devices;
	struct dpumap_dma *dma;
	struct doca_dev *dev;
	uint32_t n = 0;
	char text[64];
	void *addr;
	size_t len;

	if (argc != 6 || doca_devinfo_create_list(&devices, &n) != DOCA_SUCCESS || !n)
		return 2;
	must(doca_dev_open(devices[0], &dev), "device");
	must(dpumap_channel_create(&channel), "channel");
	must(dpumap_channel_set_address(channel, argv[1]), "address");
	must(dpumap_channel_set_certificate(channel, argv[3], argv[4], argv[5], NULL), "files");
	must(dpumap_channel_connect(channel), "connect");
	must(dpumap_channel_import(channel, argv[2], dev, &remote), "import");
	must(doca_mmap_get_memrange(remote, &addr, &len), "range");

	must(doca_mmap_create(&local), "map");
	must(doca_mmap_add_dev(local, dev), "map");
	must(doca_mmap_set_memrange(local, text, sizeof(text)), "map");
	must(doca_mmap_start(local), "map");
	must(dpumap_dma_create(dev, 1, &dma), "queue");
	must(dpumap_dma_memcpy(dma, local, text, remote, addr, sizeof(text), (union doca_data){0}),
	     "copy");
	for (n = 0; !n;)
		must(dpumap_dma_poll(dma, &done, 1, &n), "copy");
	must(done.status, "copy");
	printf("%.*s\n", (int)sizeof(text), text);

	dpumap_dma_destroy(dma);
	doca_mmap_destroy(local);
	doca_mmap_destroy(remote);
	dpumap_channel_release(channel, argv[2]);
	dpumap_channel_destroy(channel);
	doca_dev_close(dev);
	return (int)doca_devinfo_destroy_list(devices);
}
