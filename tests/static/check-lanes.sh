#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# scripts/test counts tests that fail and lanes that hang as failures, and runs all other lanes.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

PLANTS=5

# lane NAME: add a lane with the commands on standard input
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
	lane hangs <<<"check begins touch $tree/begun; for i in 1 2 3 4; do echo \$i; sleep 2; done; sleep 40; touch $tree/woke"
	lane fails <<<'check says bash -c "echo what went wrong; false"; later waits false; later is-well true; await_checks'
	lane stops <<<'check begins true; false'
	lane passes <<<'check is-well true; record skip not-here "not available"'
	# It ends only beside another lane.
	lane package <<<"check waits timeout 40 bash -c 'until [ -e $tree/begun ]; do echo; sleep 0.1; done'; check says-no false"
	TMPDIR=$tree DPUMAP_LANE_BUILD=$tree/build DPUMAP_SILENCE_SECONDS=6 timeout -k 5 120 \
		bash "$tree/scripts/test" --no-install package hangs fails stops passes >"$tree/log" 2>&1 || status=$?
	[ "$status" -eq 1 ] || bad "scripts/test ended with $status, not 1"
	says '^   hangs: no test ended and nothing was printed for 6 s'
	says '(^| )sleep 40$'
	grep -q 'hangs: no test ended' <(tail -n 12 "$tree/log") || bad "the last lines do not say what the killed lane was doing"
	says '^-- fails: says'
	says '^failed in package: says-no$'
	[ "$(tail -n 1 "$tree/log")" = "5 passed, 5 failed, 1 skipped" ] ||
		bad "wrong last line: \"$(tail -n 1 "$tree/log")\""
	[ ! -e "$tree/woke" ] || bad "the lane that hangs was not killed"
	! pgrep -f "$tree" >/dev/null || bad "processes of the lanes still run"
	[ "$WRONG" -eq 0 ] || sed 's/^/   /' "$tree/log"
}

make_scratch()
{
	cp -a "$TREE/scripts" "$1/"
}

plant()
{
	case $2 in
	1) edit "$1/scripts/lib/watch.py" 's/os.kill(pid, signal.SIGKILL)/pass/' ;;
	2) edit "$1/scripts/test" 's/^.*-completes.*$//' ;;
	3) edit "$1/scripts/lib/lane.sh" '/^failed()/,/^}/s/record fail/true/' ;;
	4) edit "$1/scripts/lib/lane.sh" '/^failed()/,/^}/s/^.*\.said.*$//' ;;
	5) edit "$1/scripts/test" 's/^beside=.*/beside=none/' ;;
	esac
}

main "$@"
