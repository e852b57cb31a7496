/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tool.h"

static const char head[] =
	"Usage: dpumap-emu run --as FUNCTION [OPTION]... [--] COMMAND [ARG]...\n"
	"       dpumap-emu start [OPTION]...\n"
	"       dpumap-emu status [--json] | stop | trace [--addresses] | caps\n"
	"       dpumap-emu fault [command] [--method PATTERN] [--errno NAME |\n"
	"                        --status NAME [--syndrome N]] [--nth N] [--count M] [--as F]\n"
	"       dpumap-emu fault completion --lose | --delay MS | --syndrome NAME\n"
	"                        [--nth N] [--count M] [--as F]\n"
	"       dpumap-emu fault memory [--left BYTES] [--as F]\n"
	"       dpumap-emu fault device [--as F]\n"
	"       dpumap-emu fault clear\n"
	"\n"
	"Runs unmodified RDMA programs on an emulated BlueField, below libibverbs and libmlx5.\n"
	"\n"
	"  run      run COMMAND as if it were on the DPU or on its host; uses the emulator of\n"
	"           DIR, or starts one that ends with the last command that uses it\n"
	"  start    start an emulator that stays until it is stopped\n"
	"  status   what there is on it, one `name count' a line, or as JSON\n"
	"  stop     end it; programs that still use it see a dead device\n"
	"  trace    print its commands and work requests as they are executed\n"
	"  caps     print what the profiles can do, and what --cap can change\n"
	"  fault    let commands fail, completions get lost, memory run out, the device die\n"
	"\n"
	"Every one of them:\n"
	"  --dir DIR         where the emulator lives (default: $" EMU_ENV_DIR ", else a\n"
	"                    directory of yours below $XDG_RUNTIME_DIR or /tmp)\n"
	"  --help, --version\n"
	"\n"
	"run, and start, which counts only where an emulator is started:\n"
	"  --as FUNCTION     dpu, the DPU's function (dpu1, ... of further cards), or host, the\n"
	"                    host's functions of all its cards: mlx5_0, mlx5_1, ...\n"
	"                    Of further machines: node1.dpu, node1.host, node2.dpu, ...\n"
	"  --profile NAME    the device to play (default: " EMU_DEFAULT_PROFILE "):\n"
	"                    ";

static const char middle[] =
	"\n"
	"  --cards N         cards of a machine (default: 1)\n"
	"  --nodes N         machines, all alike, on one network (default: 1); no more than 8\n"
	"                    cards in all\n"
	"  --cap NAME=VALUE  change a capability; see `dpumap-emu caps'\n"
	"  --config FILE     the machines, one by one: lines of NAME = VALUE (profile, cards, a\n"
	"                    capability), each machine's after a line [node]; what is before the\n"
	"                    first [node] is true for all, or for the `nodes = N' that it says\n"
	"\n"
	"trace:\n"
	"  --addresses       addresses as they are; else only how far they are into their memory\n"
	"\n"
	"fault; a fault replaces the one of its kind, and `clear' ends them all and prints how "
	"many\n"
	"commands and completions were seen, and how many of these failed:\n"
	"  --as FUNCTION     only there (default: everywhere)\n"
	"  --nth N           the first to fail, counted from now (default: 1, the next)\n"
	"  --count M         how many fail, or `all' from there on (default: 1)\n"
	"  --method PATTERN  which commands, as a shell pattern for the names below: *, *.create,\n"
	"                    !(*.destroy), ... (default: *)\n"
	"  --errno NAME      what they fail with, before they are executed (default: ENOMEM)\n"
	"  --status NAME     what the firmware says instead, in the mailbox if there is one\n"
	"  --syndrome N      of a command: behind its status; of a completion: see below\n"
	"  --lose            the completion is never written\n"
	"  --delay MS        it comes so much later, and with it all that is behind it in its\n"
	"                    send queue\n"
	"  --left BYTES      so much device memory is left (default: 0)\n"
	"\n"
	"run ends with COMMAND's status, or %d if the emulator could not be had, %d or %d if\n"
	"COMMAND could not be executed.\n";

void tool_usage(FILE *out)
{
	fputs(head, out);
	emu_profile_names(out);
	fprintf(out, middle, EXIT_EMU, EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND);
	tool_fault_names(out);
}
