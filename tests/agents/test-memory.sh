#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Exports of main memory on huge pages and on a NUMA node, as far as this machine has them.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"

start_emulator --profile bluefield-3
idle=$(objects)
head -c 300001 /dev/urandom >"$work/in"

# crosses EXPORT: a file goes there and back
crosses()
{
	host cp "$work/in" "$1" "$files/out" >/dev/null || fail "cp $1"
	cmp "$work/in" "$files/out" || fail "cp $1: other bytes"
	rm "$files/out"
}

# A kernel may have none, and user-mode emulation of a processor has not.
has_nodes()
{
	local said
	said=$(on_dpu dpumapd --listen "$socket" --export name=far,kind=dram,size=1M,node=65535 2>&1) || true
	[[ $said != *'the kernel knows no NUMA nodes'* ]]
}
if has_nodes; then
	start_agent --export name=near,kind=dram,size=1M,node=0
	crosses near
	stop_agent
	expect_objects "after an export on a node" "$idle"
	expect 3 'on NUMA node 65535: not found' on_dpu env DPUMAP_LOG_LEVEL=off dpumapd \
		--listen "$socket" --export name=far,kind=dram,size=1M,node=65535
else
	echo '[  SKIPPED ] nodes'
fi

free=$(awk '$1 == "HugePages_Free:" { print $2 }' /proc/meminfo)
if [ "${free:-0}" -ge 1 ]; then
	start_agent --export name=huge,kind=dram,size=1M,pages=huge
	[ "$(awk '$1 == "HugePages_Free:" { f = $2 } $1 == "HugePages_Rsvd:" { r = $2 }
		END { print f - r }' /proc/meminfo)" -lt "$free" ] || fail "no huge page was taken"
	crosses huge
	stop_agent
	expect_objects "after an export on huge pages" "$idle"
fi
expect 5 'bytes of huge pages: (out of memory|operation not supported)' on_dpu env DPUMAP_LOG_LEVEL=off dpumapd --listen "$socket" \
	--export name=vast,kind=dram,size=900G,pages=huge
expect_no_files
finish
