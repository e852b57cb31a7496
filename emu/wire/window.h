/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How many packets a requester may have outstanding. A link without flow control drops what does not fit,
 * and each loss costs all packets after it (go-back-N). So the window is halved when packets are lost or
 * the network reports congestion, and grows by one packet for each window that was acknowledged.
 */
#ifndef EMU_WIRE_WINDOW_H
#define EMU_WIRE_WINDOW_H

#include <stdint.h>

#define WIRE_WINDOW_MIN 4u
#define WIRE_CONGESTION_NS \
	50000u /* between two reactions to, and two notifications of, congestion */

struct wire_window {
	uint32_t size;
	uint32_t max;
	uint32_t grown;	 /* packets acknowledged since it grew */
	uint64_t cut_at; /* when congestion halved it last; 0: never */
};

void wire_window_open(struct wire_window *w, uint32_t max);
void wire_window_grow(struct wire_window *w, uint32_t packets);
void wire_window_lose(struct wire_window *w);
/* A congestion notification packet has arrived (annex A17.9.3). */
void wire_window_congest(struct wire_window *w, uint64_t now);

#endif
