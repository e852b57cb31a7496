# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Sourced by every lane. A lane has a results file with one line per test ("pass NAME", "fail NAME",
# "skip NAME REASON"), a file of times beside it ("SECONDS KIND NAME"), a temporary directory that is
# removed with the lane, and an emulator directory of its own. At night, scripts/test may run a lane in parts:
# DPUMAP_PART=K/N is one of them.

set -euo pipefail
# shellcheck source=scripts/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

: "${DPUMAP_RESULTS:?lanes are started by scripts/test}"
RESULTS_PY=$ROOT/scripts/lib/results.py
export DPUMAP_TIMES=$DPUMAP_RESULTS.times
: >>"$DPUMAP_TIMES"
LANE_TMP=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-lane.XXXXXX")
# scripts/lib/watch.py sees there that tests go on.
ln -sfn "$LANE_TMP" "$DPUMAP_RESULTS.tmp"
# A process that ends may still write counts: then a directory is not empty after all.
trap 'rm -rf "$LANE_TMP" 2>/dev/null || { sleep 1 && rm -rf "$LANE_TMP"; } || true' EXIT
export DPUMAP_EMU_DIR=$LANE_TMP/emu
mkdir -p "$LANE_BUILD"
# Lanes share the packages, whose bytes depend on their maintainer.
export DPUMAP_PACKAGE_MAINTAINER="tests of dpumap <tests@dpumap.invalid>"
# Only unit, integration and fleet tests count for the lane coverage. All other programs of that build write
# their coverage counts to a temporary directory, and gcov's errors to a file.
export GCOV_PREFIX=$LANE_TMP/counts GCOV_ERROR_FILE=$LANE_TMP/gcov.log
# Most tests wait more than they compute.
TEST_JOBS=$((JOBS * 3))
NIGHT=
[ "${DPUMAP_NIGHTLY-}" != yes ] || NIGHT=yes

# Of a lane in parts, ctest's tests are divided among them; the rest of the lane says which part it belongs to.
PART=${DPUMAP_PART-1/1}
first_part() { [ "${PART%/*}" -eq 1 ]; }
last_part() { [ "${PART%/*}" -eq "${PART#*/}" ]; }

# record pass|fail|skip NAME [REASON]: record the result of a test.
record()
{
	printf '%s %s%s\n' "$1" "$2" "${3:+ $3}" >>"$DPUMAP_RESULTS"
	printf '   %-4s %s%s\n' "$1" "$2" "${3:+ ($3)}"
}

# failed NAME LOG: record a failure and print the log. scripts/test repeats its end after all lanes.
failed()
{
	record fail "$1"
	sed 's/^/      /' "$2"
	{ echo "-- $1"; tail -n 40 "$2" | sed 's/^/   /'; } >>"$DPUMAP_RESULTS.said"
}

# judge NAME LOG STATUS: record the result of a test. Status 77 means that the test could not run; the
# last line of its log is the reason.
judge()
{
	case $3 in
	0) record pass "$1" ;;
	77) record skip "$1" "$(tail -n 1 "$2")" ;;
	*) failed "$1" "$2" ;;
	esac
}

# check NAME COMMAND...: run one test; its output is shown only if it fails.
check()
{
	local name=$1 status=0
	shift
	timed test "$name" "$@" >"$LANE_TMP/check.log" 2>&1 || status=$?
	judge "$name" "$LANE_TMP/check.log" "$status"
}

# changed PATH...: something below these paths has changed since the base (scripts/lib/changed). At night everything
# counts as changed.
changed()
{
	[ -n "$NIGHT" ] || "$ROOT/scripts/lib/changed" "$@" >/dev/null
}

# if_changed "PATH..." check|later NAME COMMAND...: the same, unless nothing below these paths has changed
if_changed()
{
	local paths=$1
	shift
	# shellcheck disable=SC2086 # words
	if changed $paths; then
		"$@"
	else
		record skip "$2" "its inputs have not changed"
	fi
}

# at_night_only: the lane does not run for each change.
at_night_only()
{
	[ -z "$NIGHT" ] || return 0
	record skip "${0##*/}" "runs at night only, with DPUMAP_NIGHTLY=yes"
	exit 77
}

# later NAME COMMAND...: run one test in parallel with others, at most one for each processor.
# await_checks records their results in order. Their logs stay in LATER_LOGS.
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
	{
		status=0
		timed test "$name" "$@" >"$log" 2>&1 || status=$?
		echo "$status" >"$log.status"
	} &
}

await_checks()
{
	local name log
	wait
	for name in "${LATER[@]}"; do
		log=$LATER_LOGS/$name.log
		judge "$name" "$log" "$(cat "$log.status" 2>/dev/null || echo 1)"
	done
	LATER=()
}

# run_ctest DIR CTEST-ARGUMENT...: run the tests and record the result of each.
run_ctest()
{
	local dir=$1
	shift
	rm -f "$LANE_TMP/ctest.xml"
	ctest --test-dir "$dir" --no-tests=error --output-on-failure --output-junit "$LANE_TMP/ctest.xml" \
		-j "$TEST_JOBS" "$@" || true
	[ -s "$LANE_TMP/ctest.xml" ] || die "ctest ran no test in $dir: $*"
	"$PYTHON" "$RESULTS_PY" record "$LANE_TMP/ctest.xml" "$(basename "$dir")" \
		"$DPUMAP_RESULTS.said" "$DPUMAP_TIMES" >>"$DPUMAP_RESULTS"
}

