#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-asan.sh EMU SOURCE: programs with AddressSanitizer start below `dpumap-emu run` without options, and
# what the user preloads comes first.
set -euo pipefail

emu=$1
source=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-asan.XXXXXX")
export DPUMAP_EMU_DIR=$work/emu
unset ASAN_OPTIONS LD_PRELOAD
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0
compiled=0

fail()
{
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

run() { "$emu" run --as dpu -- "$@" >"$work/out" 2>&1; }

# program NAME COMPILER FLAG...: it runs, also as the child of a shell, and its errors are found
program()
{
	local name=$1
	shift
	if ! "$@" -g "$source" -o "$work/$name" -libverbs 2>"$work/err"; then
		echo "$name is not compiled here: $(head -n 1 "$work/err")"
		return
	fi
	compiled=$((compiled + 1))
	run "$work/$name" || fail "$name: $(cat "$work/out")"
	grep -q '^registered$' "$work/out" || fail "$name: no device: $(cat "$work/out")"
	if run sh -c "$work/$name 1"; then
		fail "$name: an error is not found"
	fi
	grep -q heap-buffer-overflow "$work/out" || fail "$name: $(cat "$work/out")"
}

# runtime COMPILER FLAG...: an option that finds the shared runtime of a compiler
runtime() { printf -- '-Wl,-rpath,%s' "$(dirname "$("$@" -print-file-name=libclang_rt.asan-"$(uname -m)".so)")"; }

program gcc gcc -fsanitize=address
program gcc-undefined gcc -fsanitize=address,undefined
program gcc-static gcc -fsanitize=address -static-libasan
if command -v clang >/dev/null; then
	program clang clang -fsanitize=address
	program clang-shared clang -fsanitize=address -shared-libasan "$(runtime clang)"
fi
[ "$compiled" -gt 0 ] || fail "no program was compiled"

library=$(gcc -print-file-name=libasan.so)
LD_PRELOAD=$(readlink -f "$library") run env
grep -q "^LD_PRELOAD=$(readlink -f "$library"):.*/libdpumap-emu.so\$" "$work/out" ||
	fail "the user's library is not the first: $(grep LD_PRELOAD "$work/out")"
ASAN_OPTIONS=detect_leaks=0 run "$work/gcc" || fail "with the user's options: $(cat "$work/out")"

exit $((failures > 0))
