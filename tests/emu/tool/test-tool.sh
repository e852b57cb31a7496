#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-tool.sh EMU: machines by flags and by file, capabilities, status, and traces that can be compared.
set -euo pipefail
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../../integration/lib.sh"

emu=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-tool.XXXXXX")
emus=$(emulator_directory tool)
export DPUMAP_EMU_DIR=$emus/emu
failures=0

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
	local port
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
	grep -qx 'gid node1.dpu mlx5_0 3 ::ffff:127.101.0.1 v2 lo' <("$emu" status) || fail "status shows no GIDs"
	port=$(free_port)
	"$emu" run --as node1.host -- ibv_rc_pingpong -g 0 -n 10 -p "$port" >"$work/server" 2>&1 &
	await_listener "$port" $! || fail "the server does not listen: $(cat "$work/server")"
	"$emu" run --as dpu -- ibv_rc_pingpong -g 0 -n 10 -p "$port" localhost >"$work/client" 2>&1 ||
		fail "the client failed: $(cat "$work/client")"
	wait $! || fail "between nodes: $(cat "$work/server" "$work/client")"
	[ "$(count copies)" -ge 20 ] || fail "$(count copies) copies were counted"
	[ "$(count bytes)" -ge 81920 ] || fail "$(count bytes) bytes were counted"
	grep -qE '^counter node1.host mlx5_0 port_xmit_packets [1-9]' <("$emu" status) || fail "status shows no counters"
	"$emu" status --json | python3 -c '
import json, sys
c = json.load(sys.stdin)["functions"][0]["counters"]
assert c["port_rcv_packets"] > 0 and c["port_rcv_data"] > 0, c
' || fail "status --json shows no counters"
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
# GIDs of a file, then those of options, in their order.
test_gids()
{
	cat >"$work/config" <<-'END'
		gid = dpu none
		gid = dpu 10.0.0.1 index=9 type=v2   # holes before it
		cards = 2
		[node]
		gid = node1.host 2001:db8::1 vlan=100 device=mlx5_1
		[node]
	END
	"$emu" start --config "$work/config" --gid "node0.dpu 10.0.0.2 index=250"
	"$emu" gid list | awk '$1 == "dpu" { print $3, $4, $6 }' >"$work/out"
	printf '9 v2 10.0.0.1\n250 v1 10.0.0.2\n251 v2 10.0.0.2\n' | cmp - "$work/out" || fail "gid list of dpu"
	"$emu" gid list --as node1.host --device mlx5_1 --json | python3 -c '
import json, sys
g = json.load(sys.stdin)["gids"]
assert [e["index"] for e in g] == [0, 1, 2, 3, 4, 5], g
assert g[5] == {"function": "node1.host", "device": "mlx5_1", "index": 5, "type": "v2", "vlan": 100,
                "gid": "2001:db8::1", "netdev": "lo.100"}, g
' || fail "gid list --json"
	"$emu" stop
	local many=()
	for text in {1..126}; do
		many+=(--gid "dpu 10.0.1.$text" --gid "host 10.0.2.$text" --gid "dpu1 10.0.3.$text")
	done
	"$emu" start --cards 2 "${many[@]}"
	"$emu" status --json | python3 -c '
import json, sys
n = [len(f["gids"]) for f in json.load(sys.stdin)["functions"]]
assert n == [256, 256, 256, 4], n
' || fail "status --json with full tables"
	! "$emu" gid add 10.0.4.1 --as dpu 2>"$work/err" || fail "a GID for a full table"
	grep -q 'the GID table is full' "$work/err" || fail "$(cat "$work/err")"
	"$emu" stop
	for text in "dpu" "dpu 10.0.0" "dpu 10.0.0.1 index=256" "dpu 10.0.0.1 vlan=4095" "dpu 10.0.0.1 frob=1"; do
		refused start --gid "$text"
		echo "gid = $text" >"$work/config"
		refused start --config "$work/config"
	done
	! "$emu" start --gid "guest 10.0.0.1" 2>"$work/err" || fail "a GID for a function that does not exist"
	grep -q 'cannot add GID 1' "$work/err" || fail "$(cat "$work/err")"
	! "$emu" start --gid "dpu 10.0.0.1" --gid "host 10.0.0.1" 2>"$work/err" || fail "one GID for two ports"
	grep -q 'cannot add GID 2' "$work/err" || fail "$(cat "$work/err")"
}

