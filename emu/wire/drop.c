/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/drop.h"

#define WORDS(name, words) [WIRE_DROP_##name] = (words),

static const char *const table[] = {[WIRE_ACCEPTED] = "accepted", WIRE_DROPS(WORDS)};

const char *wire_drop_words(enum wire_drop drop)
{
	return (unsigned int)drop < WIRE_DROP_COUNT ? table[drop] : "unknown";
}
