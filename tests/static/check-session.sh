#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The terminal session in docs/session.svg is what its commands print today, apart from times and rates.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local line said
	said=$(python3 "$TREE/tests/static/session.py" "$TREE" "$BUILD") ||
		bad "the session could not be run; it needs dpumap-emu, dpumap and dpumapd in $BUILD/bin, and ibv_devinfo"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
	[ "$WRONG" -eq 0 ] || echo "if the change is meant: tests/static/session.py --write . BUILD" >&2
}

PLANTS=4
plant()
{
	case $2 in
	1) edit "$1/docs/session.svg" 's/all digests are equal/all digests agree/' ;;
	2) edit "$1/docs/session.svg" '/transport:/d' ;;
	3) edit "$1/docs/session.svg" 's/font-size="12"/font-size="13"/' ;;
	4) edit "$1/tests/static/session.py" 's/cmp numbers copy/cmp copy numbers/' ;;
	esac
}

main "$@"
