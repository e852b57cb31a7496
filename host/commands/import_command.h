/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command import: holds an import and reports its revocation. */
#ifndef DPUMAP_HOST_IMPORT_COMMAND_H
#define DPUMAP_HOST_IMPORT_COMMAND_H

#include "host/settings/options.h"

command_fn import_command;
command_check_fn import_check;

#endif