test_config_repeats()
{
	printf 'profile = connectx-5\nnodes = 3\n' >"$work/config"
	"$emu" start --config "$work/config" --cap max-qp=1
	expect_count profile connectx-5
	expect_count nodes 3
	# A second queue pair is one too many.
	"$emu" run --as node2.dpu -- ibv_rc_pingpong -g 0 -p "$(free_port)" >"$work/server" 2>&1 &
	await_count qps 1
	if "$emu" run --as node2.dpu -- ibv_rc_pingpong -g 0 -p "$(free_port)" >"$work/client" 2>&1; then
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
	for line in 'frob = 1' 'cards' '[node] x' 'nodes = 9' 'cards = 9' 'max-qp = 0' '= 3' \
		'numa-nodes = 5' 'cards-per-switch = 9' 'pcie-speed = 7' 'pcie-width = 3'; do
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
		"memory --status LIM" "queue" "queue --lose" "queue --silent --rnr" "queue --silent --count 2" \
		"queue --qpn 0x40 --nth 2 --silent" "completion --silent" "completion --lose --duplicate" \
		"partition --nth 2" "partition --peer host" "port --peer host" "port --off --nth 2" \
		"completion --off --lose" "clear --off" "queue --silent --qpn 0"; do
		set -f
		# shellcheck disable=SC2086 # words
		refused fault $words
		set +f
	done
	refused start --cap frob=1
	grep -q "'frob=1'" "$work/err" || fail "which capability is unknown: $(cat "$work/err")"
	"$emu" stop
}

expect_chaos()
{
	printf '%s\n' "$@" >"$work/plan"
	"$emu" chaos --plan "$work/plan" --seed 7 --dry-run >"$work/out" 2>"$work/err"
}

# wrong_plan LINE WORDS STATEMENT...: the error names the line
wrong_plan()
{
	local line=$1 words=$2
	shift 2
	if expect_chaos "$@"; then
		fail "the plan was accepted: $*"
	fi
	grep -q "^dpumap-emu: $work/plan:$line: .*$words" "$work/err" || fail "'$*': $(cat "$work/err")"
	[ ! -s "$work/out" ] || fail "'$*': printed $(cat "$work/out")"
}

