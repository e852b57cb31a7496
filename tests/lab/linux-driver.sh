#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# linux-driver.sh WHAT BUILD SHARE [OPTION...]: the functions of an emulated card are PCI devices of a virtual machine, or
# of one each (WHAT is pair), whose own mlx5 driver drives them; see test-driver.sh. The options are those of `vm run`. No
# object of the firmware may be left.
# Exit status 77: Debian's archive cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=${1:?usage: linux-driver.sh WHAT BUILD SHARE [OPTION...]} build=$(realpath "$2") share=$3
shift 3
dir=$(mktemp -d)
export DPUMAP_EMU_DIR=$dir/emu
emu=$build/bin/dpumap-emu

end()
{
	[ -z "${watcher-}" ] || kill "$watcher"
	"$emu" stop >/dev/null || true # which ends the functions
	wait
	rm -rf "$dir"
}
trap end EXIT

# objects: what lives on the card, one a line
objects() { "$emu" status | sed -n '/^contexts /,/^dm_bytes /p'; }

# watch_objects: the end of a machine destroys the objects of its functions. So when all machines have unloaded their
# driver, they wait until this has compared them. A file "left" says that there were some.
watch_objects()
{
	local role waiting
	while sleep 0.2; do
		waiting=()
		for role in "${roles[@]}"; do
			[ ! -e "$share/$role.unloaded" ] || waiting+=("$share/$role.unloaded")
		done
		[ ${#waiting[@]} -eq ${#roles[@]} ] || continue
		objects >"$dir/unloaded"
		diff "$dir/before" "$dir/unloaded" || touch "$share/left"
		rm "${waiting[@]}"
	done
}

# offer FUNCTION: as PCI device, by the socket of this name
offer()
{
	"$emu" pci --as "$1" --socket "$dir/$1" >"$dir/$1.log" 2>&1 &
	for ((i = 0; i < 600; i++)); do
		[ ! -S "$dir/$1" ] || return 0
		kill -0 $! 2>/dev/null || break
		sleep 0.1
	done
	cat "$dir/$1.log"
	exit 1
}

"$emu" start >/dev/null
offer host
offer dpu
objects >"$dir/before"
test=(env "DRIVER_ROUNDS=${DRIVER_ROUNDS-100}" "DRIVER_NEWEST=${DRIVER_NEWEST-}" "DRIVER_SUITES=${DRIVER_SUITES-perftests tools on_demand pyverbs two_machines}"
	bash "$here/test-driver.sh" "$what" "$build")
roles=(host)
machines=(run --pci "$dir/host" --pci "$dir/dpu" "$@" -- "${test[@]}")
if [ "$what" = pair ]; then
	roles=(host dpu)
	machines=(pair --host-pci "$dir/host" --dpu-pci "$dir/dpu" "$@" "${test[*]@Q}" "${test[*]@Q}")
fi
rm -rf "$share"
mkdir -p "$share"
watch_objects &
watcher=$!
status=0
"$here/vm" "${machines[@]:0:1}" --share "$share" --timeout "${DRIVER_TIMEOUT-3600}" "${machines[@]:1}" || status=$?
[ "$status" -ne 77 ] || exit 77 # Debian's archive cannot be reached
[ "$status" -eq 0 ] || cat "$dir"/*.log
for role in "${roles[@]}"; do
	"$here/check-kernel.sh" "$share/$role.dmesg" || status=1
done
for ((i = 0; i < 100; i++)); do # the functions notice the end of the machine a little later
	objects >"$dir/after"
	! cmp -s "$dir/before" "$dir/after" || exit "$status"
	sleep 0.1
done
diff "$dir/before" "$dir/after"
