#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each public header compiles on its own as C11 and as C++17, included twice in one unit, without compiler
# extensions and without macros that ask the C library for more.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

compile()
{
	local header=$1
	shift
	printf '#include <%s>\n#include <%s>\nextern int dpumap_unit;\n' "$header" "$header" |
		"$@" -Wall -Wextra -Wundef -pedantic -Werror -I "$TREE/include" \
			-I "$TREE/src/emu/include" -fsyntax-only -
}

run_check()
{
	local file header seen=0
	for file in $(cd "$TREE" && find include src/emu/include -name '*.h' | LC_ALL=C sort); do
		header=${file#*include/}
		seen=$((seen + 1))
		compile "$header" gcc -std=c11 -x c || bad "$file: does not compile on its own as C11"
		compile "$header" g++ -std=c++17 -x c++ || bad "$file: does not compile on its own as C++17"
	done
	[ "$seen" -gt 0 ] || bad "no public header found"
}

PLANTS=2
plant()
{
	case $2 in
	1) printf 'size_t dpumap_x(void);\n' >"$1/include/dpumap/planted.h" ;;
	2) printf 'struct dpumap_x;\nint dpumap_x(struct dpumap_x *class);\n' >"$1/include/dpumap/planted.h" ;;
	esac
}

main "$@"
