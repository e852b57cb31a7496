/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/tool/tool.h"

void tool_more_machines(FILE *out)
{
	fputs("Profiles:\n    ", out);
	emu_profile_names(out);
}

void tool_more_faults(FILE *out)
{
	fputs("The options of each kind:\n"
	      "  command     --method, --errno or --status [--syndrome], --nth, --count, --as\n"
	      "  completion  --lose, --delay, --duplicate or --syndrome, --nth, --count, --as\n"
	      "  data        --nth, --count, --as\n"
	      "  memory      --left, --as\n"
	      "  device      --as\n"
	      "  port        --as\n"
	      "  gid         --as\n"
	      "  neighbour   --as\n"
	      "  partition   --as, --peer\n"
	      "  queue       --silent, --rnr or --delay, --qpn or --nth, --as\n"
	      "With --off instead of these options: --as, --peer, --qpn.\n",
	      out);
	tool_fault_names(out);
}

void tool_more_chaos(FILE *out)
{
	fputs("A plan has one statement per line; # begins a comment:\n"
	      "  duration TIME                                    how long the plan lasts\n"
	      "  at TIME [for TIME] [chance N%]: FAULT            once\n"
	      "  every TIME [for TIME] [chance N%]: FAULT         again and again\n"
	      "\n"
	      "TIME is 500ms, 2s or 1m, or a range such as 1s..3s. FAULT is what follows\n"
	      "`dpumap-emu fault'; {dpu|host} is one of these words, {1..9} a number. For "
	      "example:\n"
	      "  duration 60s\n"
	      "  every 2s..5s for 100ms..1s: port --as {dpu|host}\n"
	      "  every 1s chance 20%: completion --lose --nth {1..100}\n",
	      out);
}
