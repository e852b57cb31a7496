#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# linux-driver.sh BUILD SHARE [OPTION...]: both functions of an emulated card are PCI devices of a virtual machine,
# whose own mlx5 driver drives them (test-driver.sh). The options are those of `vm run`. No object of the firmware may
# be left.
# Exit status 77: Debian's archive cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: linux-driver.sh BUILD SHARE [OPTION...]} share=$2
shift 2
dir=$(mktemp -d)
export DPUMAP_EMU_DIR=$dir/emu
emu=$build/bin/dpumap-emu
functions=()

end()
{
	"$emu" stop >/dev/null || true # which ends the functions
	wait
	rm -rf "$dir"
}
trap end EXIT

# objects: what lives on the card, one a line
objects()
{
	"$emu" status | grep -E '^(contexts|pds|mkeys|umems|cqs|qps|srqs|uars|mrs) '
}

# offer FUNCTION: as PCI device, by the socket of this name
offer()
{
	"$emu" pci --as "$1" --socket "$dir/$1" >"$dir/$1.log" 2>&1 &
	for ((i = 0; i < 600; i++)); do
		[ ! -S "$dir/$1" ] || return 0
		kill -0 $! || break
		sleep 0.1
	done
	cat "$dir/$1.log"
	exit 1
}

"$emu" start >/dev/null
for function in host dpu; do
	offer "$function"
	functions+=(--pci "$dir/$function")
done
objects >"$dir/before"
status=0
"$here/vm" run "${functions[@]}" --share "$share" --timeout 900 "$@" -- bash "$here/test-driver.sh" "$build" ||
	status=$?
[ "$status" -ne 77 ] || exit 77 # Debian's archive cannot be reached
[ "$status" -eq 0 ] || cat "$dir"/*.log
"$here/check-kernel.sh" "$share/host.dmesg" || status=1
for ((i = 0; i < 100; i++)); do # the functions notice the end of the machine a little later
	objects >"$dir/after"
	! cmp -s "$dir/before" "$dir/after" || exit "$status"
	sleep 0.1
done
diff "$dir/before" "$dir/after"
