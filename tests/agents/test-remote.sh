#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Exports that another machine reads and writes over RDMA: there is a network between the two, and
# no card that both have.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
: "${DPUMAP_TESTS:?where the test programs are}"
admin=$work/admin

ctl() { dpumapd ctl --admin "$admin" "$@"; }

# far ARGUMENT...: the tool on the other machine
far() { timeout -k 5 100 dpumap-emu run --as node1.host -- dpumap --connect "$socket" "$@"; }

# The driver keeps pages for doorbells that were in use once, up to some number.
objects() { dpumap-emu status | grep -E '^(contexts|pds|mrs|mkeys|dms|cqs|qps|dm_bytes|channels) '; }

# serve: dpumapd with an export of each kind
serve()
{
	start_agent --admin "$admin" --max-clients 32 \
		--export name=far,kind=dram,size=64K,via=rdma \
		--export name=other,kind=dram,size=64K,via=rdma \
		--export name=bulk,kind=dram,size=8M,via=rdma \
		--export name=fast,kind=dm,size=16K,via=rdma \
		--export name=file,kind=file,path="$work/file",size=max,via=rdma \
		--export name=ro,kind=dram,size=4K,via=rdma,perm=ro \
		--export name=near,kind=dram,size=64K
}

start_emulator --nodes 2
idle=$(objects)
head -c 100000 /dev/urandom >"$work/file"
serve
serving=$(objects)

# What is said about them.
far list >"$work/said" || fail list
grep -qE '^far +dram +64K +read-write +RDMA$' "$work/said" || fail "list: far"
grep -qE '^ro +dram +4K +read-only +RDMA$' "$work/said" || fail "list: ro"
grep -qE '^near +dram +64K +read-write +PCI$' "$work/said" || fail "list: near"
far list --json | python3 -c '
import json, sys
via = {e["name"]: (e["via"], e["perm"]) for e in json.load(sys.stdin)["exports"]}
assert via["far"] == ("rdma", "rw") and via["ro"] == ("rdma", "ro") and via["near"] == ("pci", "rw"), via
' || fail "list --json"
far info fast >"$work/said" || fail info
grep -qE '^via +RDMA$' "$work/said" || fail "info: via"
grep -q 'RDMA export of device memory' "$work/said" || fail "info: the descriptor"
far info ro --json | grep -q '"via": "rdma"' || fail "info --json"
ctl list | grep -qE '^far +dram +65536 +rw +rdma ' || fail "ctl list: $(ctl list)"
expect_objects "after looking" "$serving"

# Files of all sizes, there and back, through each kind of memory.
crosses()
{
	far cp "$work/in" "$1" "$files/out" >"$work/said" || fail "cp $1"
	cmp "$work/in" "$files/out" || fail "cp $1: other bytes"
	grep -q 'by RDMA connection' "$work/said" || fail "cp $1: by what"
	grep -q 'all digests are equal' "$work/said" || fail "cp $1: the digests"
	rm -f "$files/out"
}
for size in 0 1 65537 1000003; do
	head -c "$size" /dev/urandom >"$work/in"
	for name in far fast file; do
		crosses "$name"
	done
done
head -c 20000000 /dev/urandom >"$work/in"
crosses bulk

# Parts, at offsets that are no multiple of anything; the file has what was written.
head -c 3001 /dev/urandom >"$work/in"
far write file "$work/in" --offset 7777 >/dev/null || fail write
cmp -n 3001 -i 0:7777 "$work/in" "$work/file" || fail "write: other bytes in the file"
far read file "$files/out" -o 7787 -n 13 >/dev/null || fail read
cmp -n 13 -i 10:0 "$work/in" "$files/out" || fail "read of a part: other bytes"
rm "$files/out"
far fill far c0ffee --offset 3 --length 6 >/dev/null || fail fill
far dump far -o 3 -n 6 | grep -q 'c0 ff ee c0 ff ee' || fail dump
far read far - | sha256sum >"$work/sum" || fail "read to stdout"
far bench far --count 10 --size 4K --write --json | python3 -c '
import json, sys
told = json.load(sys.stdin)
assert told["engine"] == "RDMA connection" and len(told["results"]) == 2, told
' || fail bench
far import far >"$work/said" || fail import
# The host on the card itself may come this way too.
timeout -k 5 100 dpumap-emu run --as node0.host -- dpumap --connect "$socket" read far - |
	sha256sum | cmp - "$work/sum" || fail "read on the same card"
