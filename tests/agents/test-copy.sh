#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# usage: test-copy.sh [PROFILE ENGINE]: files of all sizes through exports of both kinds, one of
# DPUMAP_COPY_BYTES
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
profile=${1:-bluefield-3}
engine=${2:-MMO DMA}
large=${DPUMAP_COPY_BYTES:-50000000}

start_emulator --profile "$profile"
idle=$(objects)
start_agent --export name=fast,kind=dm,size=64K --export name=bulk,kind=dram,size=16M \
	--export name=ro,kind=dram,size=12345,perm=ro --export name=rest,kind=dm,size=4,align=4K
serving=$(objects)

digest() { sha256sum "$1" | cut -d ' ' -f 1; }

# cp_file FILE EXPORT: there and back, with what the tool says about it
cp_file()
{
	host cp "$1" "$2" "$files/out" >"$work/said" || fail "cp $1 $2"
	cmp "$1" "$files/out" || fail "cp $1 $2: other bytes"
	[ "$(grep -c "$(digest "$1")" "$work/said")" -eq 3 ] || fail "cp $1 $2: not three digests"
	grep -q "$engine" "$work/said" || fail "cp $1 $2: not by $engine"
	grep -q "^descriptor  *[1-9][0-9]* bytes" "$work/said" || fail "cp $1 $2: no descriptor"
	grep -q " MB/s " "$work/said" || fail "cp $1 $2: no speed"
	rm "$files/out"
}

for size in 0 1 3 65535 65536 65537 1000003; do
	head -c "$size" /dev/urandom >"$work/in"
	cp_file "$work/in" fast
	cp_file "$work/in" bulk
done
head -c "$large" /dev/urandom >"$work/in"
cp_file "$work/in" bulk
head -c 1003 /dev/urandom >"$work/in"
cp_file "$work/in" rest

# put and read, at offsets that are no multiple of anything
head -c 300001 /dev/urandom >"$work/in"
host put "$work/in" bulk --offset 777777 >/dev/null || fail put
host read --offset=777777 bulk "$files/out" --length 300001 >/dev/null || fail read
cmp "$work/in" "$files/out" || fail "put and read: other bytes"
host read bulk "$files/out" -o 777787 -n 13 >/dev/null || fail "read of a part"
cmp -n 13 -i 10:0 "$work/in" "$files/out" || fail "read of a part: other bytes"
[ "$(stat -c %s "$files/out")" -eq 13 ] || fail "read of a part: not 13 bytes"
head -c 4099 /dev/urandom >"$work/in"
host put "$work/in" fast -o 1 >/dev/null || fail "put into device memory"
host read fast "$files/out" -o 1 -n 4099 >/dev/null || fail "read from device memory"
cmp "$work/in" "$files/out" || fail "device memory: other bytes"

# A whole export, which is all zero at first, and a read-only one.
host read ro "$files/out" >/dev/null || fail "read a read-only export"
cmp -n 12345 /dev/zero "$files/out" || fail "a fresh export is not zero"
[ "$(stat -c %s "$files/out")" -eq 12345 ] || fail "get: not all of the export"
rm "$files/out"

# How much memory of the card there is besides: 64K and 4 bytes, of 64, are taken.
host info >"$work/said" || fail "info of the device"
total=$(sed -n 's/^  total .*(\([0-9]*\) bytes)$/\1/p' "$work/said")
left=$(sed -n 's/^  free .*(\([0-9]*\) bytes)$/\1/p' "$work/said")
piece=$(sed -n 's/^  in a piece .*(\([0-9]*\) bytes)$/\1/p' "$work/said")
[ $((total - left)) -eq $((65536 + 64)) ] || fail "info: total $total, free $left"
if [ "$piece" -le 0 ] || [ "$piece" -gt "$left" ]; then
	fail "info: $piece free in a piece of $left"
fi
grep -qE '^device +mlx5_0 of the DPU$' "$work/said" || fail "info: which device"
expect_objects "after looking at the device" "$serving"

host list >"$work/said" || fail list
grep -qE '^fast +dm +64K +read-write +PCI$' "$work/said" || fail "list: fast"
grep -qE '^ro +dram +12345 +read-only +PCI$' "$work/said" || fail "list: ro"
host info fast >"$work/said" || fail info
grep -q '^kind .*device memory' "$work/said" || fail "info: kind"

# The descriptor alone, in a file that only its owner reads.
(umask 0; host get fast "$files/fast.desc") >/dev/null || fail get
[ "$(stat -c %a "$files/fast.desc")" = 600 ] || fail "get: mode"
host info --descriptor "$files/fast.desc" >"$work/said" || fail "info --descriptor"
grep -q '65536 bytes' "$work/said" || fail "info --descriptor: size"
rm "$files/fast.desc"

# No progress bar and nothing else on stderr when it is no terminal.
host cp /bin/sh bulk "$files/out" >/dev/null 2>"$work/stderr" || fail "cp to a pipe"
[ ! -s "$work/stderr" ] || fail "cp writes to stderr: $(cat "$work/stderr")"
rm "$files/out"

# Somebody else writes to the export meanwhile: that is noticed, and nothing false is kept.
truncate -s $((6 * large)) "$work/in"
head -c 65536 /dev/urandom >"$work/noise"
while :; do host put "$work/noise" fast || true; done >/dev/null 2>&1 &
noise=$!
expect 1 'the SHA-256 digests differ' host cp "$work/in" fast "$files/out"
grep -q 'THE DIGESTS DIFFER' "$work/stdout" || fail "the report does not say that digests differ"
kill -KILL -- "-$noise"
wait "$noise" 2>/dev/null || true

expect_objects "after all copies" "$serving"
stop_agent
expect_objects "after dpumapd" "$idle"
expect_no_files
finish
