#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Print the instructions that a program's thread executes for one operation, on the emulated card, counted by
# callgrind. BUILD is a Release build. tests/static/check-instructions.sh compares them with instructions.txt.
set -euo pipefail
# shellcheck source=scripts/lib/instructions.sh
. "$(dirname "$0")/../../scripts/lib/instructions.sh"

bin=$(cd "${1:?usage: instructions.sh BUILD}/bin" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-instructions.XXXXXX")
export DPUMAP_EMU_DIR=$tmp/emu
trap '"$bin/dpumap-emu" stop >/dev/null 2>&1 || true; rm -rf "$tmp"' EXIT
"$bin/dpumap-emu" start >/dev/null

show()
{
	printf '%-28s %5d\n' "$1" "$2"
}

# count NAME NUMBER PROGRAM OPTION...: measure again, with longer pauses, if the program has polled while the engine
# waited for a processor.
count()
{
	local name=$1 number=$2 program=$3 now least=
	shift 3
	for patience in 1 2 4 8 16 32 64 128 256; do
		now=$(DPUMAP_BENCH_PATIENCE=$patience instructions "$tmp/log" 'measured_*' "$number" \
			"$bin/dpumap-emu" run --as dpu -- valgrind "$bin/$program" "$@")
		[ -n "$least" ] && [ "$least" -lt "$now" ] || least=$now
		grep -q '[1-9][0-9]* empty polls' "$tmp/log" || break
	done
	show "$name" "$least"
}

# The benchmarks of tasks execute one batch more than requested: the first one.
count_task()
{
	local name=$1 batch=$2
	shift 2
	count "$name, batches of $batch" $((64 + batch)) "$@" --batch "$batch"
}

cat <<'END'
# Instructions for one operation: x86-64, gcc 12, Release. After a change that is meant to cost or save some:
#   tests/bench/instructions.sh build-lanes/release >tests/bench/instructions.txt
END
show descriptor "$(instructions "$tmp/log" desc_bench_run 1000 \
	valgrind "$bin/bench_desc" --codec dpumap --count 1000)"
count buf 3200 bench_buf --count 3200
count 'parent domain' 100 bench_domain --create 100
for batch in 1 32; do
	count_task 'DMA task' "$batch" bench_task --only task --copies 64
	count_task 'compress task' "$batch" bench_compress --only task --tasks 64
	count_task 'AES-GCM task' "$batch" bench_aes_gcm --only task --tasks 64
	count_task 'verbs write' "$batch" bench_verbs --only task --tasks 64
	for op in write read send; do
		count_task "RDMA $op" "$batch" bench_rdma --only task --op "$op" --tasks 64
	done
done
