#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# 64 host agents at once (or 8 for each of DPUMAP_STRESS_PROCESSES) over TLS while exports come and
# go: no request is lost, nobody reaches what is gone, and dpumapd is not larger afterwards. For
# DPUMAP_SPLIT_SECONDS, 10 if not said.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/agents/pki.sh
. "$(dirname "$0")/pki.sh"
: "${DPUMAP_TESTS:?where the test programs are}"
command -v openssl >/dev/null || { echo "openssl is needed"; exit 77; }

seconds=${DPUMAP_SPLIT_SECONDS:-10}
export DPUMAP_LOG_LEVEL=off
admin=$work/admin
make_ca
issue dpu serverAuth IP:127.0.0.1
issue host clientAuth

figure() { dpumapd ctl --admin "$admin" status | awk -v key="$1" '$1 == key { print $2 }'; }

stress()
{
	local before told answered
	before=$(figure requests)
	timeout -k 5 $(($1 + 100)) dpumap-emu run --as host -- "$DPUMAP_TESTS/agents_stress" \
		"$address" "$pki/host" "$pki/ca.crt" "$admin" "$files" "$1" >"$work/figures" ||
		fail "stress for $1 s"
	answered=$(($(figure requests) - before))
	told=$(awk '$1 == "requests" { print $2 }' "$work/figures")
	[ "$told" = "$answered" ] || fail "$told requests were made, $answered answered"
	echo "$1 s: $(tr '\n' ' ' <"$work/figures")"
	for nth in $(seq 0 15); do
		dpumapd ctl --admin "$admin" remove "e$nth" || fail "e$nth is not there"
	done
}

start_emulator --cards 1
cat >"$work/conf" <<END
listen = [ "tls:127.0.0.1:0" ];
tls = { cert = "$pki/dpu.crt"; key = "$pki/dpu.key"; ca = "$pki/ca.crt"; crl = "$pki/ca.crl"; };
admin = "$admin";
exports = ( { name = "fixed"; kind = "dram"; size = 4096; allow = [ "cert:host" ]; } );
END
start_configured "$work/conf"
daemon=$(daemon_pid)
serving=$(objects)
stress 3
open=$(descriptors_of "$daemon")
expect_no_growth "$daemon" stress "$seconds"
expect_objects "after all clients" "$serving"
now=$(descriptors_of "$daemon")
[ "$now" -eq "$open" ] || fail "dpumapd has $now descriptors open instead of $open"
[ "$(figure clients)" -eq 0 ] && [ "$(figure imports)" -eq 0 ] || fail "clients or imports are left"
expect_no_files
stop_agent
finish
