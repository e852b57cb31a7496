/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs of the kernel's classic packet filter that choose the socket of a group (SO_ATTACH_REUSEPORT_CBPF) by the
 * number of the destination queue pair in the base transport header (IBA 9.2).
 */
#ifndef EMU_WIRE_STEER_H
#define EMU_WIRE_STEER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_STEER_RUNS 1024u

/* Datagrams to queue pairs from `first` on, up to the next run, go to this socket of the group. */
struct emu_steer {
	uint32_t first;
	uint32_t socket;
};

/* Append a run, unless it continues the last one. Returns the new number of runs; beyond EMU_STEER_RUNS: too many. */
size_t emu_steer_add(struct emu_steer runs[static EMU_STEER_RUNS], size_t n, uint32_t first,
		     uint32_t socket);
/*
 * Write the program of `n` runs, the first of which begins at 0. A datagram that is too short for a
 * number goes to socket 0. Returns the number of instructions; 0: they are too many, or `n` is 0.
 */
size_t emu_steer_program(const struct emu_steer *runs, size_t n,
			 struct sock_filter program[static BPF_MAXINSNS]);

#endif
