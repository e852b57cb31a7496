/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of libdpumap-channel for libdpumap-fleet of the same release and for dpumap; the public ones are in
 * dpumap/channel.h.
 */
#ifndef DPUMAP_CHANNEL_CHANNEL_H
#define DPUMAP_CHANNEL_CHANNEL_H

#include <stdbool.h>

#include <doca_compat.h>

#include "local/error.h"

struct dpumap_channel;

/* Does the channel authenticate with a pre-shared key? That does not prove a name. */
DOCA_STABLE bool dpumap_private_channel_has_psk(const struct dpumap_channel *channel);
/* The last error, as dpumap_channel_get_error(). */
const struct dpumap_error *dpumap_channel_fault(const struct dpumap_channel *channel);

#endif
