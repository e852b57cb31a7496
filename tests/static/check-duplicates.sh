#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# No code of the product is there twice, unless tests/static/duplicates.txt says why.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local line said
	said=$(python3 "$(dirname "${BASH_SOURCE[0]}")/duplicates.py" "$TREE") ||
		bad "duplicates.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

PLANTS=3
plant()
{
	case $2 in
	# With other names for the type and for some functions.
	1) sed "s/arena/field/g" "$1/src/core/arena.c" >"$1/dpu/planted.c" ;;
	2) echo 'src/core/arena.c dpu/main.c | they were alike once' >>"$1/tests/static/duplicates.txt" ;;
	3) sed -i 's/|.*/|/' "$1/tests/static/duplicates.txt" ;;
	esac
}

main "$@"
