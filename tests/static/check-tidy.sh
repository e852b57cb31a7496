#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Run clang-tidy with .clang-tidy on every compiled file. Its path analysis takes 95 % of the time, so it is
# shallow for tests, unless DPUMAP_NIGHTLY=yes.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# once DATABASE: print the database with one command for each file and set of options. A file that several
# programs compile the same way is analysed once.
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

# tidy FOLDERS ARGUMENT...: print the findings, in colours
tidy()
{
	local folders=$1
	shift
	(cd "$TREE" && run-clang-tidy -p "$each" -quiet -j "$(nproc)" "$@" \
		"^$TREE/($folders)/.*\\.c\$" 2>&1) || touch "$each/failed"
}

run_check()
{
	local database=${DPUMAP_TIDY_BUILD:-$BUILD} each
	[ ! -f "$TREE/compile_commands.json" ] || database=$TREE
	[ -s "$database/compile_commands.json" ] || { bad "no compile_commands.json in $database"; return; }
	each=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-tidy.XXXXXX")
	once "$database/compile_commands.json" >"$each/compile_commands.json"
	{
		tidy 'src|dpu|host'
		if [ "${DPUMAP_NIGHTLY-}" = yes ]; then
			tidy tests
		else
			tidy tests -extra-arg={-Xclang,-analyzer-config,-Xclang,mode=shallow}
		fi
	} | sed -n 's/\x1b\[[0-9;]*m//g; /: \(error\|warning\): /p' | LC_ALL=C sort -u >"$each/findings"
	# Print each finding once, even if several files include its header.
	cat "$each/findings" >&2
	if [ -s "$each/findings" ] || [ -e "$each/failed" ]; then
		bad "clang-tidy complains"
	fi
	rm -rf "$each"
}

# The self-test uses one small file of the product and one of the tests: the whole tree takes minutes.
make_scratch()
{
	mkdir -p "$1/src" "$1/tests"
	cp "$TREE/.clang-tidy" "$1/"
	good "$1/src/file.c"
	good "$1/tests/file.c"
	database "$1"
}

database()
{
	(cd "$1" && printf '%s\n' src tests |
		sed "s|.*|{\"directory\": \"$1\", \"file\": \"$1/&/file.c\", \"command\": \"cc -c $1/&/file.c\"}|" |
		paste -sd, | sed 's/.*/[&]/' >compile_commands.json)
}

good() { printf 'int dpumap_x(int n);\nint dpumap_x(int n)\n{\n\treturn n;\n}\n' >"$1"; }

PLANTS=2
plant()
{
	local dirs=(src tests)
	printf 'int dpumap_x(int n);\nint dpumap_x(int n)\n{\n\tint *p = 0;\n\treturn n + *p;\n}\n' \
		>"$1/${dirs[$2 - 1]}/file.c"
	database "$1"
}

main "$@"
