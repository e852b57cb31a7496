/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands desc show and desc check (docs/wire-format.md, section 9). They need no device. */
#ifndef DPUMAP_HOST_DESC_H
#define DPUMAP_HOST_DESC_H

#include "host/settings/options.h"

command_fn desc_show;
command_fn desc_check;

#endif
