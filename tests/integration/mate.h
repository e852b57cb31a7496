/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Another process of this program that is told what to do with a device and a umem: on the same
 * function with this process's device context, or with one of its own on any function.
 */
#ifndef DPUMAP_TESTS_MATE_H
#define DPUMAP_TESTS_MATE_H

#include "side.h"

#define MATE_LEN 65536u /* of what a mate registers */

struct mate {
	pid_t pid;
	int socket;
};

/* True in a process that mate_start() started: then mate_serve() gives its exit status. */
bool mate_is_one(void);
int mate_serve(void);

/* On the function of that side; it has no device yet. */
bool mate_start(struct mate *mate, const char *side);
/* The same with the libraries of that directory before all others. */
bool mate_start_with(struct mate *mate, const char *side, const char *libraries);
/* True if it gave everything back. */
bool mate_finish(struct mate *mate);
bool mate_kill(struct mate *mate);

/* DOCA_ERROR_CONNECTION_RESET when the mate is gone. */
doca_error_t mate_open(struct mate *mate);
doca_error_t mate_adopt(struct mate *mate, const struct doca_dev *dev);
/* Its device's context, the other way round. */
doca_error_t mate_lend(struct mate *mate, struct doca_dev **dev);

/* MATE_LEN bytes of its own memory, of those contents. */
doca_error_t mate_register(struct mate *mate, uint32_t access, uint32_t seed);
doca_error_t mate_export(struct mate *mate, struct side_desc *desc);
doca_error_t mate_import(struct mate *mate, const struct side_desc *desc);
doca_error_t mate_unimport(struct mate *mate);
doca_error_t mate_deregister(struct mate *mate);

/* Its one map over the umem. The descriptor is for PCI. */
doca_error_t mate_map(struct mate *mate, size_t offset, size_t len, uint32_t access);
doca_error_t mate_export_map(struct mate *mate, struct side_desc *desc);
doca_error_t mate_unmap(struct mate *mate);
/* Through the device: is the map full of rig_fill(seed), or make it so. */
doca_error_t mate_check(struct mate *mate, uint32_t seed);
doca_error_t mate_fill(struct mate *mate, uint32_t seed);

#endif
