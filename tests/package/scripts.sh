#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# scripts.sh [--slow]: run each script of scripts/ once in a fresh clone, in which no other script has made a
# directory; with --slow, also those that build. The lanes package, hil and cross run the long scripts to their end.
set -euo pipefail

tree=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-scripts.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
slow=${1-}
wrong=0

# fresh: make a clone and enter it
fresh()
{
	rm -rf "$tmp/clone"
	mkdir "$tmp/clone"
	tar -C "$tree" --exclude=./.git --exclude='./build*' -c . | tar -C "$tmp/clone" -x
	cd "$tmp/clone"
}

# runs STATUS WORDS SCRIPT ARGUMENT...: the script ends with STATUS and prints WORDS
runs()
{
	local expected=$1 words=$2 status=0
	shift 2
	fresh
	[ "$1" != test ] || printf '# lane: tiny\n. scripts/lib/lane.sh\ncheck begins true\n' >scripts/lanes/tiny
	env -u DPUMAP_LANE_BUILD -u DPUMAP_RESULTS timeout 1200 "scripts/$1" "${@:2}" >"$tmp/log" 2>&1 </dev/null ||
		status=$?
	if [ "$status" -ne "$expected" ] || ! grep -qiE -- "$words" <(cat "$tmp/log"; echo); then
		echo "scripts/$* ends with $status, expected $expected and \"$words\":"
		tail -n 20 "$tmp/log" | sed 's/^/   /'
		wrong=$((wrong + 1))
	fi
}

# With a report, where matplotlib is installed: the lanes install it at night.
runs_bench()
{
	local page=$tmp/page.html
	if ! /usr/bin/python3 -c "import matplotlib" 2>/dev/null; then
		runs 0 '^== buf' bench --no-install buf
		return
	fi
	runs 0 '^report: ' bench --no-install --report "$page" buf desc
	/usr/bin/python3 "$tree/tests/package/bench-report.py" "$page" buf desc || wrong=$((wrong + 1))
	[ ! -e "$page.part" ] || { echo "scripts/bench leaves $page.part"; wrong=$((wrong + 1)); }
	runs 2 'cannot write the file' bench --no-install --report /proc/page.html buf
}

once()
{
	case $1 in
	bench) [ -z "$slow" ] || runs_bench ;;
	coverage) runs 1 'run scripts/test coverage' coverage all ;;
	demo) runs 1 'nothing does not exist' demo nothing ;; # documents.py runs it to its end
	fleet-demo) runs 1 'dpumap does not exist' fleet-demo --build "$tmp" ;; # the lane fleet runs it to its end
	hil) runs 3 '' hil --no-install --no-build --host nobody@nowhere.invalid --dpu nobody@nowhere.invalid ;;
	image) runs 1 'contains no packages for' image --no-install --packages "$tmp" ;; # images.sh builds them
	install-deps)
		runs 0 '' install-deps build
		runs 0 '^debhelper$' install-deps --list package
		! grep ':' "$tmp/log" || { echo "packages for this machine need those of another"; wrong=$((wrong + 1)); }
		runs 0 '^libc6-dev:arm64$' install-deps --list package-arm64
		;;
	mutants) runs 1 '/nowhere does not build' mutants --build /nowhere --tests none src/rdma/address.c ;;
	package) runs 1 'not a directory' package --no-install --out /dev/null/packages ;;
	report) runs 0 'index.html' report ;;
	sysroot) mkdir -p "$tmp/usr"; runs 0 '' sysroot --relink "$tmp" ;;
	test) runs 0 '^1 passed, 0 failed' test --no-install tiny ;;
	*) echo "this test does not run scripts/$1"; wrong=$((wrong + 1)) ;;
	esac
}

for script in "$tree"/scripts/*; do
	[ ! -f "$script" ] || { runs 0 '^usage: ' "${script##*/}" --help; once "${script##*/}"; }
done
[ "$wrong" -eq 0 ]
