#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-topology.sh EMU: the machines of docs/emu/machines, as programs find their cards below /sys.
set -euo pipefail
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../../integration/lib.sh"

emu=$1
here=$(cd "$(dirname "$0")" && pwd)
emus=$(emulator_directory topology)
export DPUMAP_EMU_DIR=$emus/emu

clean_up()
{
	"$emu" stop >/dev/null 2>&1 || true
	rm -rf "$emus"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

start() { "$emu" start --config "$here/../../../docs/emu/machines/$1.conf"; }

# shows FUNCTION: the paths on standard input
shows()
{
	"$emu" run --as "$1" -- python3 "$here/pci_tree.py" >"$emus/found" || exit 1
	diff - "$emus/found" || {
		echo "FAIL: $1 shows another tree" >&2
		exit 1
	}
}

# switched ROOT UPSTREAM DOWNSTREAM CARD NODE NAME RATE: the path of a card behind a switch
switched()
{
	local link="$5 $8"
	echo "pci0000:${1%%:*} - 0000:$1 0x060400 $link - 0000:$2 0x060400 $link - 0000:$3 0x060400 $link -" \
		"0000:$4 0x020000 $link - $6 $7"
}

start workstation
shows host <<-'END'
	nodes 0 10
	pci0000:00 - 0000:00:01.0 0x060400 0 8.0 GT/s PCIe x16 - 0000:3b:00.0 0x020000 0 8.0 GT/s PCIe x16 - mlx5_0 100 Gb/sec (4X EDR)
END
"$emu" stop

start dgx
fast="32.0 GT/s PCIe x16" ndr="400 Gb/sec (4X NDR)"
{
	echo "nodes 0-1 21 10"
	switched 00:01.0 39:00.0 3a:00.0 3b:00.0 0 mlx5_0 "$ndr" "$fast"
	switched 00:01.0 39:00.0 3a:01.0 3c:00.0 0 mlx5_1 "$ndr" "$fast"
	switched 00:02.0 3d:00.0 3e:00.0 3f:00.0 0 mlx5_2 "$ndr" "$fast"
	switched 00:02.0 3d:00.0 3e:01.0 40:00.0 0 mlx5_3 "$ndr" "$fast"
	switched 60:01.0 61:00.0 62:00.0 63:00.0 1 mlx5_4 "$ndr" "$fast"
	switched 60:01.0 61:00.0 62:01.0 64:00.0 1 mlx5_5 "$ndr" "$fast"
	switched 60:02.0 65:00.0 66:00.0 67:00.0 1 mlx5_6 "$ndr" "$fast"
	switched 60:02.0 65:00.0 66:01.0 68:00.0 1 mlx5_7 "$ndr" "$fast"
} | shows host
"$emu" stop

start rack
"$emu" port speed 25 --as node1.host --device mlx5_3
{
	echo "nodes 0-1 21 10"
	switched 00:01.0 39:00.0 3a:00.0 3b:00.0 0 mlx5_0 "200 Gb/sec (4X HDR)" "16.0 GT/s PCIe x16"
	switched 00:01.0 39:00.0 3a:01.0 3c:00.0 0 mlx5_1 "200 Gb/sec (4X HDR)" "16.0 GT/s PCIe x16"
	switched 60:01.0 61:00.0 62:00.0 63:00.0 1 mlx5_2 "200 Gb/sec (4X HDR)" "16.0 GT/s PCIe x16"
	switched 60:01.0 61:00.0 62:01.0 64:00.0 1 mlx5_3 "100 Gb/sec (4X EDR)" "16.0 GT/s PCIe x16"
} | shows node1.host
found=$("$emu" run --as dpu -- python3 "$here/pci_tree.py" | tail -n 1)
[ "$found" = "$(switched 00:00.0 01:00.0 02:00.0 03:00.0 -1 mlx5_0 "$ndr" "$fast")" ] || {
	echo "FAIL: the DPU shows $found" >&2
	exit 1
}
