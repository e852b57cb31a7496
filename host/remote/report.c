/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/remote/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <doca_types.h>

#include "base/clock.h"
#include "common/export_text.h"
#include "common/size.h"

struct dpumap_digest *report_digest(struct report *report, const char *whose)
{
	unsigned int i = report->num_digests++;

	report->digests[i].whose = whose;
	return &report->digests[i].digest;
}

bool report_is_intact(const struct report *report)
{
	if (report->differs)
		return false;
	for (unsigned int i = 1; i < report->num_digests; i++) {
		if (!dpumap_digest_is_equal(&report->digests[0].digest, &report->digests[i].digest))
			return false;
	}
	return true;
}

#define MAY_WRITE (DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE)
#define MAY_READ  (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_RDMA_READ)

const char *report_perm(uint32_t access)
{
	if (access & MAY_WRITE)
		return "rw";
	return access & MAY_READ ? "ro" : "none";
}

static const char *via(const struct dpumap_export_info *info)
{
	return remote_is_rdma(info) ? "rdma" : "pci";
}

static const char *kind_text(const char *kind)
{
	if (strcmp(kind, "dm") == 0)
		return "device memory";
	return strcmp(kind, "dram") == 0 ? "DPU DRAM" : kind;
}

static void print_export(const struct dpumap_export_info *info)
{
	char size[DPUMAP_SIZE_TEXT_MAX];

	dpumap_size_format(info->size, size);
	printf("export       %s\n", info->name);
	printf("kind         %s (%s)\n", kind_text(info->kind), info->kind);
	printf("size         %s (%" PRIu64 " bytes)\n", size, info->size);
	printf("permissions  %s\n", dpumap_export_permissions(report_perm(info->access)));
	printf("via          %s\n", dpumap_export_via(via(info)));
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
	printf("device memory\n");
	print_bytes("total", device->dm_total);
	print_bytes("exported", device->dm_exported);
}

void report_info(const struct dpumap_export_info *info)
{
	print_export(info);
}

static const char *desc_kind(const struct dpumap_desc *desc)
{
	static const char *const kinds[] = {
		[DPUMAP_DESC_KIND_PCI] = "PCI export",
		[DPUMAP_DESC_KIND_RDMA] = "RDMA export",
		[DPUMAP_DESC_KIND_UMEM] = "umem",
	};

	return kinds[desc->kind];
}

static const char *desc_source(const struct dpumap_desc *desc)
{
	static const char *const sources[] = {
		[DPUMAP_DESC_SOURCE_MEMORY] = "memory",
		[DPUMAP_DESC_SOURCE_DEVICE_MEMORY] = "device memory",
		[DPUMAP_DESC_SOURCE_DMABUF] = "a dma-buf",
	};

	return sources[desc->source];
}

void report_descriptor(const struct dpumap_desc *desc, size_t len)
{
	printf("descriptor   %zu bytes, %s of %s\n", len, desc_kind(desc), desc_source(desc));
	printf("  card       %016" PRIx64 ", function %u\n", desc->device_guid, desc->vhca_id);
	printf("  range      %" PRIu64 " bytes at 0x%" PRIx64 " of the exporter\n", desc->len,
	       desc->addr);
	printf("  access     0x%02x, %s\n", desc->access,
	       dpumap_export_permissions(report_perm(desc->access)));
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
	       window, report->engine, report->device.name);
}

double report_rate(uint64_t bytes, uint64_t ns)
{
	return ns > 0 ? (double)bytes * 1e3 / (double)ns : 0.0;
}

static void print_speed(const struct report *report)
{
	printf("time         %.3f s, %.1f MB/s (bytes copied by DMA%s; DMA alone: %.3f s, %.1f "
	       "MB/s)\n",
	       (double)report->total_ns / (double)NSEC_PER_SEC,
	       report_rate(report->dma_bytes, report->total_ns),
	       report->source && report->target ? ", in both directions" : "",
	       (double)report->dma_ns / (double)NSEC_PER_SEC,
	       report_rate(report->dma_bytes, report->dma_ns));
}

