#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# New commits follow the rules of CONTRIBUTING.md: see commits.py. Exit status 77: git lacks the history.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local line said status=0
	said=$(python3 "$(dirname "${BASH_SOURCE[0]}")/commits.py" "$TREE") || status=$?
	[ "$status" -ne 77 ] || { echo "$said"; exit 77; }
	[ "$status" -eq 0 ] || bad "commits.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

# commit DIR MESSAGE: commits all changes
commit()
{
	git -C "$1" add -A
	git -C "$1" -c user.name=planter -c user.email=planter@example.org -c commit.gpgsign=false \
		commit -q --allow-empty -m "$2"
}

# lines DIR FILE N: N new lines
lines()
{
	seq "$3" | sed 's/^/line /' >"$1/$2"
}

# A repository with one correct commit of each kind.
make_scratch()
{
	git -C "$1" init -q
	mkdir -p "$1/tests/vectors"
	commit "$1" 'Commits before the base are not checked.'
	git -C "$1" rev-parse HEAD >"$1/tests/base"
	lines "$1" big 700
	commit "$1" $'core: refuse maps without a range\n\nThe reason has two lines,\nas it has to.'
	git -C "$1" mv big moved
	commit "$1" 'core: move a file'
	lines "$1" tests/vectors/v1.txt 5000
	commit "$1" 'vectors, desc: pass the vectors of version 1'
	lines "$1" huge 2500
	commit "$1" $'core: import huge\n\nLarge: it is generated'
}

PLANTS=12
plant()
{
	local dir=$1
	case $2 in
	1) commit "$dir" "core: $(printf 'x%.0s' {1..67})" ;;
	2) commit "$dir" 'Refuse maps without a range' ;;
	3) commit "$dir" 'core: Refuse maps without a range' ;;
	4) commit "$dir" 'core: refuses maps without a range' ;;
	5) commit "$dir" 'core: a map needs a range' ;;
	6) commit "$dir" 'core: refused maps without a range' ;;
	7) commit "$dir" 'core: refuse maps without a range.' ;;
	8) lines "$dir" planted 250; commit "$dir" 'core: add a file' ;;
	9) lines "$dir" planted 700; commit "$dir" $'core: add a file\n\nOne line.' ;;
	10) lines "$dir" planted 2100; commit "$dir" $'core: add a file\n\nTwo\nlines.' ;;
	11)
		git -C "$dir" checkout -q -b other HEAD~1
		commit "$dir" 'core: add a commit'
		git -C "$dir" checkout -q -
		git -C "$dir" -c user.name=x -c user.email=x@example.org merge -q --no-ff -m 'core: merge' other
		;;
	12) # commits after the last tag are checked, even if the base is unknown
		git -C "$dir" tag v1
		echo 0000000000000000000000000000000000000000 >"$dir/tests/base"
		commit "$dir" 'no area'
		;;
	esac
}

main "$@"
