#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The product contains no duplicated code, except for what tests/static/duplicates.txt lists with a reason.
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
	# A copy in which the type and some functions have other names.
	1) sed "s/arena/field/g" "$1/src/core/domain/arena.c" >"$1/dpu/planted.c" ;;
	2) echo 'src/core/domain/arena.c dpu/main.c | they were alike once' >>"$1/tests/static/duplicates.txt" ;;
	3) sed -i 's/|.*/|/' "$1/tests/static/duplicates.txt" ;;
	esac
}

main "$@"
