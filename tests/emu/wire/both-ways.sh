#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# both-ways.sh [--jobs N] BUILD [CTEST-OPTION...]: run tests of a build in which all emulators exchange packets
# (dpumap-emu start --wire loopback). Emulators of one network would compete for the addresses of their
# ports, so each test has a network namespace of its own. CTEST-OPTION selects tests, for example -L conformance.
# Print a line for each test that fails, and the numbers at the end. Exit status 1: a test failed that
# differs.txt does not list, or a listed one passed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
jobs=2
[ "${1-}" != --jobs ] || { jobs=$2; shift 2; }
build=${1:?usage: both-ways.sh [--jobs N] BUILD [CTEST-OPTION...]}
shift
logs=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-both-ways.XXXXXX")
export DPUMAP_EMU_WIRE=loopback

own=(unshare --net)
[ "$(id -u)" -eq 0 ] || own=(unshare --user --map-root-user --net)
"${own[@]}" true || { echo "this machine allows no network namespaces" >&2; exit 77; }

# shellcheck disable=SC2016,SC2317 # called by xargs; expanded by the inner shell
run_one()
{
	local name=$1 status=0
	"${@:4}" sh -c 'PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && exec ctest --test-dir "$1" --output-on-failure \
		-R "^$2\$"' sh "$2" "$name" >"$3/$name.log" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		grep -q 'Skipped\|Not Run' "$3/$name.log" && echo "skip $name" || echo "pass $name"
	else
		echo "fail $name"
	fi
}
export -f run_one

ctest --test-dir "$build" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p' | sed 's/ (Disabled)$//' >"$logs/tests"
[ -s "$logs/tests" ] || { echo "no test is selected" >&2; exit 2; }
xargs -P "$jobs" -I '{}' bash -c 'run_one "$@"' bash '{}' "$build" "$logs" "${own[@]}" <"$logs/tests" |
	tee "$logs/results" | grep --line-buffered '^fail'
status=0
while read -r outcome name; do
	listed=no
	grep -qE "^$name( |\$)" "$here/differs.txt" && listed=yes
	case $outcome-$listed in
	fail-no) echo "differs over the wire: $name (see $logs/$name.log)"; status=1 ;;
	pass-yes) echo "is listed in differs.txt, but passes: $name"; status=1 ;;
	esac
done <"$logs/results"
echo "$(grep -c '^pass' "$logs/results") pass, $(grep -c '^fail' "$logs/results") fail, $(grep -c '^skip' "$logs/results") skipped"
[ $status -ne 0 ] || rm -rf "$logs"
exit $status
