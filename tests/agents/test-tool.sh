#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every command of the tool: what it prints for people and for programs, and what comes of it.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
command -v python3 >/dev/null || { echo "python3 is needed"; exit 77; }

admin=$work/admin
me=$(id -u)
ctl() { dpumapd ctl --admin "$admin" "$@"; }

# value EXPRESSION: of what the last command printed as JSON, in $work/said, which is j
value() { python3 -c "import json,sys; j=json.load(open(sys.argv[1])); print($1)" "$work/said"; }

# says EXPRESSION WANTED
says()
{
	local found
	found=$(value "$1") || { fail "no JSON: $(cat "$work/said")"; return; }
	[ "$found" = "$2" ] || fail "$1 is $found instead of $2"
}

start_emulator --profile bluefield-3 --cards 2
idle=$(objects)
start_agent --admin "$admin" --export name=bulk,kind=dram,size=1M \
	--export name=fast,kind=dm,size=4K --export name=ro,kind=dram,size=8K,perm=ro
serving=$(objects)
head -c 100003 /dev/urandom >"$work/in"

# -- list, info, get
host list --json >"$work/said" || fail "list --json"
says '[(e["name"], e["kind"], e["size"], e["perm"]) for e in j["exports"]]' \
	"[('bulk', 'dram', 1048576, 'rw'), ('fast', 'dm', 4096, 'rw'), ('ro', 'dram', 8192, 'ro')]"
host info --json >"$work/said" || fail "info --json"
says 'j["device_memory"]["total"] - j["device_memory"]["free"]' 4096
host info fast --json >"$work/said" || fail "info fast --json"
says '(j["export"]["name"], j["descriptor"]["kind"], j["descriptor"]["length"])' \
	"('fast', 'PCI export', 4096)"
(cd "$files" && umask 0 && host get fast --json) >"$work/said" || fail "get"
says '(j["file"], j["bytes"])' "('fast.desc', 80)"
[ "$(stat -c %a "$files/fast.desc")" = 600 ] || fail "get: mode $(stat -c %a "$files/fast.desc")"
host get-descriptor fast "$files/again" >/dev/null || fail "the old name of get"
cmp "$files/fast.desc" "$files/again" || fail "get: two descriptors of one export"
rm "$files/again"

# -- write, read, cp
host write bulk "$work/in" --json >"$work/said" || fail "write --json"
says '(j["bytes"], j["verified"], len(j["digests"]))' "(100003, True, 2)"
says 'j["digests"][0]["sha256"]' "$(sha256sum "$work/in" | cut -d ' ' -f 1)"
host read bulk "$files/out" --length 100003 --json >"$work/said" || fail "read --json"
says '(j["bytes"], j["verified"], j["engine"])' "(100003, True, 'MMO DMA')"
cmp "$work/in" "$files/out" || fail "read: other bytes"
host read bulk --offset 3 --length 1000 >"$files/out" || fail "read to standard output"
cmp -n 1000 -i 3:0 "$work/in" "$files/out" || fail "read to standard output: other bytes"
[ "$(stat -c %s "$files/out")" -eq 1000 ] || fail "read to standard output: not 1000 bytes"
(sleep 0.2; head -c 50000 "$work/in"; sleep 0.2; tail -c +50001 "$work/in") |
	host write bulk --offset 5 >"$work/said" || fail "write from standard input"
grep -q 'moved  *100003 bytes host -> DPU' "$work/said" || fail "write: $(cat "$work/said")"
host cp ":bulk" "$files/out" --offset 5 --length 100003 >/dev/null || fail "cp :NAME FILE"
cmp "$work/in" "$files/out" || fail "cp :NAME FILE: other bytes"
host cp "$work/in" :bulk --file-offset 100 --length 77 --offset 9 >/dev/null || fail "cp FILE :NAME"
host cp :bulk - --offset 9 --length 77 >"$files/out" || fail "cp :NAME -"
cmp -n 77 -i 100:0 "$work/in" "$files/out" || fail "cp FILE :NAME: other bytes"
: >"$work/empty"
host write bulk - <"$work/empty" >"$work/said" || fail "write of nothing"
grep -q 'moved  *0 bytes' "$work/said" || fail "write of nothing: $(cat "$work/said")"
host write fast <"$work/in" >/dev/null 2>"$work/stderr" && fail "too much from standard input"
grep -q 'standard input does not fit into export fast, which has 4096 from' "$work/stderr" ||
	fail "too much from standard input: $(cat "$work/stderr")"
