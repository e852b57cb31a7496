#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The picture of rooms and arrows in docs/architecture.md is the one that arrows.py generates from the
# includes.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE_DIRS=(include src emu dpu host docs)

run_check()
{
	local script begin end
	script=$(dirname "${BASH_SOURCE[0]}")/arrows.py
	begin='<!-- rooms: '
	end='<!-- end of rooms -->'
	diff <(sed -n "/^$begin/,/^$end/p" "$TREE/docs/architecture.md") <(python3 "$script" --text "$TREE") >&2 ||
		bad "the picture in docs/architecture.md is stale; run tests/static/arrows.py --write-doc ."
}

PLANTS=3
plant()
{
	local page=$1/docs/architecture.md
	case $2 in
	1) printf '#include "log/log.h"\n' >>"$1/src/common/size.c" ;;
	2) edit "$page" 's/^    dpu  *->.*/    dpu/' ;;
	3) edit "$page" '/^<!-- end of rooms/d' ;;
	esac
}

main "$@"
