#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every shell script passes shellcheck (by day those that changed, or source one that did), and no pipe fails because its last command needs no more input.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/static/changed.sh
. "$(dirname "$0")/changed.sh"
PLANTS=3

shell_files()
{
	cd "$TREE"
	# shellcheck disable=SC2016 # expanded by awk
	{ find "${SOURCE_DIRS[@]}" -type f -print0 2>/dev/null || true; } |
		xargs -0 awk 'FNR == 1 && /^(#!\/bin\/(ba)?sh|# shellcheck shell=)/ { print FILENAME }
			{ nextfile }' | LC_ALL=C sort
}

# A command that ends before its input kills the one before it, if that still writes. With pipefail, the
# pipe then fails now and then. `grep -q PATTERN <(COMMAND)` does not.
early_ends()
{
	# shellcheck disable=SC2016 # expanded by awk
	xargs awk '
		FNR == 1 { piped = 0; fails = !/^#!\/bin\/sh/ }
		fails && (piped ? "| " : "") $0 ~ /(^|[^|])\|[ \t]*(grep (-[^ ]+ )*-[a-zA-Z]*[qm]|head -[^ ]* ?[0-9]|sed [^|]*;q)/ {
			print FILENAME ":" FNR ": this command may end before its input"
		}
		{ piped = /(^|[^|])\|$/ }'
}

# those_that_changed LIST: the files of the list that changed, or that name a file that did in a directive "source="
those_that_changed()
{
	local changed
	changed=$(changed_files)
	cd "$TREE"
	{
		grep -Fx "$changed" <<<"$1" || true
		# shellcheck disable=SC2086 # words
		grep -lF "source=${changed//$'\n'/$'\nsource='}" $1 || true
	} | sort -u
}

run_check()
{
	local list early
	list=$(shell_files)
	[ -n "$list" ] || bad "no shell script found in $TREE"
	(cd "$TREE" && those_that_changed "$list" | xargs -r -P "$(nproc)" -n 10 shellcheck -x) || bad "shellcheck found problems"
	early=$(cd "$TREE" && early_ends <<<"$list")
	[ -z "$early" ] || bad "$early"
}

# The self-test uses one script and the file that it sources.
make_scratch()
{
	mkdir -p "$1/scripts/lib"
	cp "$TREE/scripts/test" "$1/scripts/"
	cp "$TREE/scripts/lib/common.sh" "$1/scripts/lib/"
}

plant()
{
	case $2 in
	1) printf '#!/bin/bash\nrm -rf \044target/*\n' ;;
	2) printf '#!/bin/bash\nls \174 grep -q x\n' ;;
	3) printf '#!/bin/bash\nls \174\n\thead -n 1\n' ;;
	esac >"$1/scripts/planted"
}

main "$@"
