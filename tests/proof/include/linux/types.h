/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The types of the kernel's header that doca_types.h uses; Frama-C's C library does not have it. */
#ifndef DPUMAP_PROOF_LINUX_TYPES_H
#define DPUMAP_PROOF_LINUX_TYPES_H

#include <stdint.h>

typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;

#endif
