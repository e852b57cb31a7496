#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-wire-cm.sh EMU PEER: two emulators on addresses of 127/8 connect by management datagrams; what must be refused
# is refused, and counted.
set -euo pipefail
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../../integration/lib.sh"

emu=$1
peer=$2
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-wire.XXXXXX")
emus=$(emulator_directory wire)
# Other tests that run meanwhile have other addresses.
net=127.$((120 + BASHPID / 250 % 120)).$((1 + BASHPID % 250))
failures=0

clean_up()
{
	"$emu" stop --dir "$emus/a" >/dev/null 2>&1 || true
	"$emu" stop --dir "$emus/b" >/dev/null 2>&1 || true
	"$emu" stop --dir "$emus/c" >/dev/null 2>&1 || true
	rm -rf "$work" "$emus"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail()
{
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# on a|b COMMAND...: on that emulator's first function
on()
{
	local which=$1
	shift
	timeout "${seconds:-60}" "$emu" run --dir "$emus/$which" --as dpu -- "$@"
}

# refused TEXT OPTION...: the emulator does not start, and says why in a line with TEXT
refused()
{
	local text=$1
	shift
	! "$emu" start --dir "$emus/c" "$@" 2>"$work/err" || fail "it started with $*"
	grep -q "$text" "$work/err" || fail "$*: $(cat "$work/err")"
	[ ! -e "$emus/c" ] || fail "$* left a directory"
}

# serve a|b SPACE ADDRESS: a server, whose output goes to $work/server
serve()
{
	on "$1" "$peer" serve "$2" "$3" 7500 >"$work/server" 2>&1 &
	server=$!
	for _ in $(seq 600); do
		! grep -q listening "$work/server" || return 0
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	fail "no server: $(cat "$work/server")"
}

# expect FILE LINES
expect()
{
	diff -u <(printf '%s\n' "$2") "$1" || fail "not what was expected"
}

# exchange SPACE SOURCE...: connect b to a
exchange()
{
	local space=$1
	shift
	serve a "$space" "$net.2"
	printf 'hello\nother\nend\n' | on b "$peer" connect "$space" "$net.2" 7500 "$@" >"$work/client" 2>&1 ||
		fail "the client failed"
	wait "$server" || fail "the server failed"
}

test_options()
{
	refused "no interface of this machine has this address" --wire 203.0.113.77
	refused "no function has the name node7.dpu" --wire "node7.dpu=$net.4"
	refused "zero does not name a port" --wire 0.0.0.0
	refused "the address of a group" --wire 224.0.0.1
	refused "a link-local address" --wire fe80::1
	refused "not an IP address" --wire "dpu=here"
	refused "not the name of a function" --wire "=$net.4"
	refused "the port has this address already" --wire "$net.4" --wire "$net.4"
	refused "another port of this emulator has this address" --wire "$net.4" --wire "host=$net.4"
	refused "UDP port 4791 of this address is in use" --wire "$net.2"
	python3 -c "
import socket, subprocess, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('$net.5', 4791))
sys.exit(subprocess.run(sys.argv[1:]).returncode)" "$emu" start --dir "$emus/c" --wire "$net.5" 2>"$work/err" &&
		fail "two programs have port 4791"
	grep -q "UDP port 4791 of this address is in use" "$work/err" || fail "$(cat "$work/err")"
}

# The variable stands for the option; tables that the user made get the address behind what is there.
test_variable()
{
	DPUMAP_EMU_WIRE=$net.7 "$emu" start --dir "$emus/c" --gid "dpu none" --gid "dpu 10.1.1.1 index=0 type=v2" ||
		fail "it does not start"
	"$emu" gid list --dir "$emus/c" --as dpu | awk 'NR > 1 { print $3, $4, $6 }' >"$work/gids"
	expect "$work/gids" "0 v2 10.1.1.1
1 v1 $net.7
2 v2 $net.7"
	grep -q "^endpoint dpu mlx5_0 $net.7 lo " <("$emu" status --dir "$emus/c") || fail "no endpoint"
	"$emu" stop --dir "$emus/c"
}

test_tables()
{
	"$emu" gid list --dir "$emus/b" | awk '{ print $1, $3, $4, $6 }' | sed '1d' >"$work/gids"
	grep -qx "dpu 2 v1 $net.3" "$work/gids" || fail "$(cat "$work/gids")"
	grep -qx "dpu 3 v2 $net.3" "$work/gids" || fail "$(cat "$work/gids")"
	grep -qx "host 3 v2 $net.6" "$work/gids" || fail "$(cat "$work/gids")"
	grep -qx "host 5 v2 ::1" "$work/gids" || fail "$(cat "$work/gids")"
	! grep -q 127.100 "$work/gids" || fail "$(cat "$work/gids")"
	"$emu" status --dir "$emus/b" --json | python3 -c "
import json, sys
s = json.load(sys.stdin)
assert not s['wire_forced']
e = s['endpoints'][0]
assert (e['function'], e['device'], e['address'], e['netdev']) == ('dpu', 'mlx5_0', '$net.3', 'lo'), e
assert [e['address'] for e in s['endpoints']] == ['$net.3', '$net.6', '::1'], s['endpoints']
" || fail "status --json"
}

connected='CONNECT_REQUEST 0 "hello"
ESTABLISHED 0 ""
DISCONNECTED 0 ""'
rest='CONNECT_REQUEST 0 "other"
CONNECT_REQUEST 0 "end"'

test_connections()
{
	exchange tcp
	expect "$work/server" "$(printf 'listening\n%s\n%s' "$connected" "$rest")"
	expect "$work/client" 'ESTABLISHED 0 "welcome"
DISCONNECTED 0 ""
REJECTED 28 "sorry"
REJECTED 28 "sorry"'
	exchange tcp "$net.3"
	expect "$work/server" "$(printf 'listening\n%s\n%s' "$connected" "$rest")"
	# Once more with nobody there: the manager answers.
	echo hello | on b "$peer" connect tcp "$net.2" 7500 >"$work/client" 2>&1 || fail "the client failed"
	expect "$work/client" 'REJECTED 8 ""'
}

test_datagrams()
{
	exchange udp
	expect "$work/server" "$(printf 'listening\nCONNECT_REQUEST 0 "hello"\n%s' "$rest")"
	expect "$work/client" 'ESTABLISHED 0 "welcome"
UNREACHABLE 2 "sorry"
UNREACHABLE 2 "sorry"'
	echo hello | on b "$peer" connect udp "$net.2" 7500 >"$work/client" 2>&1 || fail "the client failed"
	expect "$work/client" 'UNREACHABLE 1 ""'
}

# Nobody has the address: the manager tries for more than a minute, unless the program ends.
test_absent_peer()
{
	local client seconds=2
	echo hello | on b "$peer" connect tcp "$net.99" 7500 >"$work/client" 2>&1 &
	client=$!
	for _ in $(seq 40); do
		"$emu" status --dir "$emus/b" --json >"$work/status"
		! grep -q '"connection": "REQ_SENT"' "$work/status" || break
		sleep 0.05
	done
	grep -q '"connection": "REQ_SENT"' "$work/status" || fail "no request: $(cat "$work/status")"
	grep -q '"engines": 1' "$work/status" || fail "its engine has no socket: $(cat "$work/status")"
	! wait "$client" || fail "the client ended by itself"
	[ ! -s "$work/client" ] || fail "an event: $(cat "$work/client")"
}

# An engine has sockets only while it has queue pairs; ids, queue pairs and sockets do not accumulate.
test_no_remains()
{
	local name
	for name in a b; do
		for _ in $(seq 600); do
			! grep -qx 'clients 0' <("$emu" status --dir "$emus/$name") || break
			sleep 0.05
		done
		grep -qx 'cm_ids 0' <("$emu" status --dir "$emus/$name") || fail "$name has ids"
		grep -qE "^endpoint dpu .* engines 0 .* dropped 0$" <("$emu" status --dir "$emus/$name") ||
			fail "$name: $("$emu" status --dir "$emus/$name")"
	done
}

"$emu" start --dir "$emus/a" --wire "$net.2" || exit 1
# IPv6 has one address on loopback: another run of this test may have it.
for _ in $(seq 60); do
	! "$emu" start --dir "$emus/b" --wire "$net.3" --wire "host=$net.6" --wire "host=::1 device=mlx5_0" 2>"$work/err" ||
		break
	grep -q 'cannot give ::1 .* UDP port 4791 of this address is in use' "$work/err" || break
done
grep -q . <("$emu" status --dir "$emus/b") || { cat "$work/err" && exit 1; }
test_options
test_variable
test_tables
test_connections
test_datagrams
test_absent_peer
test_no_remains
DPUMAP_EMU_DIR=$emus/a python3 "$here/wire_packets.py" "$emu" "$net.9" "$net.2" || fail "packets"
[ "$failures" -eq 0 ]
