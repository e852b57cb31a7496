/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/window.h"

void wire_window_open(struct wire_window *w, uint32_t max)
{
	w->max = max > WIRE_WINDOW_MIN ? max : WIRE_WINDOW_MIN;
	w->size = w->max;
	w->grown = 0;
	w->cut_at = 0;
}

void wire_window_grow(struct wire_window *w, uint32_t packets)
{
	w->grown += packets;
	if (w->grown < w->size)
		return;
	w->grown = 0;
	if (w->size < w->max)
		w->size++;
}

void wire_window_lose(struct wire_window *w)
{
	w->grown = 0;
	w->size = w->size / 2 > WIRE_WINDOW_MIN ? w->size / 2 : WIRE_WINDOW_MIN;
}

void wire_window_congest(struct wire_window *w, uint64_t now)
{
	if (w->cut_at && now - w->cut_at < WIRE_CONGESTION_NS)
		return;
	w->cut_at = now;
	wire_window_lose(w);
}
