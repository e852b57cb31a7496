/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/syndrome.h"

#include "base/array.h"

#define ROW(name, number, status, sentence) [number] = {#name, sentence, EMU_STATUS_##status},

/* The compiler refuses a number that stands twice. */
static const struct emu_cmd_refusal refusals[] = {EMU_CMD_SYNDROMES(ROW)};

struct emu_cmd_refusal emu_cmd_refusal(uint32_t syndrome)
{
	static const struct emu_cmd_refusal none;

	return syndrome < ARRAY_SIZE(refusals) ? refusals[syndrome] : none;
}
