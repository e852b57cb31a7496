/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_HOST_COMMANDS_COMMANDS_H
#define DPUMAP_HOST_COMMANDS_COMMANDS_H

#include "host/settings/options.h"

/* Latency and bandwidth of copies between this host and an export. */
command_fn bench_export;
command_check_fn bench_check;

/* The commands desc show and desc check (docs/wire-format.md, section 9). They need no device. */
command_fn desc_show;
command_fn desc_check;

/* The command doca-pkgconfig-dir. */
doca_error_t doca_pkgconfig_dir_print(const struct options *options, struct dpumap_error *error);

/* The command doctor. Loads the configuration itself. */
command_fn doctor_command;

/* The command list in a fleet: exports as the registry knows them. */
command_fn fleet_list;

/* Prints DPUs, their leases and the members of etcd. NOT_CONNECTED after that if etcd is away. */
command_fn fleet_status;

/* Prints events of DPUs and exports until it is killed. */
command_fn fleet_watch;

/* The command import: holds an import and reports its revocation. */
command_fn import_command;
command_check_fn import_check;

/* The commands list, info and get. */
command_fn inspect_list;
command_fn inspect_info;
command_fn inspect_get;

/* The commands that copy: read, write, cp, fill and dump. */
command_fn transfer_read;
command_fn transfer_write;
command_fn transfer_cp;
command_fn transfer_fill;
command_fn transfer_dump;

command_check_fn transfer_check_read;
command_check_fn transfer_check_cp;
command_check_fn transfer_check_fill;

/* The command watch: prints events of exports until it is killed, and reconnects when necessary. */
command_fn watch_exports;

#endif
