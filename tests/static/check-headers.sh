#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each public header compiles on its own as C11 and as C++17, included twice in one unit, without compiler
# extensions and without macros that ask the C library for more. Functions that end an object return a
# result.
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
	# The end of an object can fail, or the object is not one: each such function says so.
	while read -r file; do
		bad "$file: a function that ends an object returns doca_error_t"
	done < <(cd "$TREE" && grep -nE 'void dpumap_[a-z_]*_(destroy|free|close)\(' -r include/dpumap)
}

PLANTS=3
plant()
{
	case $2 in
	1) printf 'size_t dpumap_x(void);\n' >"$1/include/dpumap/planted.h" ;;
	2) printf 'struct dpumap_x;\nint dpumap_x(struct dpumap_x *class);\n' >"$1/include/dpumap/planted.h" ;;
	3) printf 'struct dpumap_x;\nvoid dpumap_x_destroy(struct dpumap_x *x);\n' >"$1/include/dpumap/planted.h" ;;
	esac
}

main "$@"
