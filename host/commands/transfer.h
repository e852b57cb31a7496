/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands that copy: read, write, cp, fill and dump. */
#ifndef DPUMAP_HOST_TRANSFER_H
#define DPUMAP_HOST_TRANSFER_H

#include "host/settings/options.h"

command_fn transfer_read;
command_fn transfer_write;
command_fn transfer_cp;
command_fn transfer_fill;
command_fn transfer_dump;

command_check_fn transfer_check_read;
command_check_fn transfer_check_cp;
command_check_fn transfer_check_fill;

#endif
