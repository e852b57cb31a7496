#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# clang-tidy with .clang-tidy over everything that is compiled.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# once DATABASE: without those commands that compile a file once more for another program in the
# same way; clang-tidy would look at it once for each.
once()
{
	python3 - "$1" <<-'END'
	import json, re, sys
	kept = {}
	for entry in json.load(open(sys.argv[1], encoding="utf-8")):
	    words = [word for word in entry["command"].split() if word.startswith(("-D", "-U", "-std"))]
	    kept.setdefault((entry["file"], *sorted(words)), entry)
	json.dump(list(kept.values()), sys.stdout)
	END
}

run_check()
{
	local database=$BUILD each
	[ ! -f "$TREE/compile_commands.json" ] || database=$TREE
	[ -s "$database/compile_commands.json" ] || { bad "no compile_commands.json in $database"; return; }
	each=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-tidy.XXXXXX")
	once "$database/compile_commands.json" >"$each/compile_commands.json"
	# One line a finding, however many files include its place.
	(cd "$TREE" && run-clang-tidy -p "$each" -quiet -j "$(nproc)" \
		"^$TREE/(src|dpu|host|tests)/.*\\.c\$" 2>&1) |
		sed -n 's/\x1b\[[0-9;]*m//g; /: \(error\|warning\): /p' | LC_ALL=C sort -u >&2 ||
		bad "clang-tidy complains"
	rm -rf "$each"
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
