/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/wire/steer.h"

#include "emu/wire/packet.h"

#define QPN_AT	4u   /* the word of the BTH whose lower 24 bits are the number */
#define LONGEST 255u /* conditional jump */

size_t emu_steer_add(struct emu_steer runs[static EMU_STEER_RUNS], size_t n, uint32_t first,
		     uint32_t socket)
{
	if (n > EMU_STEER_RUNS || (n && runs[n - 1].socket == socket))
		return n;
	if (n == EMU_STEER_RUNS)
		return n + 1;
	runs[n] = (struct emu_steer){first, socket};
	return n + 1;
}

struct writer {
	struct sock_filter *out;
	size_t n;
};

static void put(struct writer *w, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (w->n < BPF_MAXINSNS)
		w->out[w->n] = (struct sock_filter){code, jt, jf, k};
	w->n++;
}

/* How many instructions choose between `n` runs: with a long jump, a node has two. */
static size_t size_of(size_t n)
{
	size_t left;

	if (n == 1)
		return 1;
	left = size_of(n / 2);
	return (left > LONGEST ? 2 : 1) + left + size_of(n - n / 2);
}

/* A binary search: the lower half follows, and a jump leads to the upper one. The depth is at most 11. */
static void search(struct writer *w, const struct emu_steer *runs, size_t n)
{
	size_t left;

	if (n == 1) {
		put(w, BPF_RET | BPF_K, 0, 0, runs[0].socket);
		return;
	}
	left = size_of(n / 2);
	if (left <= LONGEST) {
		put(w, BPF_JMP | BPF_JGE | BPF_K, (uint8_t)left, 0, runs[n / 2].first);
	} else {
		put(w, BPF_JMP | BPF_JGE | BPF_K, 0, 1, runs[n / 2].first);
		put(w, BPF_JMP | BPF_JA, 0, 0, (uint32_t)left);
	}
	search(w, runs, n / 2);
	search(w, runs + n / 2, n - n / 2);
}

size_t emu_steer_program(const struct emu_steer *runs, size_t n,
			 struct sock_filter program[static BPF_MAXINSNS])
{
	struct writer w = {.out = program};

	if (!n || n > EMU_STEER_RUNS)
		return 0;
	put(&w, BPF_LD | BPF_W | BPF_ABS, 0, 0, QPN_AT);
	put(&w, BPF_ALU | BPF_AND | BPF_K, 0, 0, WIRE_QPN_MASK);
	search(&w, runs, n);
	return w.n > BPF_MAXINSNS ? 0 : w.n;
}
