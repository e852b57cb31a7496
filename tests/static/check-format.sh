#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# C files are formatted as .clang-format specifies. Comments, which clang-format does not break, and code that
# it cannot break have at most 120 columns; tables that it leaves alone may have more.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

PLANTS=2

# Print the lines that are too long. A tab has 8 columns.
too_long()
{
	awk '
	FNR == 1 { is_table = 0 }
	/clang-format (off|on)/ { is_table = /clang-format off/ }
	!is_table {
		columns = 0
		n = split($0, parts, "\t")
		for (i = 1; i < n; i++)
			columns += length(parts[i]) + 8 - (columns + length(parts[i])) % 8
		if (columns + length(parts[n]) > 120)
			print FILENAME ":" FNR ": more than 120 columns"
	}' "$@"
}

run_check()
{
	local list long
	list=$(files '*.c' '*.h')
	[ -n "$list" ] || bad "no C file found in $TREE"
	(cd "$TREE" && xargs -P "$(nproc)" -n 50 clang-format --dry-run -Werror <<<"$list") ||
		bad "C files are not formatted; run clang-format -i on them"
	# shellcheck disable=SC2086 # no name has a blank
	long=$(cd "$TREE" && too_long $list)
	[ -z "$long" ] || bad "$long"
}

plant()
{
	case $2 in
	1) printf 'int  dpumap_x( void ) { return 1; }\n' >"$1/src/core/planted.c" ;;
	2) printf '/*%0121d */\n' 0 >"$1/src/core/planted.c" ;;
	esac
}

main "$@"