expect_objects "after all copies" "$serving"

# What is not permitted is refused before anything is sent; what is for the card's host alone, too.
connections() { grep -c 'connects to export' "$log" || true; }
before=$(connections)
expect 4 'export ro is read-only' far write ro "$work/in"
expect 4 'export ro is read-only' far fill ro ff
expect 4 'export ro is read-only' far bench ro --write
expect 4 'does not fit into export far' far write far /bin/bash
[ "$(connections)" -eq "$before" ] || fail "a connection was made for what was refused"
expect 4 'only functions of card' far read near "$files/out"
expect_no_files

# dpumapd's end cannot be connected: it says so, ends with who wanted it, and goes on.
dpumap-emu fault --as dpu --method qp.modify --nth 2 --errno ETIMEDOUT >/dev/null
expect 5 "export far: cannot connect to where the connection's details say" far read far "$files/out"
dpumap-emu fault clear >/dev/null
# Which of the two sees first that it is over is open.
tail -n 2 "$log" | grep -qE 'leaves: (disconnected|the other side closed the connection)' || fail "who cannot be connected stays: $(tail -n 2 "$log")"
far read far - | sha256sum | cmp - "$work/sum" || fail "read after a connection that failed"
expect_objects "after a connection that failed" "$serving"

# A descriptor without a connection is of no use, and says so.
far get far "$work/far.desc" >/dev/null || fail get
expect 5 'import the export by its name' far import --descriptor "$work/far.desc"
far info --descriptor "$work/far.desc" | grep -q 'RDMA export of memory' || fail "info --descriptor"

# What a device cannot do; a way that is none.
on_dpu dpumapd --listen "$work/s2" --export name=a,kind=dram,size=4K,via=air 2>"$work/stderr" &&
	fail "an export via air"
grep -q 'export a: via is pci or rdma, not "air"' "$work/stderr" || fail "via air: $(cat "$work/stderr")"
expect 4 'there is an export called far already' ctl add name=far,kind=dram,size=4K,via=rdma

# An agent of the library; and dpumapd is not larger after many connections.
peer()
{
	timeout -k 5 100 dpumap-emu run --as node1.host -- env DPUMAP_LOG_LEVEL=off \
		"$DPUMAP_TESTS/test_peer" "$socket" "$admin" >"$work/stdout" 2>&1 ||
		fail "an agent over RDMA: $(cat "$work/stdout")"
	expect_objects "after an agent" "$serving"
}
daemon=$(daemon_pid)
no_clients() { [ "$(ctl status | awk '$1 == "clients" { print $2 }')" -eq 0 ]; }
peers()
{
	for _ in $(seq "$1"); do peer; done
	await no_clients
}
peers 2
open=$(descriptors_of "$daemon")
expect_no_growth "$daemon" peers 3
[ "$(descriptors_of "$daemon")" -eq "$open" ] || fail "descriptors are left open"

# Many at once.
far read bulk "$work/bulk" >/dev/null || fail "read bulk"
copies=()
for i in 1 2 3 4 5 6; do
	far read bulk "$files/$i" >/dev/null &
	copies+=($!)
	far fill "$([ $((i % 2)) -eq 0 ] && echo far || echo other)" 0$i >/dev/null 2>&1 &
	others+=($!)
done
for copy in "${copies[@]}"; do
	wait "$copy" || fail "one of several readers"
