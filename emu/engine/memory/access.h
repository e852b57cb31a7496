/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes of packets, to and from the memory that keys name. False: a key does not allow it, or a fault. */
#ifndef EMU_ENGINE_MEMORY_ACCESS_H
#define EMU_ENGINE_MEMORY_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/mkey.h"

/* Bytes [off, off + len) of a scatter/gather list, all entries of which must be allowed. */
bool emu_sge_read(struct emu_memory *mem, const struct emu_domain *dom, const struct emu_sge *sge,
		  uint32_t nsge, uint64_t off, uint8_t *out, uint32_t len);
bool emu_sge_write(struct emu_memory *mem, const struct emu_domain *dom, const struct emu_sge *sge,
		   uint32_t nsge, uint64_t off, const uint8_t *in, uint32_t len);
bool emu_key_read(struct emu_memory *mem, const struct emu_domain *dom, uint32_t key, uint64_t addr,
		  uint8_t *out, uint32_t len);
bool emu_key_write(struct emu_memory *mem, const struct emu_domain *dom, uint32_t key,
		   uint64_t addr, const uint8_t *in, uint32_t len);

#endif
