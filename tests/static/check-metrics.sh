#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/metrics.md lists the metrics of dpumapd as they are, and the dashboard for Grafana is valid and uses no others.
# promtool, where it is installed, checks the queries; at night it is fetched.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# Debian's own interpreter has the required modules.
PYTHON=/usr/bin/python3

# Print the path of promtool. It is in a package of 20 MB with a service, which is unpacked and not installed.
find_promtool()
{
	local dir=$BUILD/promtool
	if command -v promtool || [ "${DPUMAP_NIGHTLY-}" != yes ]; then
		return 0
	fi
	if [ ! -x "$dir/usr/bin/promtool" ]; then
		mkdir -p "$dir"
		(cd "$dir" && apt-get -q -o APT::Sandbox::User= download prometheus >/dev/null &&
			dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb) || return 0
	fi
	echo "$dir/usr/bin/promtool"
}

run_check()
{
	local line said work promtool
	work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-metrics.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	said=$("$PYTHON" "$(dirname "${BASH_SOURCE[0]}")/metrics.py" "$TREE" "$work/rules.yml") || bad "metrics.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
	promtool=$(find_promtool)
	if [ -n "$promtool" ]; then
		said=$("$promtool" check rules --lint-fatal "$work/rules.yml" 2>&1) || bad "promtool: $said"
	elif [ "${DPUMAP_NIGHTLY-}" = yes ]; then
		bad "promtool cannot be fetched: apt-get download prometheus"
	fi
}

make_scratch()
{
	mkdir -p "$1/docs" "$1/dpu/daemon" "$1/packaging"
	cp "$TREE/docs/metrics.md" "$1/docs/"
	cp "$TREE/dpu/daemon/metrics.c" "$1/dpu/daemon/"
	cp -r "$TREE/packaging/grafana" "$1/packaging/"
}

PLANTS=9
# shellcheck disable=SC2016 # not commands: names in a page
plant()
{
	local page=$1/docs/metrics.md source=$1/dpu/daemon/metrics.c dashboard=$1/packaging/grafana/dpumapd.json
	case $2 in
	1) edit "$source" 's/put(out, "imports"/put(out, "imported"/' ;;
	2) edit "$source" 's/"Clients connected\."/"Connected clients."/' ;;
	3) edit "$page" '/`dpumapd_gets_total`/d' ;;
	4) edit "$page" 's/`dpumapd_clients` | gauge/`dpumapd_clients` | counter/' ;;
	5) edit "$dashboard" 's/dpumapd_clients{/dpumapd_client{/' ;;
	6) edit "$dashboard" 's/rate(\(dpumapd_requests_total[^)]*\)\[[^)]*)/\1/' ;;
	7) edit "$dashboard" '0,/"gridPos"/s//"grid"/' ;;
	8) edit "$dashboard" '0,/"y": 4/s//"y": 2/' ;;
	9) edit "$page" 's/`dpumapd_clients` | gauge | clients/`dpumapd_clients` | gauge | bytes/' ;;
	esac
}

main "$@"
