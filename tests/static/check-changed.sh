#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What the gate leaves out because it has not changed: scripts/lib/changed and affected.py find every change, and what
# includes a changed file.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

repository()
{
	git -C "$tree" -c user.name=planter -c user.email=planter@example.org -c commit.gpgsign=false "$@" >/dev/null
}

# expect WORDS COMMAND...: the command prints these words
expect()
{
	local wanted=$1 said
	shift
	said=$({ "$@" || true; } | sort | paste -sd ' ')
	[ "$said" = "$wanted" ] || bad "\"${*##*/}\" prints \"$said\", not \"$wanted\""
}

affected()
{
	printf '%s\n' "$@" | python3 "$TREE/tests/static/affected.py" "$tree" src tests
}

run_check()
{
	local base
	tree=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-changed.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tree'" EXIT
	mkdir -p "$tree/scripts/lib" "$tree/src/room" "$tree/tests"
	cp "$TREE/scripts/lib/changed" "$tree/scripts/lib/"
	echo '#include "room/deep.h"' >"$tree/src/top.c"
	echo '#include "deep.h"' >"$tree/src/room/beside.c"
	echo '#include "deeper.h"' >"$tree/src/room/deep.h"
	touch "$tree/src/room/deeper.h" "$tree/tests/deeper.h" "$tree/src/alone.c"
	echo '# include <deeper.h>' >"$tree/tests/other.c"
	repository init -b main && repository add -A && repository commit -m first
	base=$(git -C "$tree" rev-parse HEAD)

	unset DPUMAP_BASE
	printf '# a comment\n%s\n' "$base" >"$tree/tests/base"
	repository add -A && repository commit -m base
	expect 'tests/base' "$tree/scripts/lib/changed"
	expect "$base" "$tree/scripts/lib/changed" --base
	expect '' "$tree/scripts/lib/changed" src
	echo >>"$tree/src/room/deeper.h" && repository commit -am committed
	echo >>"$tree/src/top.c"
	touch "$tree/src/new.c"
	expect 'src/new.c src/room/deeper.h src/top.c' "$tree/scripts/lib/changed" src
	expect 'src/new.c src/top.c' env DPUMAP_BASE=HEAD "$tree/scripts/lib/changed" src
	repository update-ref refs/remotes/origin/main HEAD~1
	expect 'src/new.c src/room/deeper.h src/top.c' "$tree/scripts/lib/changed"
	rm -rf "$tree/.git"
	expect 'scripts/lib/changed src/alone.c src/new.c src/room/beside.c src/room/deep.h src/room/deeper.h src/top.c tests/base tests/deeper.h tests/other.c' \
		"$tree/scripts/lib/changed" src

	expect 'src/room/beside.c src/top.c' affected src/room/deep.h
	expect 'src/room/beside.c src/top.c' affected src/room/deeper.h
	expect 'tests/other.c' affected tests/deeper.h
	expect 'src/alone.c' affected src/alone.c src/gone.c docs/page.md
}

make_scratch()
{
	mkdir -p "$1/scripts/lib" "$1/tests/static"
	cp "$TREE/scripts/lib/changed" "$1/scripts/lib/"
	cp "$TREE/tests/static/affected.py" "$1/tests/static/"
}

PLANTS=4
plant()
{
	case $2 in
	1) edit "$1/scripts/lib/changed" 's/git ls-files.*;/:;/' ;;
	2) edit "$1/scripts/lib/changed" 's/DPUMAP_BASE/OTHER/' ;;
	3) edit "$1/tests/static/affected.py" 's/    while new:/    if new:/' ;;
	4) edit "$1/tests/static/affected.py" 's/if beside in names else/if False else/' ;;
	esac
}

main "$@"
