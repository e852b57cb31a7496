# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What every lane starts with: a results file with one line per test ("pass NAME", "fail NAME",
# "skip NAME REASON"), a temporary directory that goes with the lane, an emulator directory of its own.

set -euo pipefail
# shellcheck source=scripts/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

: "${DPUMAP_RESULTS:?lanes are started by scripts/test}"
LANE_TMP=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-lane.XXXXXX")
trap 'rm -rf "$LANE_TMP"' EXIT
export DPUMAP_EMU_DIR=$LANE_TMP/emu
mkdir -p "$LANE_BUILD"

# record pass|fail|skip NAME [REASON]
record()
{
	printf '%s %s%s\n' "$1" "$2" "${3:+ $3}" >>"$DPUMAP_RESULTS"
	printf '   %-4s %s%s\n' "$1" "$2" "${3:+ ($3)}"
}

# failed NAME LOG: what it said is shown, and its end once more after all lanes.
failed()
{
	record fail "$1"
	sed 's/^/      /' "$2"
	{ echo "-- $1"; tail -n 40 "$2" | sed 's/^/   /'; } >>"$DPUMAP_RESULTS.said"
}

# check NAME COMMAND...: one test; its output is shown only if it fails.
check()
{
	local name=$1
	shift
	if "$@" >"$LANE_TMP/check.log" 2>&1; then
		record pass "$name"
	else
		failed "$name" "$LANE_TMP/check.log"
	fi
}

# later NAME COMMAND...: the same beside others, as many at once as there are processors;
# await_checks records them, in order. What they say is left in LATER_LOGS.
LATER=()
LATER_LOGS=$LANE_TMP
later()
{
	local name=$1 log=$LATER_LOGS/$1.log
	shift
	LATER+=("$name")
	while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do
		wait -n || true
	done
	{ "$@" >"$log" 2>&1 && touch "$log.passed"; } &
}

await_checks()
{
	local name
	wait
	for name in "${LATER[@]}"; do
		if [ -e "$LATER_LOGS/$name.log.passed" ]; then
			record pass "$name"
		else
			failed "$name" "$LATER_LOGS/$name.log"
		fi
	done
	LATER=()
}

# run_ctest DIR LABEL-REGEX [CTEST-ARGUMENT...]: runs the tests and records each of them.
run_ctest()
{
	local dir=$1 label=$2
	shift 2
	rm -f "$LANE_TMP/ctest.xml"
	ctest --test-dir "$dir" -L "$label" --no-tests=error --output-on-failure --timeout 180 \
		--output-junit "$LANE_TMP/ctest.xml" "$@" || true
	[ -s "$LANE_TMP/ctest.xml" ] || die "ctest ran no test with label $label in $dir"
	"$PYTHON" "$ROOT/scripts/lib/junit-results.py" "$LANE_TMP/ctest.xml" \
		"$(basename "$dir")" "$DPUMAP_RESULTS.said" >>"$DPUMAP_RESULTS"
}

# run_covered LABEL: the tests in the gcc Debug build, which counts what they reach. Lanes share
# that: a run of scripts/test does it once, and begins with counts of nothing.
run_covered()
{
	local run
	run=$(dirname "$DPUMAP_RESULTS")
	[ ! -e "$run/.covered-$1" ] || return 0
	configure_build "$LANE_BUILD/coverage" -DDPUMAP_WERROR=ON -DCMAKE_BUILD_TYPE=Debug \
		-DDPUMAP_COVERAGE=ON
	if [ ! -e "$run/.covered" ]; then
		find "$LANE_BUILD/coverage" -name '*.gcda' -delete
		touch "$run/.covered"
	fi
	# What gcov has to say is no word of the program.
	GCOV_ERROR_FILE=$LANE_TMP/gcov.log run_ctest "$LANE_BUILD/coverage" "$1" -j "$JOBS"
	touch "$run/.covered-$1"
}
