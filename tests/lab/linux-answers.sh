#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# linux-answers.sh BUILD SHARE [SEED [OPTION...]]: the same commands to the emulated kernel of programs and to Linux, whose
# driver drives a function of an emulated card in a virtual machine; their answers differ in nothing but what
# tests/emu/answers/accepted.txt names. The options are those of `vm run`.
# Exit status 77: Debian's archive cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${1:?usage: linux-answers.sh BUILD SHARE [SEED [OPTION...]]}") share=$2 seed=${3:-$RANDOM}
shift $(($# < 3 ? $# : 3))
dir=$(mktemp -d)
export DPUMAP_EMU_DIR=$dir/emu
emu=$build/bin/dpumap-emu

end()
{
	"$emu" stop >/dev/null || true # which ends the function
	wait
	rm -rf "$dir"
}
trap end EXIT

mkdir -p "$share"
"$emu" start >/dev/null
"$emu" run --as host -- "$build/tests/kernel_answers" "$seed" >"$share/emulated"
# The counters of the next card begin at 0, too.
"$emu" stop >/dev/null
"$emu" start >/dev/null
"$emu" pci --as host --socket "$dir/socket" >"$dir/log" 2>&1 &
for ((i = 0; i < 600; i++)); do
	[ ! -S "$dir/socket" ] || break
	kill -0 $! || { cat "$dir/log"; exit 1; }
	sleep 0.1
done
status=0
"$here/vm" run --no-rxe --pci "$dir/socket" --share "$share" --timeout 3600 "$@" -- \
	bash "$here/test-answers.sh" "$build" "$seed" || status=$?
[ "$status" -eq 0 ] || { cat "$dir/log"; exit "$status"; }
echo "seed $seed"
"$here/../emu/answers/compare.py" "$share/emulated" "$share/linux" "$here/../emu/answers/accepted.txt"
