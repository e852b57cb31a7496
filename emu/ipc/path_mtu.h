/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The path MTU of IBA 9.4.3, as verbs and PRM encode it (enum ibv_mtu). */
#ifndef EMU_IPC_PATH_MTU_H
#define EMU_IPC_PATH_MTU_H

#include <stdint.h>

#define EMU_MTU_256  1u
#define EMU_MTU_4096 5u

/* Another code stands for the largest one: a UD queue pair has none. */
static inline uint32_t emu_mtu_bytes(uint8_t code)
{
	return 128u << (code >= EMU_MTU_256 && code <= EMU_MTU_4096 ? code : EMU_MTU_4096);
}

#endif