head -c 4096 "$work/in" | host write fast >/dev/null || fail "an export filled to its end"
host cp - fast "$files/out" <"$work/in" >/dev/null || fail "cp - NAME OUTFILE"
cmp "$work/in" "$files/out" || fail "cp - NAME OUTFILE: other bytes"
expect 4 'what is wanted of it is not all there' host write bulk "$work/in" --file-offset 100004
expect 4 'what is wanted of it is not all there' host write bulk "$work/in" --length 100004
expect 4 'standard input has no offsets' host write bulk --file-offset 1
expect 1 'standard input ended before the length' host write bulk --length 7 <"$work/empty"
expect 1 'cannot write to stdout' bash -c "$(declare -f host); socket=$socket; host read bulk >/dev/full"

# -- sparse: a file with holes comes back with holes, and the same bytes
truncate -s 700K "$work/holes"
printf something | dd of="$work/holes" bs=1 seek=300000 conv=notrunc status=none
host write bulk "$work/holes" >/dev/null || fail "write a file with holes"
host read bulk "$files/out" --length 700K --sparse >/dev/null || fail "read --sparse"
cmp "$work/holes" "$files/out" || fail "read --sparse: other bytes"
[ "$(stat -c %b "$files/out")" -lt 400 ] || fail "read --sparse: $(stat -c %b "$files/out") blocks"
host read bulk "$files/out" --length 700K >/dev/null || fail "read without --sparse"
[ "$(stat -c %b "$files/out")" -ge 1400 ] || fail "holes that were not asked for"

# -- fill and dump
host fill bulk >/dev/null || fail "fill with zeros"
host read bulk | cmp -n 1048576 - /dev/zero || fail "fill with zeros: other bytes"
host fill bulk 414243 --offset 10 --length 7 --json >"$work/said" || fail "fill --json"
says '(j["bytes"], j["verified"])' "(7, True)"
host dump bulk --length 64 >"$work/said" || fail "dump"
cat >"$work/wanted" <<'END'
00000000  00 00 00 00 00 00 00 00  00 00 41 42 43 41 42 43  |..........ABCABC|
00000010  41 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |A...............|
00000020  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
*
00000040
END
diff "$work/wanted" "$work/said" || fail "dump: other lines"
host dump bulk --offset 11 --length 5 >"$work/said" || fail "dump of a part"
cat >"$work/wanted" <<'END'
0000000b  42 43 41 42 43                                    |BCABC|
00000010
END
diff "$work/wanted" "$work/said" || fail "dump of a part: other lines"
host dump bulk --offset 10 --length 7 --json >"$work/said" || fail "dump --json"
says '(j["offset"], j["data"], j["verified"])' "(10, '41424341424341', True)"
if command -v hexdump >/dev/null; then
	{ head -c 100 "$work/in"; head -c 100 /dev/zero; tail -c 1003 "$work/in"; } >"$work/mixed"
	host write bulk "$work/mixed" >/dev/null || fail "write for dump"
	host dump bulk --length 1203 | diff - <(hexdump -C "$work/mixed") >/dev/null ||
		fail "dump is not what hexdump -C prints"
fi
expect 4 'export ro is read-only: the pattern cannot' host fill ro ff
expect 4 'the pattern has 2 bytes and does not fit' host fill fast 00 --offset 4095 --length 2

# -- bench
host bench fast --count 20 --json >"$work/said" || fail "bench --json"
says '[(r["direction"], r["size"], r["count"]) for r in j["results"]]' \
	"[('read', 64, 20), ('read', 512, 20), ('read', 4096, 20)]"
