#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# clang-tidy with .clang-tidy over everything that is compiled.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local database=$BUILD
	[ ! -f "$TREE/compile_commands.json" ] || database=$TREE
	[ -s "$database/compile_commands.json" ] || { bad "no compile_commands.json in $database"; return; }
	# One line a finding, however many files include its place.
	(cd "$TREE" && run-clang-tidy -p "$database" -quiet -j "$(nproc)" \
		"^$TREE/(src|dpu|host|tests)/.*\\.c\$" 2>&1) |
		sed -n 's/\x1b\[[0-9;]*m//g; /: \(error\|warning\): /p' | LC_ALL=C sort -u >&2 ||
		bad "clang-tidy complains"
}

# One small file stands for the tree, which takes minutes.
make_scratch()
{
	mkdir -p "$1/src"
	cp "$TREE/.clang-tidy" "$1/"
	printf 'int dpumap_x(int n);\nint dpumap_x(int n)\n{\n\treturn n;\n}\n' >"$1/src/file.c"
	database "$1"
}

database()
{
	printf '[{"directory": "%s", "file": "%s/src/file.c", "command": "cc -c %s/src/file.c"}]\n' \
		"$1" "$1" "$1" >"$1/compile_commands.json"
}

plant()
{
	printf 'int dpumap_x(int n);\nint dpumap_x(int n)\n{\n\tint *p = 0;\n\treturn n + *p;\n}\n' \
		>"$1/src/file.c"
	database "$1"
}

main "$@"
