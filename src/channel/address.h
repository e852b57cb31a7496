/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_CHANNEL_ADDRESS_H
#define DPUMAP_CHANNEL_ADDRESS_H

#include <sys/un.h>

#include "common/fault.h"

/* INVALID_VALUE when the path is empty or too long for a socket. */
doca_error_t dpumap_address_set(const char *path, struct sockaddr_un *address,
				struct dpumap_fault *fault);

#endif