says 'all(0 < r["median_ns"] <= r["p99_ns"] and r["megabytes_per_second"] > 0 for r in j["results"])' True
host fill fast 77 >/dev/null
host bench fast --size 100 --write --count 3 >"$work/said" || fail "bench --write"
[ "$(grep -cE '^(read|write) +100 +3 ' "$work/said")" -eq 2 ] || fail "bench: $(cat "$work/said")"
host bench ro --size 8K >/dev/null || fail "bench of a read-only export"
expect 4 'export ro is read-only' host bench ro --write
expect 4 'export fast has 4096 bytes, too few for 4097' host bench fast --size 4097

expect_objects "after all commands" "$serving"

# -- import
host import bulk >"$work/said" || fail "import"
grep -q '^imported  *bulk, 1M' "$work/said" || fail "import: $(cat "$work/said")"
host import --descriptor "$files/fast.desc" --json >"$work/said" || fail "import --descriptor"
says '(j["event"], j["size"])' "('imported', 4096)"
expect 4 'cannot import a saved descriptor with device mlx5_1' \
	host --device mlx5_1 import --descriptor "$files/fast.desc"
expect_objects "after imports" "$serving"

# hold OPTION...: import --hold in the background, until it holds
hold()
{
	: >"$work/held"
	timeout -k 5 60 dpumap-emu run --as host -- dpumap --connect "$socket" import --hold "$@" \
		>"$work/held" 2>"$work/stderr" &
	holder=$!
	await grep -q imported "$work/held"
}

# end_hold STATUS PATTERN
end_hold()
{
	local status=0
	wait "$holder" || status=$?
	[ "$status" -eq "$1" ] || fail "import --hold ended with $status: $(cat "$work/stderr")"
	[ -z "$2" ] || grep -qE -- "$2" "$work/stderr" || fail "no \"$2\" in $(cat "$work/stderr")"
}

ctl add "name=soon,kind=dram,size=64K,allow=uid:$me" || fail "ctl add"
hold soon
ctl add "name=other,kind=dram,size=4K,allow=uid:$me" || fail "ctl add of another"
ctl remove other || fail "ctl remove of another"
ctl remove soon || fail "ctl remove"
end_hold 4 'export soon was removed: what was imported of it is revoked'
ctl add "name=soon,kind=dram,size=64K,allow=uid:$me" || fail "ctl add"
hold soon --json
ctl remove soon
end_hold 4 ''
tail -n 1 "$work/held" >"$work/said"
says '(j["event"], j["name"])' "('removed', 'soon')"
expect_objects "after revocations" "$serving"
hold bulk
kill -INT -- "-$holder"
end_hold 0 ''
[ ! -s "$work/stderr" ] || fail "an import that was ended says $(cat "$work/stderr")"
expect_objects "after an import that was ended" "$serving"

# -- watch
host watch --json --count 3 >"$work/heard" &
watcher=$!
await grep -q watching "$work/heard"
ctl add "name=new,kind=dram,size=4K,allow=uid:$me" || fail "ctl add"
ctl remove new || fail "ctl remove"
ctl add "name=new,kind=dm,size=4K,allow=uid:$me" || fail "ctl add again"
wait "$watcher" || fail "watch --count"
python3 -c '
import json, sys
heard = [json.loads(line) for line in open(sys.argv[1])]
assert [h["event"] for h in heard] == ["watching", "added", "removed", "added"], heard
assert [h.get("name") for h in heard[1:]] == ["new"] * 3, heard' "$work/heard" || fail "watch --json"
host watch --count 1 bulk >"$work/heard" &
watcher=$!
await grep -q watching "$work/heard"
ctl remove new || fail "ctl remove"
ctl remove bulk || fail "ctl remove of what the command line says"
wait "$watcher" || fail "watch of one"
[ "$(tail -n +2 "$work/heard")" = "removed  bulk" ] || fail "watch of one: $(cat "$work/heard")"

