#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-tool.sh EMU: machines by flags and by file, capabilities, status, and traces that can be compared.
set -euo pipefail

emu=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-tool.XXXXXX")
export DPUMAP_EMU_DIR=$work/emu
failures=0

clean_up()
{
	"$emu" stop >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail()
{
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

# count NAME: from the status
count() { "$emu" status | sed -n "s/^$1 //p"; }

expect_count()
{
	local found
	found=$(count "$1")
	[ "$found" = "$2" ] || fail "$1 is $found and not $2"
}

await_count()
{
	for _ in $(seq 600); do
		[ "$(count "$1")" != "$2" ] || return 0
		sleep 0.1
	done
	fail "$1 does not become $2"
}

# devices FUNCTION WANTED: which it sees
expect_devices()
{
	local found
	found=$("$emu" run --as "$1" -- ibv_devices | awk 'NR > 2 { printf "%s%s", sep, $1; sep = " " }')
	[ "$found" = "$2" ] || fail "$1 sees [$found] and not [$2]"
}

refused()
{
	local status=0
	"$emu" "$@" >"$work/out" 2>"$work/err" || status=$?
	[ "$status" -eq 2 ] || fail "$*: status $status"
	[ "$(wc -l <"$work/err")" -le 2 ] || fail "$*: $(cat "$work/err")"
}

test_nodes()
{
	"$emu" start --nodes 2 --cards 2
	expect_count nodes 2
	expect_count cards 4
	expect_count functions 8
	expect_devices host "mlx5_0 mlx5_1"
	expect_devices node0.dpu1 "mlx5_0"
	expect_devices node1.host "mlx5_0 mlx5_1"
	expect_devices node1.dpu1 "mlx5_0"
	"$emu" status --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
names = [f["name"] for f in s["functions"]]
assert names == ["dpu", "host", "dpu1", "host", "node1.dpu", "node1.host", "node1.dpu1", "node1.host"], names
assert s["objects"]["qps"] == 0 and s["nodes"] == 2, s
assert s["functions"][4]["port"] == "ACTIVE", s
assert s["functions"][4]["gids"][3] == {"index": 3, "gid": "::ffff:127.101.0.1", "type": "RoCE v2", "netdev": "lo"}, s
' || fail "status --json"
	"$emu" status | grep -qx 'gid node1.dpu mlx5_0 3 ::ffff:127.101.0.1 v2 lo' || fail "status shows no GIDs"
	"$emu" run --as node1.host -- ibv_rc_pingpong -g 0 -n 10 -p 18600 >"$work/server" 2>&1 &
	# The programs find each other by TCP; the server needs a moment.
	for _ in $(seq 600); do
		if "$emu" run --as dpu -- ibv_rc_pingpong -g 0 -n 10 -p 18600 localhost >"$work/client" 2>&1; then
			break
		fi
		sleep 0.1
	done
	wait $! || fail "between nodes: $(cat "$work/server" "$work/client")"
	[ "$(count copies)" -ge 20 ] || fail "$(count copies) copies were counted"
	[ "$(count bytes)" -ge 81920 ] || fail "$(count bytes) bytes were counted"
	expect_count errors 0
	# The libraries ask, for example, which GIDs exist: an answer is not an error.
	expect_count command_errors 0
	"$emu" stop
}

test_config()
{
	cat >"$work/config" <<-'END'
	# a DPU's machine and an old one
	max-dm-size = 64K

	[node]
	cards = 2        # of its own
	[node]
	profile = connectx-6-dx
	END
	refused start --config "$work/config"
	grep -q "config:7: set the profile before" "$work/err" || fail "$(cat "$work/err")"
	sed -i '/^max-dm-size/d; s/^cards.*/&\nmax-dm-size = 64K/' "$work/config"
	"$emu" start --config "$work/config"
	expect_count nodes 2
	expect_count cards 3
	"$emu" run --as host -- ibv_devinfo -v >"$work/info"
	[ "$(grep -c 'available device memory:[[:space:]]*65536' "$work/info")" -eq 2 ] ||
		fail "the file's max-dm-size is not the device's"
	"$emu" run --as node1.host -- ibv_devinfo >"$work/info"
	grep -q "vendor_part_id:.*4125" "$work/info" ||
		fail "the second node is not a ConnectX-6 Dx"
	"$emu" stop
}

# `nodes' makes equal ones; options go on top of a file.
test_config_repeats()
{
	printf 'profile = connectx-5\nnodes = 3\n' >"$work/config"
	"$emu" start --config "$work/config" --cap max-qp=1
	expect_count profile connectx-5
	expect_count nodes 3
	# A second queue pair is one too many.
	"$emu" run --as node2.dpu -- ibv_rc_pingpong -g 0 -p 18601 >"$work/server" 2>&1 &
	await_count qps 1
	if "$emu" run --as node2.dpu -- ibv_rc_pingpong -g 0 -p 18602 >"$work/client" 2>&1; then
		fail "max-qp does not limit the queue pairs"
	fi
	grep -q "create QP" "$work/client" || fail "not for want of a queue pair: $(cat "$work/client")"
	kill $!
	wait $! || true
	"$emu" stop
}

test_nonsense()
{
	local line
	refused start --nodes 0
	refused start --nodes 9
	refused start --nodes 3 --cards 3
	refused start --cards none
	refused start --profile connectx-3
	refused start --cap frob=1
	refused start --cap cross-vhca=2
	refused start --cap max-qp
	# 2^64 and 1 MiB
	refused start --cap max-dm-size=17592186044417M
	refused start --config "$work/nowhere"
	refused status --nodes 2
	refused trace extra
	for line in 'frob = 1' 'cards' '[node] x' 'nodes = 9' 'cards = 9' 'max-qp = 0' '= 3'; do
		echo "$line" >"$work/config"
		refused start --config "$work/config"
		grep -q ":1: " "$work/err" || fail "'$line': $(cat "$work/err")"
	done
	printf 'cards = 1\0 x\ncards = 1\n' >"$work/config"
	refused start --config "$work/config"
}

# What a kind of fault does not know is refused, and not left out.
test_fault_words()
{
	local words
	"$emu" start
	for words in "completion --lose --errno EPERM" "completion --lose --method *" \
		"completion --lose --left 3" "memory --nth 2" "memory --count all" "device --nth 2" \
		"device --left 2" "clear --as dpu" "clear --nth 2" "command --left 3" "--delay 3" \
		"memory --status LIM"; do
		set -f
		# shellcheck disable=SC2086 # words
		refused fault $words
		set +f
	done
	refused start --cap frob=1
	grep -q "'frob=1'" "$work/err" || fail "which capability is unknown: $(cat "$work/err")"
	"$emu" stop
}

# What a device says of its limits is what it keeps to.
test_limits()
{
	"$emu" start --cap max-qp=3 --cap max-cq=5 --cap max-mr=7 --cap max-pd=11
	"$emu" run --as dpu -- ibv_devinfo -v >"$work/info"
	for line in "max_qp:3" "max_cq:5" "max_mr:7" "max_pd:11"; do
		grep -qE "^\s*${line%:*}:\s*${line#*:}$" "$work/info" ||
			fail "not $line: $(grep "${line%:*}:" "$work/info")"
	done
	"$emu" stop
}

# may_lock_little COMMAND...: no more than 64 KiB
may_lock_little()
{
	(
		ulimit -l 64
		[ "$(id -u)" != 0 ] || set -- setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@"
		exec "$@"
	)
}

# With --cap, the memory of an unprivileged program is limited.
test_memlock()
{
	local memlock message
	for memlock in "--cap memlock=1" ""; do
		message="Couldn't register MR"
		[ -n "$memlock" ] || message="Couldn't connect to"
		# shellcheck disable=SC2086
		"$emu" start $memlock
		if may_lock_little "$emu" run --as dpu -- \
			ibv_rc_pingpong -g 0 -s 1048576 -p 18603 localhost >"$work/client" 2>&1; then
			fail "a ping to an address without an answer"
		fi
		grep -q "$message" "$work/client" || fail "start $memlock: $(cat "$work/client")"
		"$emu" stop
	done
}

# await_reader PID: until it sleeps with a socket, which is when the server has accepted its request
await_reader()
{
	for _ in $(seq 600); do
		if grep -q '^State:.S' "/proc/$1/status" &&
			[ -n "$(find "/proc/$1/fd" -name '[3-9]*' -lname 'socket:*')" ]; then
			return
		fi
		sleep 0.1
	done
	return 1
}

# trace NAME COMMAND...: what the command did, on an emulator of its own
trace()
{
	local out=$work/$1 reader
	shift
	"$emu" start
	"$emu" trace >"$out" &
	reader=$!
	await_reader "$reader" || fail "the trace does not begin"
	"$emu" run --as dpu -- "$@" >/dev/null
	"$emu" stop
	wait "$reader" || fail "trace ended with $?"
}

test_trace()
{
	trace one ibv_devinfo -v
	trace two ibv_devinfo -v
	diff "$work/one" "$work/two" || fail "two traces of the same differ"
	grep -q '^dpu c1 context.create -> 0$' "$work/one" || fail "no context in the trace: $(head "$work/one")"
	# the client fails until the server listens
	trace three sh -c 'ibv_ud_pingpong -g 1 -p 18605 & until ibv_ud_pingpong -g 1 -p 18605 localhost 2>/dev/null; do sleep 0.1; done; wait'
	grep -qE '^dpu c[0-9]+ ah.create pd_handle=[0-9]+ sgid_index=1 dgid=dpu:mlx5_0 -> 0 ah_handle=[0-9]+$' "$work/three" ||
		fail "no address in the trace: $(grep ah.create "$work/three")"
}

# It is not reachable any more; a new emulator of the same name must keep its directory.
test_removed_directory()
{
	local old
	"$emu" start
	"$emu" run --as dpu -- ibv_rc_pingpong -g 0 -p 18604 >/dev/null 2>&1 &
	await_count qps 1
	rm -rf "$DPUMAP_EMU_DIR"
	old=$(pgrep -f "serve --dir $DPUMAP_EMU_DIR ") || fail "it ended before its client"
	"$emu" start
	kill $!
	wait $! || true
	for _ in $(seq 600); do
		[ -e "/proc/${old:-none}" ] || break
		sleep 0.1
	done
	[ ! -e "/proc/${old:-none}" ] || fail "it runs on without a directory"
	expect_devices host mlx5_0
	"$emu" stop
}

# The loader would ignore the library, and the command would run without the emulator.
test_paths_that_cannot_be_preloaded()
{
	local name library
	library=$(dirname "$(readlink -f "$emu")")/../lib/libdpumap-emu.so
	for name in "a space" "a:colon"; do
		mkdir -p "$work/$name/bin" "$work/$name/lib"
		cp "$emu" "$work/$name/bin/dpumap-emu"
		cp "$library" "$work/$name/lib/"
		if "$work/$name/bin/dpumap-emu" run --as dpu -- touch "$work/ran" 2>"$work/err"; then
			fail "$name: the command ran"
		fi
		[ ! -e "$work/ran" ] || fail "$name: the command ran"
		grep -q "cannot preload $work/$name/lib" "$work/err" || fail "$name: $(cat "$work/err")"
	done
}

test_without_proc()
{
	local words
	unshare --mount umount -l /proc 2>/dev/null || return 0
	for words in "start" "run --as host -- true"; do
		# shellcheck disable=SC2016,SC2086 # the inner shell expands
		if unshare --mount sh -c 'umount -l /proc && exec "$@"' sh "$emu" $words 2>"$work/err"; then
			fail "$words without /proc"
		fi
		grep -q "the emulator needs /proc" "$work/err" || fail "$words: $(cat "$work/err")"
	done
}

# fakeroot answers for the C library and continues at older names of its functions.
test_fakeroot()
{
	command -v fakeroot >/dev/null || return 0
	"$emu" run --as host -- fakeroot ibv_devices >"$work/out" || fail "fakeroot in the emulator"
	grep -q mlx5_0 "$work/out" || fail "a program under fakeroot sees no device"
	fakeroot "$emu" run --as host -- ibv_devinfo >"$work/out" || fail "the emulator in fakeroot"
}

# Processes find each other by their numbers, which another namespace does not share.
test_other_pid_namespace()
{
	local devinfo=(run --as host -- ibv_devinfo)
	unshare --pid --fork --mount-proc true 2>/dev/null || return 0
	"$emu" start
	if unshare --pid --fork "$emu" "${devinfo[@]}" >"$work/out" 2>"$work/err"; then
		fail "a process of another PID namespace opened a device"
	fi
	[ "$(grep -c "is in another PID namespace than the emulator" "$work/err")" -eq 1 ] ||
		fail "another PID namespace: $(cat "$work/err")"
	"$emu" stop
	unshare --pid --fork --mount-proc "$emu" "${devinfo[@]}" >"$work/out" ||
		fail "an emulator in a PID namespace of its own does not serve"
}

test_nodes
test_config
test_config_repeats
test_nonsense
test_fault_words
test_limits
test_memlock
test_trace
test_removed_directory
test_paths_that_cannot_be_preloaded
test_other_pid_namespace
test_fakeroot
test_without_proc
[ "$failures" -eq 0 ]
