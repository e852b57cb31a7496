#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# C files are formatted as .clang-format specifies.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local list
	list=$(files '*.c' '*.h')
	[ -n "$list" ] || bad "no C file found in $TREE"
	(cd "$TREE" && xargs -P "$(nproc)" -n 50 clang-format --dry-run -Werror <<<"$list") ||
		bad "C files are not formatted; run clang-format -i on them"
}

plant()
{
	printf 'int  dpumap_x( void ) { return 1; }\n' >"$1/src/core/planted.c"
}

main "$@"
