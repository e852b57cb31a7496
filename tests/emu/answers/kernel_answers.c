/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * kernel_answers [SEED [STEPS]]: what the kernel and the card below it answer to commands of uverbs, a line a command.
 * The same program runs on the emulated kernel of programs and in a virtual machine, whose kernel is Linux; where its
 * two outputs differ, one of the two is wrong, or differs by its nature (accepted.txt).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "answers.h"

static void open_next(void)
{
	if (answers_fd >= 0)
		close(answers_fd);
	answers_fd = open_with_doorbells();
	answers_doorbells = doorbells;
}

int main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	unsigned int steps = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 2000;

	if (make_memory(NULL))
		return 1;
	answers_ring = ring;
	answers_constant = constant;
	say("== context\n");
	ask_before_context();
	open_next();
	say("== verbs\n");
	ask_verbs();
	say("== queue pairs\n");
	ask_queue_pairs();
	say("== contexts\n");
	ask_contexts();
	say("== firmware\n");
	ask_firmware();
	say("== completions\n");
	ask_completions();
	say("== event files\n");
	ask_event_files();
	open_next();
	say("== random\n");
	ask_at_random(seed, steps);
	close(answers_fd);
	return 0;
}