# A descriptor of what was removed is of no use, and dpumapd that goes is noticed.
host get fast "$work/old" >/dev/null || fail "get"
hold fast
host watch --json >"$work/heard" 2>"$work/watch.err" &
watcher=$!
await grep -q watching "$work/heard"
stop_agent
end_hold 1 'closed the connection: what was imported of export fast'
await grep -q '"lost"' "$work/heard"
start_agent --admin "$admin" --export name=fast,kind=dm,size=4K
await grep -q "\"back\"" "$work/heard"
[ ! -s "$work/watch.err" ] || fail "watch says $(cat "$work/watch.err")"
kill -KILL -- "-$watcher"
{ wait "$watcher" || true; } 2>/dev/null
expect 4 'cannot import a saved descriptor' host import --descriptor "$work/old"

# -- what need not be typed
export HOME=$work/home
tool() { timeout -k 5 60 dpumap-emu run --as host -- dpumap "$@"; }
(umask 077 && mkdir -p "$HOME/.config/dpumap")
conf=$HOME/.config/dpumap/dpumap.conf
DPUMAP_CONNECT=unix:$socket tool list | grep -q '^fast ' || fail "DPUMAP_CONNECT"
printf 'connect = "unix:%s";\ndevice = "mlx5_0";\ntimeout = 20;\n' "$socket" >"$conf"
tool list | grep -q '^fast ' || fail "the configuration"
printf 'connect = "unix:%s/none";\ndevice = "mlx5_1";\n' "$work" >"$conf"
expect 3 "cannot connect to dpumapd at $work/none" tool list
DPUMAP_CONNECT=$socket tool list >/dev/null || fail "the environment counts before the file"
DPUMAP_CONNECT=$work/no tool list --connect "$socket" >/dev/null || fail "the command line counts first"
expect 4 'cannot import fast with device mlx5_1' tool --connect "$socket" import fast
tool --connect "$socket" --device mlx5_0 import fast >/dev/null || fail "the device of the command line"
DPUMAP_CONNECT=tls:x expect 4 'DPUMAP_CONNECT: tls:x is no address' tool list
mv "$conf" "$work/elsewhere"
expect 3 "cannot connect to dpumapd at $work/none" tool list --config "$work/elsewhere"
expect 3 "cannot open $work/nowhere" tool list --config "$work/nowhere"
# wrong_conf PATTERN TEXT
wrong_conf() { echo "$2" >"$conf"; expect 4 "dpumap.conf:1: $1" tool list; }
wrong_conf 'colour is no setting of dpumap' 'colour = 1;'
wrong_conf "syntax error" "connect @;"
wrong_conf 'tls:x is no address' 'connect = "tls:x";'
wrong_conf 'timeout is a number of seconds' 'timeout = 0;'
wrong_conf 'cert is a path that begins with a slash' 'tls = { cert = "a"; };'
wrong_conf 'colour is none of cert, key' 'tls = { colour = "a"; };'
wrong_conf 'tls is a group' 'tls = "a";'
echo '@include "x"' >"$conf"
expect 4 'dpumap.conf: @include is not allowed' tool list
echo "connect = \"unix:$socket\";" >"$conf"
chmod 666 "$conf"
expect 4 'dpumap.conf has mode 0666, which lets others write it' tool list
chmod 644 "$conf"
chmod 777 "$HOME/.config"
expect 4 'home/.config has mode 0777, which lets others replace' tool list
chmod 700 "$HOME/.config"
tool list >/dev/null || fail "the configuration, when nobody else can write it"
rm "$conf"

# -- the bar: rate and remaining time on a terminal, and nothing left of it
truncate -s 8G "$work/long"
timeout -k 5 60 python3 "$here/terminal.py" 'MB/s ETA [0-9]+:[0-9]{2}:[0-9]{2}' \
	true 2>/dev/null && fail "terminal.py is happy with nothing"
timeout -k 5 60 python3 "$here/terminal.py" 'MB/s ETA [0-9]+:[0-9]{2}:[0-9]{2}' \
	dpumap-emu run --as host -- dpumap --connect "$socket" cp "$work/long" fast "$files/long" ||
	fail "no bar on a terminal"
rm "$files"/*
expect_no_files

stop_agent
expect_objects "after dpumapd" "$idle"
finish
