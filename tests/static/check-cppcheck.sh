#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Run cppcheck on the files of the product that changed, at night on all. Tests are checked by the compilers and clang-tidy only.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/static/changed.sh
. "$(dirname "$0")/changed.sh"

run_check()
{
	local files
	mapfile -t files < <(c_files tests/static/cppcheck-suppressions.txt src emu dpu host)
	[ ${#files[@]} -gt 0 ] || return 0
	(cd "$TREE" && cppcheck --quiet --error-exitcode=1 --std=c11 --platform=unix64 -j "$(nproc)" \
		--enable=warning,performance,portability --inline-suppr --inconclusive \
		--suppressions-list=tests/static/cppcheck-suppressions.txt \
		-I include -I src -I . -D_GNU_SOURCE "${files[@]}") || bad "cppcheck complains"
}

make_scratch()
{
	mkdir -p "$1/src" "$1/tests/static"
	cp "$TREE/tests/static/cppcheck-suppressions.txt" "$1/tests/static/"
	printf 'int dpumap_x(int n)\n{\n\treturn n;\n}\n' >"$1/src/file.c"
}

plant()
{
	printf 'int dpumap_x(void)\n{\n\tint a[2] = { 0, 0 };\n\treturn a[2];\n}\n' >"$1/src/file.c"
}

main "$@"
