/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dpumap_dm(3): a map over a part of device memory.
 * Build: cc dm.c $(pkg-config --cflags --libs dpumap)
 */
#include <stdio.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/dm.h>

static doca_error_t map_memory(struct doca_dev *dev, struct dpumap_dm *dm, struct doca_mmap **mmap)
{
	doca_error_t result = doca_mmap_create(mmap);

	DOCA_ERROR_PROPAGATE(result, dpumap_mmap_set_dm_memrange(*mmap, dm, 64, 128));
	DOCA_ERROR_PROPAGATE(
		result, doca_mmap_set_permissions(*mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE |
								 DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(*mmap, dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(*mmap));
	return result;
}

static doca_error_t use(struct doca_dev *dev, struct dpumap_dm *dm)
{
	struct doca_mmap *mmap = NULL;
	const void *desc;
	char text[16] = "";
	size_t len;
	doca_error_t result = map_memory(dev, dm, &mmap);

	DOCA_ERROR_PROPAGATE(result, dpumap_dm_write(dm, 64, "hello, card 123", 16));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_export_pci(mmap, dev, &desc, &len));
	DOCA_ERROR_PROPAGATE(result, dpumap_dm_read(dm, 64, text, 16));
	if (result == DOCA_SUCCESS)
		printf("%s; the descriptor has %zu bytes\n", text, len);
	if (result == DOCA_SUCCESS && dpumap_dm_free(dm) != DOCA_ERROR_IN_USE)
		result = DOCA_ERROR_UNEXPECTED; /* a started map uses it */
	if (mmap)
		DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(mmap));
	return result;
}

int main(void)
{
	uint64_t longest, total;
	struct doca_devinfo **list;
	struct doca_dev *dev;
	struct dpumap_dm *dm;
	doca_error_t result;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS || !n)
		return 77; /* no device */
	result = doca_dev_open(list[0], &dev);
	doca_devinfo_destroy_list(list);
	if (result != DOCA_SUCCESS)
		return 1;
	result = dpumap_dm_query_free(dev, &longest, &total);
	if (result == DOCA_SUCCESS)
		printf("%llu bytes are free, %llu in one piece\n", (unsigned long long)total,
		       (unsigned long long)longest);
	DOCA_ERROR_PROPAGATE(result, dpumap_dm_alloc(dev, 4096, 12, &dm));
	if (result == DOCA_SUCCESS) {
		result = use(dev, dm);
		DOCA_ERROR_PROPAGATE(result, dpumap_dm_free(dm));
	}
	doca_dev_close(dev);
	if (result != DOCA_SUCCESS)
		fprintf(stderr, "%s\n", doca_error_get_descr(result));
	return result != DOCA_SUCCESS;
}
