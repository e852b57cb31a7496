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
	      "  completion  --lose, --delay or --syndrome, --nth, --count, --as\n"
	      "  memory      --left, --as\n"
	      "  device      --as\n"
	      "  port        --as\n",
	      out);
	tool_fault_names(out);
}
