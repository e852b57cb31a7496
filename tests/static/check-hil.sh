#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/hardware.md names a test in tests/agents/ or tests/hil/ for each numbered question, and that test
# answers the question. No test answers a question that does not exist. docs/performance-bluefield.md has the figures
# of tests/hil/published.txt, and a measured copy is printed beside the published figure of the same copy, or a limit.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# Copies in one direction: one with half of a published number of copies, one with half of it as a bandwidth, one of a
# size with a limit only, one of device memory, a latency, and a figure of something else.
check_beside()
{
	local measured printed wanted
	measured=$(mktemp)
	python3 - "$measured" <<'END'
import json, sys

copy = {"test": "t", "way": "host to DPU", "by": "host", "memory": "dram"}
json.dump([
    {**copy, "name": "operations", "value": 5.25, "unit": "Mop/s", "size": 64},
    {**copy, "name": "bandwidth", "value": 12.78, "unit": "GB/s", "size": 65536},
    {**copy, "name": "bandwidth", "value": 15.75, "unit": "GB/s", "size": 1 << 20},
    {**copy, "name": "bandwidth", "value": 6.3, "unit": "GB/s", "size": 65536, "memory": "dm"},
    {**copy, "name": "latency, median", "value": 2.5, "unit": "us", "size": 64},
    {"test": "t", "name": "endurance", "value": 4, "unit": "turns"},
], open(sys.argv[1], "w"))
END
	printed=$(python3 "$TREE/tests/hil/published.py" --beside "$measured" 2>&1 | sed -n '3,/^$/s/  *|/|/gp' || true)
	rm -f "$measured"
	wanted='| dm, host to DPU, copied by the host: rate| 64 KiB| 6.3 GB/s| at most 31.5 GB/s [1][2]| 0.20| at most 63 GB/s [1][3]| 0.10|
| dram, host to DPU, copied by the host: latency| 64 B| 2.5 us| -| -| -| -|
| dram, host to DPU, copied by the host: rate| 64 B| 5.25 Mop/s| 10.5 Mop/s [4]| 0.50| -| -|
| dram, host to DPU, copied by the host: rate| 64 KiB| 12.8 GB/s| 25.6 GB/s [4]| 0.50| at most 63 GB/s [1][3]| 0.20|
| dram, host to DPU, copied by the host: rate| 1 MiB| 15.8 GB/s| at most 31.5 GB/s [1][2]| 0.50| at most 63 GB/s [1][3]| 0.25|'
	[ "$printed" = "$wanted" ] || bad "tests/hil/published.py --beside prints
$printed
instead of
$wanted"
}

run_check()
{
	local said
	said=$(python3 "$TREE/tests/hil/questions.py" "$TREE" 2>&1) ||
		bad "$said; tests/hil/questions.py --write updates the names of the tests"
	said=$(python3 "$TREE/tests/hil/published.py" "$TREE" 2>&1) || bad "$said"
	check_beside
}

PLANTS=10
plant()
{
	local page=$1/docs/hardware.md
	case $2 in
	1) sed -i 's/question(9)/question(10)/' "$1/tests/hil/test_device.py" ;;
	2) sed -i -E '0,/^\| *12 *\|/s//| 112 |/' "$page" ;;
	3) sed -i '0,/(27, 28)/s//(28,)/' "$1/tests/hil/test_programs.py" ;;
	4) sed -i -E '0,/^\| *13 *\|/s//| 12 |/' "$page" ;;
	5) sed -i 's/test_pieces_of/test_peaces_of/' "$page" ;;
	6) sed -i '0,/question(/s//question(99, /' "$1/tests/hil/test_device.py" ;;
	7) edit "$1/docs/performance-bluefield.md" 's/3.87 Mop/8.37 Mop/' ;;
	8) edit "$1/tests/hil/published.txt" '/^host to DPU . 64 /s/| 4 |/| 44 |/' ;;
	9) edit "$1/tests/hil/published.txt" 's/| 0.127 s |/| 0.127 |/' ;;
	10) edit "$1/tests/hil/published.py" 's/ != "dm"/ != "dram"/' ;;
	esac
}

main "$@"