# run_now DIR BUILD LABEL-REGEX [WITHOUT-REGEX]: run those of the tests that tests/gate.txt selects for this build;
# none is no error. CTEST_ALSO has further arguments of ctest that select nothing.
CTEST_ALSO=()
run_now()
{
	local numbers
	numbers=$("$PYTHON" "$ROOT/scripts/lib/gate.py" select "$@")
	[ -n "$numbers" ] || { echo "   no test with label $3 runs now in the build $2"; return 0; }
	run_ctest "$1" -I "$numbers" "${CTEST_ALSO[@]}"
}

DEBUG_OPTIONS=(-DDPUMAP_WERROR=ON -DCMAKE_BUILD_TYPE=Debug -DDPUMAP_COVERAGE=ON)
SANITIZE_OPTIONS=(-DDPUMAP_WERROR=ON -DCMAKE_BUILD_TYPE=Debug "-DDPUMAP_SANITIZE=address,undefined")
CLANG_OPTIONS=(-DDPUMAP_WERROR=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DDPUMAP_FUZZ=ON)

# The builds that lanes share. Each lane names the targets that it needs; DIR/all means all targets of
# the folder DIR.
# shellcheck disable=SC2034 # used by the lanes
UNIT_TARGETS=(tests/unit/all tests/emu/unit/all desc_judge)
# shellcheck disable=SC2034
PRODUCT_TARGETS=(src/all emu/all src/common/all src/channel/all src/doctor/all src/fleet/all dpu/all host/all)

# build_debug TARGET...: build with gcc, Debug, instrumented for coverage.
build_debug()
{
	build_targets "$LANE_BUILD/debug" "$*" "${DEBUG_OPTIONS[@]}"
}

# build_sanitize TARGET...: build with gcc, Debug, with AddressSanitizer and UBSan.
build_sanitize()
{
	build_targets "$LANE_BUILD/sanitize" "$*" "${SANITIZE_OPTIONS[@]}"
}

# build_release TARGET...: build with gcc, optimised, without asserts.
build_release()
{
	build_targets "$LANE_BUILD/release" "$*" -DDPUMAP_WERROR=ON -DCMAKE_BUILD_TYPE=Release
}

# build_clang TARGET...: build with clang, Debug, including the fuzzers.
build_clang()
{
	build_targets "$LANE_BUILD/clang" "$*" "${CLANG_OPTIONS[@]}"
}

# build_dpu TARGET...: build for aarch64 with the preset, as a user does. A preset builds in build/ of the
# source tree, which belongs to the user, so this builds in a copy of the tree.
DPU_TREE=$LANE_BUILD/cross
DPU_BUILD=$DPU_TREE/build/dpu
build_dpu()
{
	mkdir -p "$DPU_TREE"
	find "$DPU_TREE" -mindepth 1 -maxdepth 1 ! -name build -exec rm -r {} +
	tar -C "$ROOT" --exclude=./.git --exclude='./build*' -c . | tar -C "$DPU_TREE" -x
	printf '   building %s\n' "${DPU_BUILD#"$ROOT"/}"
	(cd "$DPU_TREE" &&
		check preset-dpu-configures cmake --preset dpu -DDPUMAP_WERROR=ON -DCMAKE_BUILD_TYPE=Debug &&
		check preset-dpu-builds cmake --build --preset dpu -t "$@")
}

# run_sanitized LABEL-REGEX: run tests of the build with AddressSanitizer and UBSan. Reports go
# to files, because the emulator's server is a daemon without a terminal. Warnings of the leak check that it could
# not suspend a thread (one of a forked child's parent, or a dying one) are ignored.
run_sanitized()
{
	local reports=$LANE_TMP/reports
	mkdir -p "$reports"
	# The emulator's library is preloaded, so it comes before the sanitizer's runtime.
	export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=1:abort_on_error=1:log_path=$reports/asan
	export LSAN_OPTIONS=suppressions=$ROOT/tests/lsan.supp:print_suppressions=0
	export UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/ubsan
	run_now "$LANE_BUILD/sanitize" sanitize "$@"
	check sanitizers-report-nothing no_reports "$reports"
	unset ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS
}

no_reports()
{
	local unseen='Running thread [0-9]+ was not suspended|Unable to get registers from thread [0-9]+'
	! grep -hvE "^==[0-9]+==($unseen)\." "$1"/* 2>/dev/null
}

# length VARIABLE VALUE NIGHTLY: set the duration or the step of tests with random or repeated input. The
# variable gets NIGHTLY if DPUMAP_NIGHTLY is "yes", else VALUE. A value in the environment wins.
length()
{
	local value=$2
	[ -z "$NIGHT" ] || value=$3
	export "$1=${!1-$value}"
	printf '   %s=%s (nightly: %s)\n' "$1" "${!1}" "$3"
}
