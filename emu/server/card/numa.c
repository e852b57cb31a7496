/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Linux, Documentation/ABI/stable/sysfs-devices-node. The processors and the memory are those of the machine below,
 * divided among the nodes.
 */
#include "emu/server/card/numa.h"

#include <stdio.h>
#include <unistd.h>

#include "base/array.h"

#define NEAR 10 /* ACPI's distances */
#define FAR  21

struct range {
	long first, end, all;
};

static struct range processors_of(const struct emu_place *at)
{
	const long configured = sysconf(_SC_NPROCESSORS_CONF),
		   all = configured < 1 ? 1 : configured;
	const long nodes = at->numa_nodes;

	if (!nodes)
		return (struct range){0, all, all};
	return (struct range){all * at->numa_node / nodes, all * (at->numa_node + 1) / nodes, all};
}

/* Words of 32 processors, the highest first. */
static void put_mask(struct emu_sysfs_dir *d, const char *name, const struct range *r)
{
	char text[512];
	size_t len = 0;

	for (long word = (r->all - 1) / 32; word >= 0 && len < sizeof(text) - 16; word--) {
		unsigned int bits = 0;

		for (long cpu = 32 * word; cpu < 32 * (word + 1); cpu++)
			if (cpu >= r->first && cpu < r->end)
				bits |= 1u << cpu % 32;
		len += (size_t)snprintf(text + len, sizeof(text) - len, len ? ",%08x" : "%x", bits);
	}
	emu_sysfs_line(d, name, "%s", text);
}

static void put_list(struct emu_sysfs_dir *d, const char *name, const struct range *r)
{
	char text[48] = "";

	if (r->end - r->first > 1)
		snprintf(text, sizeof(text), "%ld-%ld", r->first, r->end - 1);
	else if (r->end > r->first)
		snprintf(text, sizeof(text), "%ld", r->first);
	emu_sysfs_line(d, name, "%s", text);
}

void emu_numa_cpus(struct emu_sysfs_dir *d, const char *mask, const char *list,
		   const struct emu_place *at)
{
	const struct range r = processors_of(at);

	put_mask(d, mask, &r);
	put_list(d, list, &r);
}

static int put_node(const struct emu_func *f, unsigned int number)
{
	const struct emu_place at = {.numa_nodes = f->place.numa_nodes, .numa_node = number};
	const unsigned long long kib = (unsigned long long)sysconf(_SC_PHYS_PAGES) *
				       (unsigned long long)sysconf(_SC_PAGESIZE) / 1024 /
				       at.numa_nodes;
	struct emu_sysfs_dir d = {.f = f};
	char distances[64];
	int len = 0;

	for (unsigned int i = 0; i < at.numa_nodes; i++)
		len += snprintf(distances + len, sizeof(distances) - (size_t)len, "%s%d",
				i ? " " : "", i == number ? NEAR : FAR);
	snprintf(d.path, sizeof(d.path), "devices/system/node/node%u", number);
	emu_numa_cpus(&d, "cpumap", "cpulist", &at);
	emu_sysfs_line(&d, "distance", "%s", distances);
	emu_sysfs_line(&d, "meminfo", "Node %u MemTotal: %llu kB\nNode %u MemFree: %llu kB", number,
		       kib, number, kib);
	return d.err;
}

int emu_numa_create(const struct emu_func *f)
{
	static const char *const files[] = {"online", "possible", "has_memory",
					    "has_normal_memory"};
	const struct range nodes = {0, f->place.numa_nodes, f->place.numa_nodes};
	struct emu_sysfs_dir d = {.f = f, .path = "devices/system/node"};

	if (!f->place.numa_nodes)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put_list(&d, files[i], &nodes);
	for (unsigned int i = 0; i < f->place.numa_nodes && !d.err; i++)
		d.err = put_node(f, i);
	return d.err;
}
