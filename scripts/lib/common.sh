# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Helpers of the scripts in scripts/. This file is sourced, never run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
JOBS=$(nproc)
# Debian's own interpreter: python3 on PATH may be another one, without pyverbs.
# shellcheck disable=SC2034 # used by the scripts that source this file
PYTHON=/usr/bin/python3
# The lanes build here; the folder build/ belongs to the user.
# shellcheck disable=SC2034
LANE_BUILD=${DPUMAP_LANE_BUILD:-$ROOT/build-lanes}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

need_tool()
{
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || die "$tool is missing; scripts/install-deps test proof installs it"
	done
}

# timed KIND NAME COMMAND...: run the command and add its duration in seconds to the file DPUMAP_TIMES.
timed()
{
	local kind=$1 name=$2 status=0 begin=$EPOCHREALTIME end
	shift 2
	"$@" || status=$?
	end=$EPOCHREALTIME
	[ -z "${DPUMAP_TIMES-}" ] ||
		awk "BEGIN { printf \"%.1f %s %s\n\", $end - $begin, \"$kind\", \"$name\" }" >>"$DPUMAP_TIMES"
	return "$status"
}

# configure DIR CMAKE-ARGUMENT...: run cmake; its output is shown only if it fails.
configure()
{
	local dir=$1
	shift
	if ! cmake -S "$ROOT" -B "$dir" -G Ninja "$@" >"$dir.configure.log" 2>&1; then
		cat "$dir.configure.log" >&2
		return 1
	fi
}

# build_targets DIR TARGETS CMAKE-ARGUMENT...: configure and build, one process at a time. TARGETS is one
# argument, the names of the targets separated by spaces.
build_targets()
{
	local dir=$1 targets=$2 lock
	shift 2
	printf '   building %s\n' "${dir#"$ROOT"/}"
	mkdir -p "$(dirname "$dir")"
	exec {lock}>"$dir.lock"
	flock "$lock"
	configure "$dir" "$@"
	# shellcheck disable=SC2086 # words
	if ! timed build "${dir##*/}" cmake --build "$dir" -j "$JOBS" -t $targets >"$dir.build.log" 2>&1; then
		grep -A 1000 '^FAILED' "$dir.build.log" >&2 || tail -n 40 "$dir.build.log" >&2
		return 1
	fi
	exec {lock}>&-
}

# build_programs DIR: build what the demos run, neither optimized nor with debug information: in 40 % of the time.
build_programs()
{
	[ -f "$1/CMakeCache.txt" ] ||
		cmake -S "$ROOT" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=None -DDPUMAP_TESTS=OFF >/dev/null
	cmake --build "$1" -j "$JOBS" -t dpumap-emu dpumap-emu-shim dpumapd dpumap_tool
}

# configure_build DIR CMAKE-ARGUMENT...: configure and build all targets.
configure_build()
{
	local dir=$1
	shift
	build_targets "$dir" all "$@"
}
