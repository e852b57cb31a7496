#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# scripts/test counts what fails and what hangs: neither is lost, and neither keeps the rest from
# running.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

PLANTS=4

# lane NAME: a lane of the commands on stdin
lane()
{
	{
		echo "# lane: $1"
		# shellcheck disable=SC2016
		echo '. "$(dirname "$0")/../lib/lane.sh"'
		cat
	} >"$tree/scripts/lanes/$1"
}

says()
{
	grep -qE -- "$1" "$tree/log" || bad "scripts/test does not say \"$1\""
}

run_check()
{
	local status=0
	tree=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-lanes.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tree'" EXIT
	cp -a "$TREE/scripts" "$tree/"
	lane hangs <<<'check begins true; sleep 15'
	lane fails <<<'check says bash -c "echo what went wrong; false"; later waits false; later is-well true; await_checks'
	lane stops <<<'check begins true; false'
	lane passes <<<'check is-well true; record skip not-here "there is none"'
	TMPDIR=$tree DPUMAP_LANE_BUILD=$tree/build DPUMAP_LANE_SECONDS=3 timeout -k 5 60 \
		bash "$tree/scripts/test" --no-install hangs fails stops passes >"$tree/log" 2>&1 || status=$?
	[ "$status" -eq 1 ] || bad "scripts/test ends with $status"
	says '^   hangs has not ended after 3 s'
	says ' sleep 15$'
	says '^-- fails: says'
	[ "$(tail -n 1 "$tree/log")" = "4 passed, 4 failed, 1 skipped" ] ||
		bad "the last line is \"$(tail -n 1 "$tree/log")\""
	! pgrep -f "$tree" >/dev/null || bad "something is left running"
	[ "$WRONG" -eq 0 ] || sed 's/^/   /' "$tree/log"
}

make_scratch()
{
	cp -a "$TREE/scripts" "$1/"
}

plant()
{
	case $2 in
	1) edit "$1/scripts/lib/within.sh" 's/kill -KILL/true/' ;;
	2) edit "$1/scripts/test" 's/^.*-completes.*$//' ;;
	3) edit "$1/scripts/lib/lane.sh" '/^failed()/,/^}/s/record fail/true/' ;;
	4) edit "$1/scripts/lib/lane.sh" '/^failed()/,/^}/s/^.*\.said.*$//' ;;
	esac
}

main "$@"