static const char *outcome(const struct report *report)
{
	if (report->num_digests == 0)
		return "NOT VERIFIED (--no-verify)";
	if (report->differs)
		return "THE COPY DIFFERS FROM ITS SOURCE";
	return report_is_intact(report) ? "all digests are equal" : "THE DIGESTS DIFFER";
}

void report_print(const struct report *report, const struct dpumap_export_info *info,
		  size_t desc_len)
{
	char text[DPUMAP_DIGEST_TEXT_MAX];

	print_export(info);
	printf("descriptor   %zu bytes\n", desc_len);
	print_route(report);
	print_speed(report);
	for (unsigned int i = 0; i < report->num_digests; i++) {
		const struct dpumap_digest *digest = &report->digests[i].digest;

		dpumap_digest_format(digest, text);
		printf("%-12s %s  %s\n", dpumap_hash_name(digest->hash), text,
		       report->digests[i].whose);
	}
	printf("result       %s\n", outcome(report));
}

/* --- JSON output ------------------------------------------------------------------------------ */

static void add_hex(struct json_object *object, const char *key, int digits, uint64_t number)
{
	char text[2 + 16 + 1];

	snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, number);
	json_add_text(object, key, text);
}

struct json_object *report_json_export(const struct dpumap_export_info *info)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "name", info->name);
	dpumap_export_describe(object, info->kind, info->size, report_perm(info->access),
			       via(info));
	return object;
}

struct json_object *report_json_device(const struct remote_device *device)
{
	struct json_object *object = json_object_new_object();
	struct json_object *memory = json_object_new_object();

	json_add_number(memory, "total", device->dm_total);
	json_add_number(memory, "exported", device->dm_exported);
	json_add_text(object, "device", device->name);
	json_object_object_add(object, "device_memory", memory);
	return object;
}

struct json_object *report_json_descriptor(const struct dpumap_desc *desc, size_t len)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "bytes", len);
	json_add_text(object, "kind", desc_kind(desc));
	json_add_text(object, "source", desc_source(desc));
	add_hex(object, "card", 16, desc->device_guid);
	json_add_number(object, "function", desc->vhca_id);
	add_hex(object, "address", 16, desc->addr);
	json_add_number(object, "length", desc->len);
	add_hex(object, "access", 4, desc->access);
	return object;
}

static struct json_object *json_digests(const struct report *report)
{
	struct json_object *list = json_object_new_array();
	char text[DPUMAP_DIGEST_TEXT_MAX];

	for (unsigned int i = 0; i < report->num_digests; i++) {
		const struct dpumap_digest *digest = &report->digests[i].digest;
		struct json_object *object = json_object_new_object();

		dpumap_digest_format(digest, text);
		json_add_text(object, "of", report->digests[i].whose);
		json_add_text(object, "hash", dpumap_hash_name(digest->hash));
		json_add_text(object, "digest", text);
		json_object_array_add(list, object);
	}
	return list;
}

void report_print_json(const struct report *report, const struct dpumap_export_info *info)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "export", report_json_export(info));
	if (report->source)
		json_add_text(object, "source", report->source);
	if (report->target)
		json_add_text(object, "target", report->target);
	json_add_number(object, "offset", report->offset);
	json_add_number(object, "bytes", report->bytes);
	json_add_number(object, "dma_bytes", report->dma_bytes);
	json_add_number(object, "windows", report->windows);
	json_add_text(object, "device", report->device.name);
	json_add_text(object, "engine", report->engine);
	json_add_real(object, "seconds", (double)report->total_ns / (double)NSEC_PER_SEC);
	json_add_real(object, "dma_seconds", (double)report->dma_ns / (double)NSEC_PER_SEC);
	json_object_object_add(object, "digests", json_digests(report));
	json_object_object_add(
		object, "verified",
		json_object_new_boolean(report->num_digests > 0 && report_is_intact(report)));
	json_print(object);
}
