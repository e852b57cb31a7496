#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Run clang-tidy with .clang-tidy on every compiled file that has changed since the base (scripts/lib/changed), or
# with DPUMAP_NIGHTLY=yes on all of them. Its path analysis takes 95 % of the time, so unless DPUMAP_NIGHTLY=yes, it is
# shallow for tests, and ends after 50,000 nodes of a function instead of 225,000.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/static/changed.sh
. "$(dirname "$0")/changed.sh"

# tidy FOLDERS [SETTING]: print the findings, in colours; the setting is for the path analysis
tidy()
{
	local folders=$1 setting=()
	[ $# -eq 1 ] || setting=(-extra-arg={-Xclang,-analyzer-config,-Xclang,"$2"})
	# With large pages for malloc(), the analysis takes a tenth less time. The file shows that it goes on.
	(cd "$TREE" && GLIBC_TUNABLES=glibc.malloc.hugetlb=1 PYTHONUNBUFFERED=1 run-clang-tidy -p "$each" -quiet \
		-j "$(nproc)" "${setting[@]}" "^$TREE/($folders)/.*\\.c\$" 2>&1 | tee "$database/progress") ||
		touch "$each/failed"
}

run_check()
{
	local database=${DPUMAP_TIDY_BUILD:-$BUILD} each
	[ ! -f "$TREE/compile_commands.json" ] || database=$TREE
	[ -s "$database/compile_commands.json" ] || { bad "no compile_commands.json in $database"; return; }
	each=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-tidy.XXXXXX")
	c_files .clang-tidy src emu dpu host tests |
		python3 "$(dirname "${BASH_SOURCE[0]}")/tidy.py" "$database/compile_commands.json" "$TREE" \
			>"$each/compile_commands.json"
	printf '%d files\n' "$(grep -o '"file":' "$each/compile_commands.json" | wc -l)"
	{
		if [ "${DPUMAP_NIGHTLY-}" = yes ]; then
			tidy 'src|emu|dpu|host|tests'
		else
			tidy 'src|emu|dpu|host' max-nodes=50000
			tidy tests mode=shallow
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

# The file of the product is compiled three times, in two ways.
database()
{
	(cd "$1" && printf '%s\n' src tests 'src -DSAME' 'src -DOTHER' | while read -r dir options; do
		printf '{"directory": "%s", "file": "%s", "command": "cc %s -o file.o -c %s"}\n' \
			"$1" "$1/$dir/file.c" "$options" "$1/$dir/file.c"
	done | paste -sd, | sed 's/.*/[&]/' >compile_commands.json)
}

good() { printf 'int dpumap_x(int n);\nint dpumap_x(int n)\n{\n\treturn n;\n}\n' >"$1"; }

bad_code() { printf 'int dpumap_x(int n);\nint dpumap_x(int n)\n{\n\tint *p = 0;\n\treturn n + *p;\n}\n'; }

PLANTS=3
plant()
{
	case $2 in
	1) bad_code >"$1/src/file.c" ;;
	2) bad_code >"$1/tests/file.c" ;;
	3)
		{ echo '#ifdef OTHER'; bad_code; echo '#else'; cat "$1/src/file.c"; echo '#endif'; } >"$1/src/new"
		mv "$1/src/new" "$1/src/file.c"
		;;
	esac
	database "$1"
}

main "$@"
