/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files into, out of, and through an export. */
#ifndef DPUMAP_HOST_TRANSFER_H
#define DPUMAP_HOST_TRANSFER_H

#include "options.h"

command_fn transfer_put;
command_fn transfer_get;
command_fn transfer_cp;

#endif
