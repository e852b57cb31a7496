/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAPD_OPTIONS_H
#define DPUMAPD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "channel/channel.h"

enum export_kind {
	EXPORT_DEVICE_MEMORY,
	EXPORT_DRAM,
	EXPORT_KINDS,
};

struct export_spec {
	char name[DPUMAP_EXPORT_NAME_MAX];
	enum export_kind kind;
	uint64_t size; /* EXPORT_SIZE_MAX: what the device has */
	bool writable;
	uint32_t log_align; /* of device memory; 0: as the device likes */
	bool huge_pages;    /* of main memory */
	bool on_node;	    /* main memory of this NUMA node */
	unsigned int node;
};

#define EXPORT_SIZE_MAX UINT64_MAX

struct options {
	char listen[128];
	const char *device; /* NULL: the first that can export */
	struct export_spec *exports;
	size_t num_exports;
	uid_t *uids; /* allowed besides our own and root */
	size_t num_uids;
	unsigned int max_clients;
	int ready_fd; /* -1: say it on stdout */
};

/* What a kind is called in options, replies and logs. */
const char *options_kind_name(enum export_kind kind);

/* Ends the process with the code for wrong usage if the arguments are wrong. */
void options_parse(int argc, char **argv, struct options *options);
void options_free(struct options *options);

#endif
