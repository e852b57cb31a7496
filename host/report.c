/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <doca_types.h>

#include "common/clock.h"
#include "common/size.h"
#include "report.h"

uint8_t *report_digest(struct report *report, const char *whose)
{
	unsigned int i = report->num_digests++;

	report->digests[i].whose = whose;
	return report->digests[i].sha256;
}

bool report_digests_equal(const struct report *report)
{
	for (unsigned int i = 1; i < report->num_digests; i++) {
		if (memcmp(report->digests[0].sha256, report->digests[i].sha256,
			   DPUMAP_SHA256_LEN) != 0)
			return false;
	}
	return true;
}

const char *report_permissions(uint32_t access)
{
	if (access & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
		return "read-write";
	return access & DOCA_ACCESS_FLAG_PCI_READ_ONLY ? "read-only" : "none";
}

const char *report_kind(const char *kind)
{
	if (strcmp(kind, "dm") == 0)
		return "device memory";
	return strcmp(kind, "dram") == 0 ? "DPU DRAM" : kind;
}

void report_list_line(const struct dpumap_export_info *info)
{
	char size[DPUMAP_SIZE_TEXT_MAX];

	if (!info) {
		printf("%-24s %-6s %12s  %s\n", "NAME", "KIND", "SIZE", "PERMISSIONS");
		return;
	}
	dpumap_size_format(info->size, size);
	printf("%-24s %-6s %12s  %s\n", info->name, info->kind, size,
	       report_permissions(info->access));
}

static void print_export(const struct dpumap_export_info *info)
{
	char size[DPUMAP_SIZE_TEXT_MAX];

	dpumap_size_format(info->size, size);
	printf("export       %s\n", info->name);
	printf("kind         %s (%s)\n", report_kind(info->kind), info->kind);
	printf("size         %s (%" PRIu64 " bytes)\n", size, info->size);
	printf("permissions  %s\n", report_permissions(info->access));
}

static void print_bytes(const char *what, uint64_t bytes)
{
	char size[DPUMAP_SIZE_TEXT_MAX];

	dpumap_size_format(bytes, size);
	printf("  %-11s%s (%" PRIu64 " bytes)\n", what, size, bytes);
}

void report_device(const struct remote_device *device)
{
	printf("device       %s of the DPU\n", device->name);
	if (!device->dm_total) {
		printf("device memory: none\n");
		return;
	}
	printf("device memory, as dpumapd finds it now\n");
	print_bytes("total", device->dm_total);
	print_bytes("free", device->dm_free);
	print_bytes("in a piece", device->dm_longest);
}

void report_info(const struct dpumap_export_info *info)
{
	print_export(info);
}

void report_descriptor(const struct dpumap_desc *desc, size_t len)
{
	static const char *const kinds[] = {
		[DPUMAP_DESC_KIND_PCI] = "PCI export",
		[DPUMAP_DESC_KIND_RDMA] = "RDMA export",
		[DPUMAP_DESC_KIND_UMEM] = "umem",
	};
	static const char *const sources[] = {
		[DPUMAP_DESC_SOURCE_MEMORY] = "memory",
		[DPUMAP_DESC_SOURCE_DEVICE_MEMORY] = "device memory",
		[DPUMAP_DESC_SOURCE_DMABUF] = "a dma-buf",
	};

	printf("descriptor   %zu bytes, %s of %s\n", len, kinds[desc->kind], sources[desc->source]);
	printf("  card       %016" PRIx64 ", function %u\n", desc->device_guid, desc->vhca_id);
	printf("  range      %" PRIu64 " bytes at 0x%" PRIx64 " of the exporter\n", desc->len,
	       desc->addr);
	printf("  access     0x%02x, %s\n", desc->access, report_permissions(desc->access));
	if (desc->kind == DPUMAP_DESC_KIND_PCI)
		printf("  key        present, not shown\n");
}

static const char *direction(const struct report *report)
{
	if (!report->target)
		return "host -> DPU";
	return report->source ? "host -> DPU -> host" : "DPU -> host";
}

static void print_route(const struct report *report)
{
	char window[DPUMAP_SIZE_TEXT_MAX];

	dpumap_size_format(report->window, window);
	printf("moved        %" PRIu64 " bytes %s, %" PRIu64 " window%s of %s, by %s on %s\n",
	       report->bytes, direction(report), report->windows, report->windows == 1 ? "" : "s",
	       window, report->engine == DPUMAP_DMA_ENGINE_MMO ? "MMO DMA" : "RDMA read/write",
	       report->device.name);
}

static double rate(uint64_t bytes, uint64_t ns)
{
	return ns > 0 ? (double)bytes * 1e3 / (double)ns : 0.0;
}

static void print_speed(const struct report *report)
{
	printf("time         %.3f s, %.1f MB/s (bytes moved by DMA%s over the whole time; DMA "
	       "alone "
	       "took %.3f s, %.1f MB/s)\n",
	       (double)report->total_ns / (double)DPUMAP_NSEC_PER_SEC,
	       rate(report->dma_bytes, report->total_ns),
	       report->source && report->target ? ", both ways," : "",
	       (double)report->dma_ns / (double)DPUMAP_NSEC_PER_SEC,
	       rate(report->dma_bytes, report->dma_ns));
}

void report_print(const struct report *report, const struct dpumap_export_info *info,
		  size_t desc_len)
{
	char text[DPUMAP_SHA256_TEXT_MAX];

	print_export(info);
	printf("descriptor   %zu bytes\n", desc_len);
	print_route(report);
	print_speed(report);
	for (unsigned int i = 0; i < report->num_digests; i++) {
		dpumap_sha256_format(report->digests[i].sha256, text);
		printf("sha256       %s  %s\n", text, report->digests[i].whose);
	}
	printf("result       %s\n",
	       report_digests_equal(report) ? "all digests are equal" : "THE DIGESTS DIFFER");
}
