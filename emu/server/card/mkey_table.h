/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of mkeys and the KLM entries that indirect mkeys point to. */
#ifndef EMU_MKEY_TABLE_H
#define EMU_MKEY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"

/*
 * Publish a filled entry under a free index. Returns the key, or 0 if the table is full. With
 * `new_tag` the key's low byte changes with each use of the index, as in the kernel driver; else it
 * is `m->tag`.
 */
uint32_t emu_mkey_create(struct emu_mkey *m, bool new_tag);
/* Change the meaning of an existing key; no engine uses the old one when this returns. */
void emu_mkey_update(uint32_t key, struct emu_mkey *m);
/* No engine uses the mkey or has its memory mapped when this returns. */
void emu_mkey_retire(uint32_t index);
/* Allocate `count` adjacent KLM entries: the index of the first, or UINT32_MAX. */
uint32_t emu_klm_alloc(uint32_t count);
void emu_klm_free(uint32_t first, uint32_t count);
/* Translate IBV_ACCESS_* flags to enum emu_right. */
uint32_t emu_rights_of_access(uint32_t access);

#endif
