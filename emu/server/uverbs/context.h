/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Contexts: GET_CONTEXT, QUERY_CONTEXT, and the clock page. */
#ifndef EMU_CONTEXT_H
#define EMU_CONTEXT_H

#include "emu/server/uverbs/method.h"

extern const struct emu_method emu_methods_context[];

#endif
