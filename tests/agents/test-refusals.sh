#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Bad input of every kind: one line that says what and why, a status, and nothing left behind.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"

start_emulator --cards 2
idle=$(objects)

# -- nobody serves
expect 3 "cannot connect to dpumapd at $socket: No such file" host list
expect 3 "cannot connect to dpumapd at $socket: No such file" host cp /bin/sh fast "$files/out"

# -- dpumapd
start_agent --export name=all,kind=dm,size=max
grep -qE 'exports all: dm, [0-9]+[KM]?,' "$log" || fail "size=max"
stop_agent
expect 4 'export huge: 1099511627776 bytes of device memory wanted, mlx5_0 has at most [0-9]+' \
	on_dpu dpumapd --listen "$socket" --export name=huge,kind=dm,size=1T
expect 4 'export odd: .* multiple of 4, not 4097' \
	on_dpu dpumapd --listen "$socket" --export name=odd,kind=dm,size=4097
expect 3 'there is no device mlx5_7' \
	on_dpu dpumapd --device mlx5_7 --listen "$socket" --export name=a,kind=dram,size=4K
expect 5 'export vast: cannot allocate [0-9]+ bytes: Cannot allocate memory' \
	on_dpu dpumapd --listen "$socket" --export name=vast,kind=dram,size=1000000T
expect 4 'export a: device memory aligned to 1048576 bytes wanted, mlx5_0 can do 4096' \
	on_dpu dpumapd --listen "$socket" --export name=a,kind=dm,size=4K,align=1M
expect 3 'cannot listen on .*/none/socket: No such file' \
	on_dpu dpumapd --listen "$work/none/socket" --export name=a,kind=dram,size=4K
echo precious >"$files/file"
expect 4 'cannot listen on .*/file: it exists and is not a socket' \
	on_dpu dpumapd --listen "$files/file" --export name=a,kind=dram,size=4K
[ "$(cat "$files/file")" = precious ] || fail "dpumapd destroyed a file"
rm "$files/file"
[ ! -e "$socket" ] || fail "a refused dpumapd left its socket"
expect_objects "after refused exports" "$idle"

start_agent --export name=fast,kind=dm,size=64K --export name=bulk,kind=dram,size=1M \
	--export name=ro,kind=dram,size=1M,perm=ro
serving=$(objects)
expect 3 "cannot listen on $socket: it is busy" \
	on_dpu dpumapd --listen "$socket" --export name=a,kind=dram,size=4K
host list >/dev/null || fail "a second dpumapd disturbed the first"

# -- files
expect 3 "cannot open $files/none: No such file" host cp "$files/none" fast "$files/out"
expect 3 "cannot open $files/none: No such file" host put "$files/none" fast
expect 4 "$files is not a regular file" host put "$files" fast
expect 4 "/dev/zero is not a regular file" host put /dev/zero fast
expect 3 "cannot write $files/none/out: No such file" host cp /bin/sh fast "$files/none/out"
expect 4 "cannot write $files: .*not a regular file" host read fast "$files"
expect 4 "cannot write /dev/null: .*not a regular file" host read fast /dev/null
[ -c /dev/null ] || fail "/dev/null is gone"

# -- exports
expect 3 'there is no export called "none"' host info none
expect 3 'there is no export called "none"' host cp /bin/sh none "$files/out"
expect 3 'there is no export called "../fast"' host read ../fast "$files/out"
head -c 65537 /dev/zero >"$work/in"
expect 4 "65537 bytes and does not fit into export fast, which has 65536 from offset 0" \
	host put "$work/in" fast
expect 4 "does not fit into export fast, which has 0 from offset 65536" \
	host put "$work/in" fast --offset 64K
expect 4 "offset 65537 is outside of export fast, which has 65536 bytes" \
	host put "$work/in" fast --offset 65537
expect 4 "the part asked for has 2 bytes and does not fit" \
	host read fast "$files/out" --offset 65535 --length 2
expect 4 "offset 18446744073709551615 is outside" \
	host read fast "$files/out" --offset 18446744073709551615 --length 1
expect 4 "export ro is read-only" host put "$work/in" ro
expect 4 "export ro is read-only" host cp "$work/in" ro "$files/out"

# -- devices
expect 4 'cannot import fast with device mlx5_1: only functions of card [0-9a-f]{16} can' \
	host --device mlx5_1 cp /bin/sh fast "$files/out"
expect 3 'there is no device mlx5_9' host --device mlx5_9 cp /bin/sh fast "$files/out"
if [ "$(dpumap list -c "$socket" | wc -l)" -ne 4 ]; then
	fail "listing needs a device"
fi

# -- descriptors
host get fast "$work/good" >/dev/null || fail get
size=$(stat -c %s "$work/good")
for cut in 0 1 11 $((size - 1)); do
	head -c "$cut" "$work/good" >"$work/bad"
	expect 4 "the descriptor of $work/bad \($cut bytes\) is not valid: .*DPUMAP_DESC_ERR_" \
		host info --descriptor "$work/bad"
done
# One bit in every eighth byte; the codec's own tests flip them all.
for ((at = 0; at < size; at += 8)); do
	byte=$(od -An -tu1 -j "$at" -N 1 "$work/good")
	cp "$work/good" "$work/bad"
	printf '%b' "\\x$(printf %02x $((byte ^ 1 << at / 8 % 8)))" |
		dd of="$work/bad" bs=1 seek="$at" conv=notrunc status=none
	expect 4 "the descriptor of $work/bad .* is not valid" dpumap info --descriptor "$work/bad"
done
cat "$work/good" "$work/good" >"$work/bad"
expect 4 "is not valid: .*DPUMAP_DESC_ERR_" dpumap info --descriptor "$work/bad"
expect 4 "is not a descriptor: [0-9]+ bytes" dpumap info --descriptor /bin/sh
expect 3 "cannot open $work/none" dpumap info --descriptor "$work/none"

# -- looked at without a device: the key only for who asks, and the byte that is wrong
dpumap desc check "$work/good" | grep -qx good || fail "desc check"
dpumap desc show - <"$work/good" | grep -qx 'access_key   redacted' || fail "desc show"
dpumap desc show --json "$work/good" | grep -qx '  "access_key": null,' || fail "desc show --json"
key=$(od -An -v -tx1 -j 48 -N 32 "$work/good" | tr -d ' \n')
[ "$(dpumap desc show "$work/good" | grep -c "$key")" -eq 0 ] || fail "desc show shows the key"
dpumap desc show --show-secret "$work/good" | grep -qx "access_key   $key" ||
	fail "desc show --show-secret"
head -c 30 "$work/good" >"$work/bad"
expect 4 "$work/bad: byte 30: fewer bytes than the total length \(TRUNCATED\)" \
	dpumap desc show "$work/bad"
expect 4 "$work/bad: byte 30: .*TRUNCATED" dpumap desc check --json "$work/bad"
expect 4 "/bin/sh: byte 512: more bytes than any descriptor has" dpumap desc check /bin/sh
expect 3 "cannot read $work/none" dpumap desc show "$work/none"
expect 3 "cannot read $work" dpumap desc check "$work"

expect_no_files
expect_objects "after all refusals" "$serving"
stop_agent
expect_objects "after dpumapd" "$idle"
finish