# A mistake is reported with its line, whatever the seed would have drawn.
test_chaos_plan_with_a_mistake_is_refused()
{
	local d='duration 9s'
	wrong_plan 2 "no line 'duration TIME'" '# nothing'
	wrong_plan 2 "has a duration already" "$d" "$d"
	wrong_plan 1 "not a duration such as 60s: '9'" 'duration 9'
	wrong_plan 1 "not a duration" 'duration 0s'
	wrong_plan 1 "not a duration" 'duration 2000m'
	wrong_plan 3 "not 'at TIME: FAULT'" "$d" '# at' 'port'
	wrong_plan 2 "unknown word; use 'at', 'every' or 'duration': 'often'" "$d" 'often 1s: port'
	wrong_plan 2 "not a time such as .*: '1'" "$d" 'at 1: port'
	wrong_plan 2 "not a time such as .*: '2s..1s'" "$d" 'at 2s..1s: port'
	wrong_plan 2 "the time is missing" "$d" ': port'
	wrong_plan 2 "at least 1ms" "$d" 'every 0s..1s: port'
	wrong_plan 2 "a value is missing after: 'for'" "$d" 'at 1s for: port'
	wrong_plan 2 "unknown word; use 'for' or 'chance': 'until'" "$d" 'at 1s until 2s: port'
	wrong_plan 2 "1% to 100%: '0%'" "$d" 'at 1s chance 0%: port'
	wrong_plan 2 "1% to 100%: '50'" "$d" 'at 1s chance 50: port'
	wrong_plan 2 "the fault is missing" "$d" 'at 1s:'
	wrong_plan 2 "unknown kind of fault.*: 'prot'" "$d" 'at 1s: {port|prot}'
	wrong_plan 2 "unknown option of a fault: '--for'" "$d" 'at 1s: port --for 2'
	wrong_plan 2 "not a number of 1 or more: '0'" "$d" 'at 1s: completion --lose --nth {0..9}'
	wrong_plan 2 "needs a value" "$d" 'at 1s: port --as'
	wrong_plan 2 "does not support" "$d" 'at 1s: port --nth 3'
	wrong_plan 2 "'{' without '}'" "$d" 'at 1s: port --as {dpu'
	wrong_plan 2 "'}' without '{'" "$d" 'at 1s: port --as dpu}'
	wrong_plan 2 "no choices" "$d" 'at 1s: port --as {}'
	wrong_plan 2 "does not apply" "$d" 'at 1s for 1s: port --off'
	wrong_plan 2 "the fault is too long" "$d" "at 1s: port --as $(printf '%0200d' 0)"
	wrong_plan 2 "the line is too long" "$d" "# $(printf '%02000d' 0)"
	wrong_plan 2 "more than 10000 actions" 'duration 11s' 'every 1ms: port'
	refused chaos
	refused chaos --plan "$work/nowhere"
	refused chaos --plan "$work/plan" --speed 0
	refused chaos --plan "$work/plan" --seed x
}

