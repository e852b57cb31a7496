/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Access keys that users set for exports. */
#ifndef DPUMAP_CORE_MMAP_TOKEN_H
#define DPUMAP_CORE_MMAP_TOKEN_H

#include "core/mmap/mmap.h"

/* Wipe and free the user's access key for exports by this device. */
void dpumap_mmap_drop_token(struct mmap_slot *slot);

#endif
