#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-gdb.sh EMU PROGRAM: each command of scripts/gdb/dpumap.py prints what an object has, and no access key.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/integration/lib.sh
. "$tree/tests/integration/lib.sh"

emu=$1
program=$2
work=$(emulator_directory gdb)
export DPUMAP_EMU_DIR=$work/emu
trap '"$emu" stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

readelf -S "$program" >"$work/sections"
grep -q '\.debug_info' "$work/sections" || { echo "skipped: this build has no debug information" >&2; exit 77; }

# LeakSanitizer cannot trace a process that gdb traces.
export ASAN_OPTIONS=${ASAN_OPTIONS-}${ASAN_OPTIONS:+:}detect_leaks=0
"$emu" start >/dev/null
commands=()
for command in 'dpumap map exported' 'dpumap descriptor described' 'dpumap queue tasks.dma' \
	'dpumap queue tasks.dma->queue' 'dpumap engine' 'dpumap queue exported' 'dpumap map tasks.dma->waiting' \
	kill 'dpumap engine'; do
	commands+=(-ex "echo \\n== $command\\n" -ex "$command")
done
gdb -nx -batch -x "$tree/scripts/gdb/dpumap.py" -ex 'set confirm off' -ex 'set breakpoint pending on' \
	-ex 'break at_rest' -ex run "${commands[@]}" \
	--args "$emu" run --as dpu -- "$program" --emu "$emu" </dev/null >"$work/out" 2>&1 || true
if grep -qE 'ptrace: Operation not permitted|Could not trace the inferior' "$work/out"; then
	echo "skipped: this container or machine does not allow ptrace" >&2
	exit 77
fi

# What depends on the place of memory, on keys and on the engine's sleep, is replaced.
sed -nE '/^== dpumap map exported/,/^== kill/{
	s/0x[0-9a-f]{6,}/ADDRESS/g
	s/(device: )[0-9a-f]{16}/\1GUID/
	s/((lkey|rkey|mkey): )0x[0-9a-f]+/\1KEY/
	s/(usable|armed|exclusive|asleep) (yes|no)/\1 YES-OR-NO/g
	s/pass: (none|within one)/pass: EITHER/
	/^$/d
	p
}' "$work/out" >"$work/found"
cat >"$work/expected" <<'END'
== dpumap map exported
state: MMAP_STARTED
range: 8192 bytes at ADDRESS
access: DOCA_ACCESS_FLAG_PCI_READ_WRITE
source: not imported
bufs: 0
device: mlx5_0
  region: 8192 bytes at ADDRESS, keys begin at ADDRESS
  lkey: KEY
  rkey: KEY
  PCI: descriptor of 80 bytes
  RDMA: not exported
  access key of the program: none
== dpumap descriptor described
kind: PCI
source: memory
access: DOCA_ACCESS_FLAG_PCI_READ_WRITE
device: GUID, vhca 0
mkey: KEY
range: 8192 bytes at ADDRESS
access key: set, not shown
== dpumap queue tasks.dma
send queue: QP 0x40, 64 blocks, depth 64
  posted: 3
  rung: 3
  completed: 3
== dpumap queue tasks.dma->queue
copy queue: QP 0x40, depth 64
  engine: DMA
  next: 0
  in flight: 0
  unflushed: 0
  failed: no
== dpumap engine
engine: slot 0, abandoned no
  doorbells: usable YES-OR-NO, armed YES-OR-NO, exclusive YES-OR-NO
  events to send: 0
  endpoints on the network: 0
  encryption keys: none
  pass: EITHER, asleep YES-OR-NO
  copies: 3, 24576 bytes, 0 failed
  QP 0x40: RC RTS, send CQ 1, receive CQ 1, 3 blocks executed, 64 in the ring
  CQ 1: 3 completions, 128 entries, overrun no
== dpumap queue exported
exported is a struct doca_mmap; dpumap queue prints dpumap_sq, dpumap_queue, dpumap_rdma_queue, dpumap_dma, doca_dma
== dpumap map tasks.dma->waiting
tasks.dma->waiting is NULL
== kill
END
if ! diff -u "$work/expected" "$work/found" >"$work/differ"; then
	cat "$work/differ" "$work/out" >&2
	exit 1
fi
grep -q '^there is no process and no core' "$work/out" || { cat "$work/out"; echo "FAIL: without a process" >&2; exit 1; }
