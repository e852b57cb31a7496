/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands that move no data. */
#ifndef DPUMAP_HOST_LOOK_H
#define DPUMAP_HOST_LOOK_H

#include "options.h"
#include "remote.h"

command_fn look_list;
command_fn look_info;
command_fn look_get;

/* Reads a saved descriptor, of whatever is in the file. The caller wipes *export. */
doca_error_t look_load(const char *path, struct remote_export *export, struct dpumap_fault *fault);

#endif