done
wait "${others[@]}" || true # who writes to the same bytes may find the other's
for i in 1 2 3 4 5 6; do
	cmp "$work/bulk" "$files/$i" || fail "reader $i got other bytes"
done
rm "$files"/*
expect_objects "after many clients" "$serving"

# -- an end in the middle --

# Long enough through windows of 64 KiB to end something in its middle; takes no room on the disk.
truncate -s 8G "$work/in"
is_under_way() { find "$files" -name '.dpumap-*' -size +0 | grep -q .; }

begin_copy()
{
	timeout -k 5 100 dpumap-emu run --as node1.host -- dpumap --connect "$socket" --timeout 20 \
		cp "$work/in" far "$files/out" >"$work/stdout" 2>"$work/stderr" &
	copy=$!
	await is_under_way
}

# end_copy WHEN: it fails by itself, with one line, and nothing stays
end_copy()
{
	local status=0
	wait "$copy" || status=$?
	# Whichever of memory, connection and channel is missed first.
	case $status in
	1 | 3) ;;
	*) fail "$1: the copy ended with $status: $(cat "$work/stderr")" ;;
	esac
	[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "$1: not one line: $(cat "$work/stderr")"
	grep -qE "$2" "$work/stderr" || fail "$1: $(cat "$work/stderr")"
	expect_no_files
}

# Removed: the memory is out of reach before word of it goes out.
far import far --hold >"$work/held" 2>"$work/told" &
holder=$!
await grep -q '^imported' "$work/held"
ctl sessions --json | python3 -c '
import json, sys
(session,) = json.load(sys.stdin)["sessions"]
assert session["imports"] == 1 and session["connections"] == 1, session
' || fail "ctl sessions: $(ctl sessions)"
begin_copy
ctl remove far || fail "ctl remove"
end_copy "a removed export" 'far failed: the export has ended|far failed: the other side|the export changed or ended|no export called'
status=0
wait "$holder" || status=$?
[ "$status" -eq 4 ] || fail "import --hold ended with $status"
grep -q 'export far was removed' "$work/told" || fail "import --hold: $(cat "$work/told")"
ctl add name=far,kind=dram,size=64K,via=rdma,allow="uid:$(id -u)" || fail "ctl add"
expect_objects "after a removed export" "$serving"

# A client that is killed: its connections go with it.
begin_copy
kill -KILL -- "-$copy"
wait "$copy" 2>/dev/null || true
rm -f "$files"/.dpumap-*
expect_objects "after a client was killed" "$serving"
far read far - >/dev/null || fail "read after a client was killed"

# One that is interrupted ends in order.
begin_copy
kill -INT -- "-$copy"
status=0
wait "$copy" || status=$?
[ "$status" -gt 128 ] || [ "$status" -eq 124 ] || fail "SIGINT: the copy ended with $status"
no_temporary_file() { ! find "$files" -name '.dpumap-*' | grep -q .; }
await no_temporary_file
expect_objects "after an interrupted client" "$serving"

# dpumapd is killed, then stopped.
begin_copy
end_agent
end_copy "dpumapd was killed" 'far failed: |closed the connection|cannot connect'
expect_objects "after dpumapd was killed" "$idle"
rm -f "$admin"
serve
begin_copy
stop_agent
end_copy "dpumapd was stopped" 'far failed: |closed the connection|cannot connect'
expect_objects "after dpumapd" "$idle"

# It takes no card that could export over PCI.
dpumap-emu stop >/dev/null
start_emulator --nodes 2 --profile connectx-5
expect 5 'export near: mlx5_0 cannot export memory over PCI' \
	on_dpu dpumapd --listen "$socket" --export name=near,kind=dram,size=64K
start_agent --export name=far,kind=dram,size=64K,via=rdma --export name=fast,kind=dm,size=16K,via=rdma
head -c 100003 /dev/urandom >"$work/in"
crosses far
crosses fast
stop_agent
expect_no_files
finish
