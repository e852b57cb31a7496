#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each numbered question of docs/hardware.md has a test in tests/hil/ that answers it and is named
# there, and no test answers another.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local said
	said=$(python3 "$TREE/tests/hil/questions.py" "$TREE" 2>&1) ||
		bad "$said (tests/hil/questions.py --write)"
}

PLANTS=6
plant()
{
	local page=$1/docs/hardware.md
	case $2 in
	1) sed -i 's/question(9)/question(10)/' "$1/tests/hil/test_95_device.py" ;;
	2) sed -i -E '0,/^\| *12 *\|/s//| 112 |/' "$page" ;;
	3) sed -i '0,/(27, 28)/s//(28,)/' "$1/tests/hil/test_90_programs.py" ;;
	4) sed -i -E '0,/^\| *13 *\|/s//| 12 |/' "$page" ;;
	5) sed -i 's/test_pieces/test_peaces/' "$page" ;;
	6) sed -i 's/question(8)/question(8, 99)/' "$1/tests/hil/test_95_device.py" ;;
	esac
}

main "$@"
