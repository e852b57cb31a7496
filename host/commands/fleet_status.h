/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command fleet status. */
#ifndef DPUMAP_HOST_FLEET_STATUS_H
#define DPUMAP_HOST_FLEET_STATUS_H

#include "host/settings/options.h"

/* Prints DPUs, their leases and the members of etcd. NOT_CONNECTED after that if etcd is away. */
command_fn fleet_status;

#endif
