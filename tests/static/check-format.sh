#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# C files are laid out as .clang-format says.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local file list
	list=$(files '*.c' '*.h')
	[ -n "$list" ] || bad "no C file found in $TREE"
	for file in $list; do
		(cd "$TREE" && clang-format --dry-run -Werror "$file") || bad "$file: not formatted"
	done
}

plant()
{
	printf 'int  dpumap_x( void ) { return 1; }\n' >"$1/src/core/planted.c"
}

main "$@"
