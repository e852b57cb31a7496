#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# abort.sh PACKAGES ARCHITECTURE=TESTS: interrupt scripts/hil, kill it, and cut its connection, and check each
# time that no file or process remains. `run --with` starts the two machines, which outlive the suite.
set -euo pipefail
packages=$1
tests=$2
machines=$DPUMAP_MACHINES
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$machines/abort
mkdir "$work"
export TMPDIR=$work/tmp

die()
{
	echo "abort: $*" >&2
	sed 's/^/  /' "$work/log" >&2 || true
	exit 1
}

on() { ssh -F "$machines/ssh_config" "$@"; }

# Print the processes that the suite started on any machine: all of them share one process table.
processes() { grep -lzE '^DPUMAP_HIL(_STATE)?=' /proc/[0-9]*/environ 2>/dev/null || true; }

# left: print the remaining files of the suite on all three machines, and its processes
left()
{
	local side
	for side in host dpu; do
		on "$side" "ls -A /tmp | grep dpumap-hil || true" </dev/null
	done
	ls -A "$TMPDIR"
	processes
}

await()
{
	local what=$1 n
	shift
	for ((n = 0; n < 1200; n++)); do
		! "$@" || return 0
		sleep 0.1
	done
	die "$what: $(left)"
}

nothing_left() { [ -z "$(left)" ]; }
# The test is under way when both programs have run for a while.
both_run() { [ -n "$(pgrep -x dpumapd)" ] && [ -n "$(pgrep -x dpumap)" ]; }

# abort HOW EXPECTED-STATUS
abort()
{
	local how=$1 wanted=$2 status=0 runner
	mkdir "$TMPDIR"
	"$root/scripts/hil" --no-install --no-build --host host --dpu dpu --profile quick \
		--ssh-config "$machines/ssh_config" --properties "$machines/properties.ini" \
		--packages "$packages" --tests "$tests" --out "$work/out" --endurance 3000 \
		-k endurance </dev/null >"$work/log" 2>&1 &
	runner=$!
	await "the suite does not start" both_run
	case $how in
	lost) pgrep -P "$runner" -x ssh | xargs kill -KILL ;;
	*) kill -"$how" "$runner" ;;
	esac
	wait "$runner" || status=$?
	[ "$status" -eq "$wanted" ] || die "after $how: status $status instead of $wanted"
	await "left after $how" nothing_left
	rmdir "$TMPDIR"
	echo "abort: nothing stays after $how"
}

# Start it as a terminal does: in its own process group, with no signal ignored.
set -m
abort lost 3
abort INT 130
grep -q 'NOT COMPLETE' "$work/out/report.md" || die "the report does not say that it was aborted"
abort TERM 143
abort KILL 137