# The output is the sequence; it is itself a plan without choices.
test_chaos_repeats_its_sequence()
{
	cat >"$work/plan" <<-END
		duration 3s # in all
		every 100ms..300ms for 50ms..900ms: port --as {dpu|host}
		every 200ms chance 50%: completion {--lose|--duplicate} --nth {1..1000}
		at 1s for 100ms..2s: partition --as dpu
		every 300ms: queue {--silent|--rnr|--delay 3} --nth {1..9}
	END
	"$emu" chaos --plan "$work/plan" --seed 1 --dry-run >"$work/one"
	"$emu" chaos --plan - --seed 1 --dry-run <"$work/plan" >"$work/two"
	cmp "$work/one" "$work/two" || fail "a seed gives two sequences"
	"$emu" chaos --plan "$work/plan" --seed 2 --dry-run >"$work/two"
	! cmp -s "$work/one" "$work/two" || fail "two seeds give one sequence"
	"$emu" chaos --plan "$work/one" --seed 5 --dry-run | tail -n +2 >"$work/two"
	tail -n +2 "$work/one" | cmp - "$work/two" || fail "the output is not a plan that repeats it"
	{ cat "$work/plan"; echo "at 1500ms: memory"; } >"$work/longer"
	"$emu" chaos --plan "$work/longer" --seed 1 --dry-run | grep -v memory | cmp - "$work/one" ||
		fail "a new statement changes the others"
	# The one that ends later ends both.
	printf '%s\n' 'duration 9s' 'at 1s for 5s: port' 'at 2s for 1s: port' 'at 4s for 4s: port' \
		'at 3s for 1s: port --as dpu' >"$work/plan"
	"$emu" chaos --plan "$work/plan" --seed 1 --dry-run >"$work/one"
	[ "$(grep -- '--off' "$work/one")" = "at 4000ms: port --as dpu --off
at 8000ms: port --off" ] || fail "overlapping faults: $(cat "$work/one")"
}

# What is printed is what was done, and the trace says the same.
test_chaos_does_what_it_prints()
{
	local reader
	cat >"$work/plan" <<-END
		duration 2s
		every 100ms..300ms for 50ms..900ms: port --as {dpu|host}
		every 200ms: queue --silent --nth {1..9}
		at 1s: memory --left {1..1000}
	END
	"$emu" start
	"$emu" trace >"$work/trace" &
	reader=$!
	await_reader "$reader" || fail "the trace does not begin"
	"$emu" chaos --plan "$work/plan" --seed 3 --speed 4 >"$work/one"
	"$emu" chaos --plan "$work/plan" --seed 3 --dry-run | cmp - "$work/one" ||
		fail "the run differs from --dry-run"
	"$emu" stop
	wait "$reader" || fail "trace ended with $?"
	{ echo 'fault chaos --seed 3'; sed -n 's/^at [0-9]*ms: /fault /p' "$work/one"; } >"$work/two"
	sed 's/ -> .*//' "$work/trace" | head -n -1 | cmp - "$work/two" || fail "trace: $(cat "$work/trace")"
}

is_down()
{
	grep -q PORT_DOWN <("$emu" run --as dpu -- ibv_devinfo)
}

# However the plan ends, its faults do.
test_chaos_that_ends_leaves_no_fault()
{
	local signal chaos
	printf '%s\n' 'duration 10m' 'at 0s: port' >"$work/plan"
	"$emu" start
	for signal in TERM INT KILL; do
		"$emu" chaos --plan "$work/plan" >"$work/out" &
		chaos=$!
		for _ in $(seq 600); do
			! grep -q '^at' "$work/out" || break
			sleep 0.1
		done
		is_down || fail "the port is up"
		! "$emu" chaos --plan "$work/plan" >/dev/null 2>"$work/err" || fail "two plans at once"
		grep -q "another plan is running" "$work/err" || fail "two plans: $(cat "$work/err")"
		kill -s "$signal" "$chaos"
		if wait "$chaos"; then
			! is_down || fail "the fault is active after SIG$signal"
		else
			[ "$signal" = KILL ] || fail "status $? after SIG$signal"
		fi
		for _ in $(seq 600); do
			is_down || break
			sleep 0.1
		done
		! is_down || fail "the fault outlives its plan after SIG$signal"
	done
	printf '%s\n' 'duration 10m' 'at 0s: port --as nobody' >"$work/plan"
	! "$emu" chaos --plan "$work/plan" >/dev/null 2>"$work/err" || fail "an unknown function"
	grep -q "plan:2: .*there is no such function" "$work/err" || fail "$(cat "$work/err")"
	printf '%s\n' 'duration 10m' >"$work/plan"
	"$emu" chaos --plan "$work/plan" >/dev/null 2>"$work/err" &
	chaos=$!
	await_reader "$chaos" || fail "the plan does not begin"
	"$emu" stop
	! wait "$chaos" || fail "the plan runs on without an emulator"
	grep -q "has ended" "$work/err" || fail "$(cat "$work/err")"
	! "$emu" chaos --plan "$work/plan" >/dev/null 2>"$work/err" || fail "chaos without an emulator"
	grep -q "no emulator is running" "$work/err" || fail "$(cat "$work/err")"
}

# What a device says of its limits is what it keeps to.
test_limits()
{
	# Nearly all, so that their text is long.
	printf '%s\n' max-qp=3 max-cq=5 max-mr=7 max-pd=11 port-speed=25 port-width=2 max-dm-size=131071 log-max-dma-mmo=20 \
		log-max-decompress=20 decompress-v2=0 log-max-crypto=20 cross-vhca-indirect=0 cqe-compression=63 \
		max-ah=2147483646 max-pkey=4 max-gid=250 pcie-speed=16 pcie-width=8 numa-nodes=2 cards-per-switch=1 \
		>"$work/config"
	"$emu" start --config "$work/config"
	"$emu" run --as dpu -- ibv_devinfo -v >"$work/info"
	for line in "max_qp:3" "max_cq:5" "max_mr:7" "max_pd:11" "active_speed:25.0 Gbps .*" "active_width:2X .*"; do
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
			ibv_rc_pingpong -g 0 -s 1048576 -p "$(free_port)" localhost >"$work/client" 2>&1; then
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

# trace_once NAME COMMAND...: what the command did, on an emulator of its own
trace_once()
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

# trace NAME COMMAND...: the same, complete: a busy machine may stop a reader for so long that it loses lines
trace()
{
	local try
	for try in 1 2 3 4 5; do
		trace_once "$@"
		grep -q ' lines lost)$' "$work/$1" || return 0
	done
	fail "$try traces of the same have lost lines"
}

# A reader that does not read: the server goes on, and tells it at the end how many lines are lost.
test_trace_of_stopped_reader()
{
	local all lost reader
	trace one ibv_devinfo
	all=$(wc -l <"$work/one")
	"$emu" start
	"$emu" trace >"$work/stopped" &
	reader=$!
	await_reader "$reader" || fail "the trace does not begin"
	kill -STOP "$reader"
	# shellcheck disable=SC2016 # for that shell
	"$emu" run --as dpu -- sh -c 'for _ in $(seq 60); do ibv_devinfo; done' >/dev/null
	kill -CONT "$reader"
	await_reader "$reader" || fail "the reader does not go on"
	"$emu" stop
	wait "$reader" || fail "trace ended with $?"
	lost=$(sed -n 's/^(\([0-9]*\) lines lost)$/\1/p' "$work/stopped" | paste -sd +)
	[ -n "$lost" ] || fail "no line was lost"
	[ $(($(grep -vc 'lines lost' "$work/stopped") + lost)) -eq $((60 * all)) ] ||
		fail "$(wc -l <"$work/stopped") lines, $lost lost, of 60 times $all"
}

test_trace()
{
	local line port
	port=$(free_port)
	# With -v there are more lines than the socket of the reader has room for.
	trace one ibv_devinfo
	trace two ibv_devinfo
	diff "$work/one" "$work/two" || fail "two traces of the same differ"
	[ "$(head -n 1 "$work/one")" = \
		"dpu c1 device.query -> ENOSPC (a probe of libibverbs: write commands are supported)" ] ||
		fail "the first line of a trace: $(head -n 1 "$work/one")"
	grep -q '^dpu c1 context.create -> 0$' "$work/one" || fail "no context in the trace: $(head "$work/one")"
	# the client fails until the server listens
	trace three sh -c "ibv_ud_pingpong -g 1 -p $port & until ibv_ud_pingpong -g 1 -p $port localhost 2>/dev/null; do sleep 0.1; done; wait"
	grep -qE '^dpu c[0-9]+ ah.create pd_handle=[0-9]+ sgid_index=1 dgid=dpu:mlx5_0 -> 0 ah_handle=[0-9]+$' "$work/three" ||
		fail "no address in the trace: $(grep ah.create "$work/three")"
	command -v rping >/dev/null || return 0
	trace four sh -c 'timeout 60 rping -s -a 127.100.0.1 -C 1 & until timeout 60 rping -c -a 127.100.0.1 -C 1 2>/dev/null || [ $? -eq 124 ]; do sleep 0.1; done; wait'
	for line in 'cm\.bind id=[0-9]+ src=127\.100\.0\.1:7174 -> 0' 'cm\.listen id=[0-9]+ -> 0' \
		'cm event CONNECT_REQUEST id=[0-9]+' 'cm event ESTABLISHED id=[0-9]+' \
		'cm\.destroy_id id=[0-9]+ -> 0'; do
		grep -qE "^dpu $line$" "$work/four" || fail "no '$line' in the trace: $(grep cm "$work/four")"
	done
}

# As of strace: one function, only what failed, with the time. Answers of questions are no failures.
test_trace_options()
{
	local reader
	"$emu" start
	"$emu" trace --as host --errors -t >"$work/trace" &
	reader=$!
	await_reader "$reader" || fail "the trace does not begin"
	"$emu" fault --method mr.create --count 2
	! "$emu" run --as dpu -- ibv_rc_pingpong -g 0 2>"$work/err" || fail "a fault without effect"
	! "$emu" run --as host -- ibv_rc_pingpong -g 0 2>"$work/err" || fail "a fault without effect"
	! "$emu" trace --as hots 2>"$work/err" || fail "a trace of an unknown function"
	grep -q "its functions are: dpu, host$" "$work/err" || fail "trace --as hots: $(cat "$work/err")"
	"$emu" stop
	wait "$reader" || fail "trace ended with $?"
	sed -E 's/^[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{6} //; s/start=.* ->/* ->/' "$work/trace" >"$work/out"
	printf '%s\n' "fault command --method mr.create --count 2 -> 0" "host c2 mr.create pd_handle=1 * -> ENOMEM" |
		cmp - "$work/out" || fail "trace --as --errors -t: $(cat "$work/trace")"
}

# pingpong KIND OPTION...: between two processes of the DPU; the client fails until the server listens
pingpong()
{
	local program
	program="ibv_$1_pingpong -g 3 -p $(free_port)"
	shift
	"$emu" run --as dpu -- sh -c \
		"$program $* & until $program $* localhost 2>/dev/null; do sleep 0.1; done; wait" >/dev/null
}

# tests/emu/conformance/capture.py examines the packets.
test_capture()
{
	local capture other
	"$emu" start
	"$emu" capture "$work/packets" --as dpu --local-only 2>"$work/err" &
	capture=$!
	"$emu" capture - --count 5 --peer 127.100.0.1 >"$work/five" 2>"$work/err5" &
	other=$!
	await_reader "$capture" || fail "the capture does not begin"
	await_reader "$other" || fail "the second capture does not begin"
	pingpong rc -n 3 -s 3000
	pingpong ud -n 2 -s 100
	wait "$other" || fail "capture with --count ended with $?"
	kill -TERM "$capture"
	wait "$capture" || fail "capture ended with $?"
	# 3 messages each way are 3 packets and an acknowledgement each; 2 datagrams each way
	grep -q '28 packets in .*/packets, none lost$' "$work/err" || fail "capture: $(cat "$work/err")"
	grep -q '5 packets in the standard output, none lost$' "$work/err5" || fail "capture: $(cat "$work/err5")"
	[ "$(grep -aoE 'dpu: QP 0x[0-9a-f]+, WQE [0-9]+: SEND 3000 bytes; synth' "$work/packets" | wc -l)" -eq 24 ] ||
		fail "comments: $(grep -aoE 'dpu: QP[ -~]*' "$work/packets")"
	if "$emu" capture "$work/packets" 2>"$work/err" || ! grep -q 'packets: File exists; remove it' "$work/err"; then
		fail "capture into a file that exists: $(cat "$work/err")"
	fi
	if "$emu" capture "$work/new" --as nobody 2>"$work/err" || [ -e "$work/new" ]; then
		fail "capture of nobody: $(cat "$work/err")"
	fi
	"$emu" capture "$work/last" 2>"$work/err" &
	capture=$!
	await_reader "$capture" || fail "the capture does not begin"
	"$emu" stop
	wait "$capture" || fail "capture ended with $? after the emulator"
	refused capture
	refused capture "$work/new" --peer dpu
}

# It is not reachable any more; a new emulator of the same name must keep its directory.
test_removed_directory()
{
	local old
	"$emu" start
	"$emu" run --as dpu -- ibv_rc_pingpong -g 0 -p "$(free_port)" >/dev/null 2>&1 &
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

# lost REASON COMMAND...: the command finds no device, and one line says why
lost()
{
	local reason=$1
	shift
	if "$emu" run --as host -- "$@" >"$work/out" 2>"$work/err"; then
		fail "$*: it finds a device: $(cat "$work/out")"
	fi
	[ "$(grep -c "^dpumap-emu: .*$reason" "$work/err")" -eq 1 ] || fail "$*: $(cat "$work/err")"
}

# "Function not implemented" alone does not say what is wrong.
test_program_that_loses_the_emulator_says_why()
{
	"$emu" start
	lost "environment was cleared" env -i ibv_devinfo
	# a shell that does not replace itself
	lost "environment was cleared" sh -c "env -i ibv_devinfo; exit"
	if unshare --user --map-root-user --mount true 2>/dev/null || unshare --mount true 2>/dev/null; then
		# shellcheck disable=SC2016 # the inner shell expands
		lost "finds no emulator in $DPUMAP_EMU_DIR" unshare --map-root-user --mount sh -c \
			'mount -t tmpfs none "${DPUMAP_EMU_DIR%/*}" && ibv_devinfo'
	fi
	# shellcheck disable=SC2016 # the inner shell expands
	lost "finds no emulator in $DPUMAP_EMU_DIR" sh -c '"$DPUMAP_EMU" stop && ibv_devinfo'
	if [ "$(id -u)" = 0 ]; then
		chmod 755 "$emus"
		lost "runs as user 65534, who has no access" setpriv --reuid 65534 --clear-groups ibv_devinfo
		install -m 4755 -o 65534 "$(command -v ibv_devinfo)" "$work/setuid"
		lost "setuid will not see the emulated device: it is setuid" "$work/setuid"
	fi
	"$emu" stop 2>/dev/null || true
}

test_static_program_is_named()
{
	echo 'int main(void) { return !fopen("/dev/infiniband/uverbs0", "r"); }' >"$work/static.c"
	gcc -include stdio.h -static -o "$work/static" "$work/static.c"
	lost "static will not see the emulated device: it is a static program" "$work/static"
	lost "static will not see the emulated device: it is a static program" sh -c "$work/static; exit 1"
	# One that starts others is no reason for a line.
	echo 'int main(int n, char **arg) { return n * execv(arg[1], arg + 1); }' >"$work/launcher.c"
	gcc -include unistd.h -static -o "$work/launcher" "$work/launcher.c"
	"$emu" run --as host -- "$work/launcher" "$(command -v ibv_devinfo)" >"$work/out" 2>"$work/err" ||
		fail "a static launcher: $(cat "$work/err")"
	[ ! -s "$work/err" ] || fail "a static launcher: $(cat "$work/err")"
}

# Each command that takes a function lists those that there are.
test_unknown_function()
{
	local words
	"$emu" start
	for words in "run --as hots -- true" "gid list --as hots" "gid add 10.0.0.1 --as hots" \
		"fault port --as hots" "port down --as hots" "capture $work/none --as hots"; do
		# shellcheck disable=SC2086 # words
		! "$emu" $words >"$work/out" 2>"$work/err" || fail "$words is accepted"
		grep -q "no function 'hots'; its functions are: dpu, host$" "$work/err" || fail "$words: $(cat "$work/err")"
	done
	"$emu" stop
}

test_open_directory()
{
	mkdir -m 755 "$work/open"
	! "$emu" start --dir "$work/open" 2>"$work/err" || fail "a directory of mode 755"
	grep -q "other users have access to it; use chmod 700" "$work/err" || fail "$(cat "$work/err")"
}

test_nodes
test_config
test_gids
test_config_repeats
test_nonsense
test_fault_words
test_limits
test_memlock
test_trace
test_trace_options
test_trace_of_stopped_reader
test_capture
test_chaos_plan_with_a_mistake_is_refused
test_chaos_repeats_its_sequence
test_chaos_does_what_it_prints
test_chaos_that_ends_leaves_no_fault
test_removed_directory
test_paths_that_cannot_be_preloaded
test_other_pid_namespace
test_fakeroot
test_without_proc
test_program_that_loses_the_emulator_says_why
test_static_program_is_named
test_unknown_function
test_open_directory
[ "$failures" -eq 0 ]
