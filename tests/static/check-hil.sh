#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/hardware.md names a test in tests/agents/ or tests/hil/ for each numbered question, and that test
# answers the question. No test answers a question that does not exist.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local said
	said=$(python3 "$TREE/tests/hil/questions.py" "$TREE" 2>&1) ||
		bad "$said; tests/hil/questions.py --write updates the names of the tests"
}

PLANTS=6
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
	esac
}

main "$@"
