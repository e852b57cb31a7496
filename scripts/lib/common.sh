# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Helpers of the scripts in this folder; sourced, never run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
JOBS=$(nproc)
# Debian's own interpreter: python3 on PATH may be another one, without pyverbs.
# shellcheck disable=SC2034 # for those who source this
PYTHON=/usr/bin/python3
# Where the lanes build; the folder build/ belongs to the user.
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
		command -v "$tool" >/dev/null || die "$tool is missing; scripts/install-deps test installs it"
	done
}

# configure_build DIR CMAKE-ARGUMENT...: configures quietly and builds; the output is shown
# when something fails.
configure_build()
{
	local dir=$1
	shift
	printf '   building %s\n' "${dir#"$ROOT"/}"
	if ! cmake -S "$ROOT" -B "$dir" -G Ninja "$@" >"$dir.configure.log" 2>&1; then
		cat "$dir.configure.log" >&2
		return 1
	fi
	cmake --build "$dir" -j "$JOBS" -- --quiet
}
