#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-cm-fabric.sh EMU: rping connects between functions, cards and nodes, and to the own function.
set -euo pipefail
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../../integration/lib.sh"

emu=$1
command -v rping >/dev/null || { echo "skipped: rping is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-cm.XXXXXX")
emus=$(emulator_directory cm)
export DPUMAP_EMU_DIR=$emus/emu

clean_up()
{
	"$emu" stop >/dev/null 2>&1 || true
	rm -rf "$work" "$emus"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail()
{
	echo "FAIL: $*" >&2
	cat "$work/server" "$work/client" >&2 || true
	exit 1
}

# await_rdma_listener PID: its port is one of the emulator, and of no other
await_rdma_listener()
{
	for _ in $(seq 600); do
		! grep -q '"state": "LISTEN"' <("$emu" status --json) || return 0
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

# ping SERVER ADDRESS CLIENT [OPTION...]: the options are the server's. A newer rping may hang after its last ping, with any
# device: one of its threads waits for an event that the other one has destroyed with the connection.
ping()
{
	local server
	timeout 60 "$emu" run --as "$1" -- rping -s -C 3 "${@:4}" >"$work/server" 2>&1 &
	server=$!
	await_rdma_listener "$server" || fail "the server on $1 does not listen"
	timeout 60 "$emu" run --as "$3" -- rping -c -v -a "$2" -C 3 >"$work/client" 2>&1 || [ $? -eq 124 ] ||
		fail "$3 does not reach $2"
	wait "$server" || true
	[ "$(grep -c '^ping data' "$work/client")" -eq 3 ] || fail "$3 lost pings to $2"
}

"$emu" start --nodes 2 --cards 2 >/dev/null
ping dpu 127.100.0.1 dpu
ping host 127.100.0.2 dpu
ping host 127.100.1.2 dpu
ping host 127.100.1.2 host
ping dpu1 127.100.1.1 node1.host
ping node1.host 127.101.1.2 dpu
ping node1.dpu1 127.0.0.1 node1.dpu1
# 127.0.0.1 is the address of the only server, if none listens on the client's own machine.
ping dpu 127.0.0.1 host
ping dpu 127.0.0.1 host -a 127.0.0.1
ping node1.host 127.0.0.1 dpu1 -a 127.101.1.2
# With two it is this machine's.
timeout 300 "$emu" run --as dpu -- rping -s >"$work/server" 2>&1 &
await_rdma_listener $! || fail "the server on dpu does not listen"
timeout 300 "$emu" run --as node1.dpu -- rping -s >"$work/second" 2>&1 &
for _ in $(seq 600); do
	[ "$(grep -c '"state": "LISTEN"' <("$emu" status --json))" -lt 2 ] || break
	sleep 0.05
done
! timeout 300 "$emu" run --as host -- rping -c -a 127.0.0.1 -C 1 >"$work/client" 2>&1 || fail "which server was it?"
grep -q 'REJECTED, error 8' "$work/client" || fail "not refused"
jobs -p | xargs kill
wait || true
for _ in $(seq 600); do
	! grep -q '"state": "LISTEN"' <("$emu" status --json) || sleep 0.05
done
grep -qx 'cm_ids 0' <("$emu" status) || fail "ids are left"
