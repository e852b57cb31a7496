#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each function and variable with external linkage has a user in another file of the product (callers.py).
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local build=$BUILD line said
	[ ! -d "$TREE/objects" ] || build=$TREE/objects
	said=$(python3 "$(dirname "${BASH_SOURCE[0]}")/callers.py" "$TREE" "$build") || bad "callers.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

# The self-test has objects of its own: a program of two files, and a test that calls one function of each.
compile()
{
	local file
	for file in a b; do
		mkdir -p "$1/objects/host/CMakeFiles/program.dir"
		gcc -c -o "$1/objects/host/CMakeFiles/program.dir/$file.c.o" "$1/host/$file.c"
	done
}

make_scratch()
{
	mkdir -p "$1/host" "$1/include" "$1/tests"
	printf 'int other(void);\nint main(void) { return other(); }\n' >"$1/host/a.c"
	printf 'int tested(void) { return 0; }\nint other(void) { return tested(); }\n' >"$1/host/b.c"
	printf 'int t(void) { return tested() + other(); }\n' >"$1/tests/test.c"
	compile "$1"
}

PLANTS=4
plant()
{
	case $2 in
	1) printf 'int unused(void) { return 0; }\n' >>"$1/host/b.c" ;;
	2) printf 'int unused;\n' >>"$1/host/a.c" ;;
	3) edit "$1/host/b.c" 's/return tested()/return 0/' ;;
	4) edit "$1/tests/test.c" 's/tested() + //' ;;
	esac
	compile "$1"
}

main "$@"
