#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# A header declares only the functions of its own .c file, and of those in its folder without a header: see
# headers-own.py. headers-own.txt lists the exceptions and their reasons.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE_DIRS=(src emu dpu host)

run_check()
{
	local line said
	said=$(python3 "$(dirname "${BASH_SOURCE[0]}")/headers-own.py" "$TREE") || bad "headers-own.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

make_scratch()
{
	copy_tree "$1"
	mkdir "$1/tests"
	cp -a "$TREE/tests/static" "$1/tests/"
}

PLANTS=5
plant()
{
	case $2 in
	1) printf 'int file_of_another(void);\n' >>"$1/src/local/file.h" ;;
	2) printf 'int declared_alone(int a,\n\t\t   int b) __attribute__((cold));\n' >"$1/dpu/planted.h" ;;
	3) grep -h -m1 '^[a-z].*);$' "$1/src/common/size.h" >>"$1/src/local/file.h" ;;
	4) printf 'src/common/size.h | it is large\n' >>"$1/tests/static/headers-own.txt" ;;
	5) grep -h -m1 '^[a-z].*);$' "$1/src/common/size.h" >>"$1/src/common/pem.h" ;;
	esac
}

main "$@"
