#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Run unmodified programs of the distribution on the emulated device: perftest, ibv_xsrq_pingpong,
# iproute2's rdma, infiniband-diags, UCX, libfabric, Open MPI, MPICH, librpma, uDAPL, QEMU, Ceph, DPDK and others.
# Exit status 77: the program is not installed.
set -euo pipefail
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../../integration/lib.sh"

emu=${1:?usage: programs.sh DPUMAP-EMU CASE [ARGUMENT...]}
case_name=${2:?usage: programs.sh DPUMAP-EMU CASE [ARGUMENT...]}
shift 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-programs.XXXXXX")
# Two programs of Open MPI that start at the same time fail to make the directory that they share by default.
export OMPI_MCA_orte_tmpdir_base=$tmp
emus=$(emulator_directory programs)
export DPUMAP_EMU_DIR=$emus/emu

cleanup()
{
	local pid
	for pid in $(jobs -p); do
		kill "$pid" 2>/dev/null || true
	done
	wait
	"$emu" stop >/dev/null 2>&1 || true
	rm -rf "$tmp" "$emus"
}
trap cleanup EXIT

fail()
{
	local file
	echo "$case_name: $*" >&2
	for file in "$tmp"/*.out; do
		[ ! -s "$file" ] || { echo "-- $(basename "$file")"; tail -n 25 "$file"; } >&2
	done
	exit 1
}

need()
{
	command -v "$1" >/dev/null || { echo "$case_name: $1 is not installed" >&2; exit 77; }
}

run_as()
{
	local function=$1
	shift
	timeout -k 1 "${patience:-300}" "$emu" run --as "$function" -- "$@"
}

# pair NAME PORT COMMAND...: run a server on the DPU's function and a client on the host's. COMMAND must
# accept "-p PORT [SERVER]" at its end.
pair()
{
	local name=$1 port=$2 server status=0
	shift 2
	run_as dpu "$@" -p "$port" >"$tmp/$name-server.out" 2>&1 &
	server=$!
	await_listener "$port" "$server" || fail "$name: the server does not listen"
	run_as host "$@" -p "$port" 127.0.0.1 >"$tmp/$name-client.out" 2>&1 ||
		fail "$name: the client ended with $?"
	wait "$server" || status=$?
	[ "$status" -eq "${server_ends_with:-0}" ] || fail "$name: the server ended with $status"
}

# has_measured PROGRAM FILE: the last line of numbers that perftest prints is "size iterations time ...". On a
# busy machine it cannot relate its clock to seconds; -F lets it go on, with times such as "inf" and "-nan".
has_measured()
{
	grep -qE '^ *[0-9]+ +[0-9]+ +([0-9.]+|-?inf|-?nan)' "$2" || fail "$1 measured nothing"
}

# On a busy machine, a program may not get the processor for as long as perftest's connections wait for an answer.
patient="-u 18"

# perftest PROGRAM ARGUMENT...
perftest()
{
	need "$1"
	# shellcheck disable=SC2086 # words
	pair "$1" "$(free_port)" "$@" -d mlx5_0 -F $patient
	has_measured "$1" "$tmp/$1-client.out"
}

# perftest_dc_events PROGRAM ARGUMENT...: with DC, the server keeps a completion queue of the channel that it then
# destroys, which libibverbs refuses, and it ends with 1
perftest_dc_events()
{
	local server_ends_with=1
	perftest "$@" -c DC -e
}

# counters: what perftest reads in sysfs, and rdma by netlink
counters()
{
	need rdma
	"$emu" start >/dev/null
	perftest ib_write_bw -n 100 -W counters/port_xmit_packets,hw_counters/rx_write_requests
	grep -qE 'counters/port_xmit_packets=[1-9]' "$tmp/ib_write_bw-client.out" ||
		fail "the client's port has sent no packets"
	run_as dpu rdma statistic show link mlx5_0/1 >"$tmp/rdma.out"
	grep -q ' rx_write_requests 100 ' "$tmp/rdma.out" || fail "the server's port counts no writes"
}

# await_status PATTERN PID: until the status of the emulator has such a line
await_status()
{
	for _ in $(seq 600); do
		if grep -q "$1" <("$emu" status --json 2>/dev/null); then
			return
		fi
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

# The addresses of the default GIDs of the first card, for the connection manager.
dpu_ip=127.100.0.1
host_ip=127.100.0.2

# end_server PID: end it, if it has not ended by itself
end_server()
{
	kill "$1" 2>/dev/null || true
	wait "$1" || true
	await_status '^  "contexts": 0,$' $$ || fail "the server's context stays"
}

# cm_pair NAME READY SERVER-COMMAND... -- CLIENT-COMMAND...: run a server on the DPU and, when the status
# of the emulator has a line with READY, a client on the host. With endless=1 the server is killed then.
# With again=PATTERN both run again, at most five times, if the client fails and prints that.
cm_pair()
{
	local all=("$@") name=$1 ready=$2 server words=() status=0
	shift 2
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	[ "${runs-}" ] || "$emu" start >/dev/null
	(exec timeout 300 "$emu" run --as dpu -- "${words[@]}" >"$tmp/$name-server.out" 2>&1) &
	server=$!
	await_status "$ready" "$server" || fail "$name: the server is not ready"
	run_as host "$@" >"$tmp/$name-client.out" 2>&1 || status=$?
	if [ "$status" -ne 0 ] && [ "${again-}" ] && [ "${runs:=1}" -lt 5 ] &&
		grep -q "$again" "$tmp/$name-client.out"; then
		end_server "$server"
		runs=$((runs + 1))
		cm_pair "${all[@]}"
		return
	fi
	[ "$status" -eq 0 ] || fail "$name: the client ended with $status"
	if [ "${endless-}" ]; then
		end_server "$server"
	else
		wait "$server" || status=$?
		[ "$status" -eq 0 ] || fail "$name: the server ended with $status"
	fi
	nothing_left
}
listens='"state": "LISTEN"'

# perftest_cm PROGRAM ARGUMENT...: queue pairs that the connection manager connects. The server ends one
# listener and begins another; a client that is faster is rejected, tries again and then crashes.
perftest_cm()
{
	need "$1"
	# shellcheck disable=SC2086 # words
	again=RDMA_CM_EVENT_REJECTED cm_pair perftest "$listens" "$@" -d mlx5_0 -F $patient -- "$@" -d mlx5_0 -F $patient "$dpu_ip"
	has_measured "$1" "$tmp/perftest-client.out"
}

# mckey GROUP: ten datagrams from a member of a multicast group to another one
mckey_case()
{
	need mckey
	cm_pair mckey '"attachments": 1' mckey -m "$1" -b "$dpu_ip" -- mckey -m "$1" -s -b "$host_ip"
	[ "$(grep -c '^return status 0$' "$tmp"/mckey-*.out | grep -c ':1$')" -eq 2 ] ||
		fail "mckey did not complete"
}

# rdmacm_pair PROGRAM PROOF ARGUMENT...: a program whose server has the option -b, its client -s, and both
# the arguments; the client prints a line that matches PROOF.
rdmacm_pair()
{
	local program=$1 proof=$2
	shift 2
	need "$program"
	cm_pair "$program" "$listens" "$program" -b "$dpu_ip" "$@" -- "$program" -s "$dpu_ip" "$@"
	grep -qE "$proof" "$tmp/$program-client.out" || fail "$program did not complete"
}

rping_case()
{
	need rping
	cm_pair rping "$listens" rping -s -a "$dpu_ip" "$@" -- rping -c -a "$dpu_ip" "$@"
	[ "$(grep -c '^ping data: ' "$tmp/rping-client.out")" -eq 20 ] || fail "rping lost pings"
}

rdma_client_case()
{
	need rdma_client
	cm_pair rdma "$listens" rdma_server -s "$dpu_ip" -- rdma_client -s "$dpu_ip"
	grep -q '^rdma_client: end 0$' "$tmp/rdma-client.out" || fail "rdma_client did not complete"
}

rcopy_case()
{
	need rcopy
	head -c 1000000 /dev/urandom >"$tmp/source"
	endless=1 cm_pair rcopy "$listens" rcopy -- rcopy "$tmp/source" "$dpu_ip:$tmp/copy"
	cmp "$tmp/source" "$tmp/copy" || fail "the copy differs"
}

# cmtime CONNECTIONS: all connections exist at the same time
cmtime_case()
{
	need cmtime
	endless=1 cm_pair cmtime "$listens" cmtime -b "$dpu_ip" -c "$1" -- cmtime -s "$dpu_ip" -c "$1"
	grep -qE '^destroy +: +[0-9.]+ ' "$tmp/cmtime-client.out" || fail "cmtime did not complete"
}

# qperf_client PORT TEST: the server names the port of its listener before it listens. A client that is
# faster is rejected and runs again, at most five times.
qperf_client()
{
	local status
	for _ in 1 2 3 4 5; do
		status=0
		run_as host qperf -lp "$1" -cm 1 "$dpu_ip" -t 1 "$2" >"$tmp/qperf-client.out" 2>&1 || status=$?
		if [ "$status" -eq 0 ] || ! grep -q 'RDMA CM: Event rejected' "$tmp/qperf-client.out"; then
			break
		fi
	done
	[ "$status" -eq 0 ] || fail "$2: the client ended with $status"
	grep -qE '^    (bw|latency|msg_rate) +=' "$tmp/qperf-client.out" || fail "$2 measured nothing"
}

# qperf with the connection manager; its server serves one client after the other
qperf_case()
{
	need qperf
	local port name
	"$emu" start >/dev/null
	port=$(free_port)
	(exec timeout 300 "$emu" run --as dpu -- qperf -lp "$port" >"$tmp/qperf-server.out" 2>&1) &
	await_listener "$port" $! || fail "the server does not listen"
	for name in rc_bw rc_lat rc_rdma_write_bw rc_rdma_read_lat rc_compare_swap_mr rc_fetch_add_mr; do
		qperf_client "$port" "$name"
	done
	kill %1
	wait %1 || true
}

# fio_case VERB: the server exposes memory, or receives; the client writes, reads or sends
fio_case()
{
	local common=(--ioengine=rdma --port=18515 "--verb=$1" --bs=4k --size=64k --iodepth=8)
	need fio
	grep -qw rdma <(fio --enghelp 2>/dev/null) || { echo "fio: built without rdma" >&2; exit 77; }
	cm_pair fio "$listens" fio --name=server "${common[@]}" --rw=read -- \
		fio --name=client "${common[@]}" --rw=write "--hostname=$dpu_ip"
	grep -q 'issued rwts: total=0,16,0,0 short=0,0,0,0 dropped=0,0,0,0' "$tmp/fio-client.out" ||
		fail "the client did not complete sixteen blocks"
}

# iSER: tgtd serves a disk, and libiscsi's own tests write and read it. The target reads from and writes to
# the memory of the initiator.
iser_case()
{
	local port server target=iqn.2026-01.example:disk name=iqn.2026-01.example:host
	local tests=(iscsi-test-cu -i "$name" -d -f) url=iser://$dpu_ip/$target/1
	export TGT_IPC_SOCKET=$tmp/tgt
	need tgtd
	need iscsi-test-cu
	truncate -s 4M "$tmp/disk"
	"$emu" start >/dev/null
	port=$(free_port)
	# It does not end at SIGTERM while it has a target, and deleting the target crashes it.
	(exec timeout -k 0.2 90 "$emu" run --as dpu -- tgtd -f --iscsi "portal=127.0.0.1:$port" \
		--iser pool_sz_mb=16 >"$tmp/tgtd.out" 2>&1) &
	server=$!
	await_listener "$port" "$server" || fail "tgtd does not listen"
	await_status "$listens" "$server" || fail "tgtd does not listen for iSER"
	tgtadm --lld iser --mode target --op new --tid 1 -T "$target"
	tgtadm --lld iser --mode target --op bind --tid 1 -I "$host_ip"
	tgtadm --lld iser --mode target --op bind --tid 1 -Q "$name"
	tgtadm --lld iser --mode logicalunit --op new --tid 1 --lun 1 -b "$tmp/disk"
	run_as host "${tests[@]}" -t ALL.Write10.Simple "$url" >"$tmp/iser-write.out" 2>&1 ||
		fail "writing ended with $?"
	# The test writes 1 to 256 blocks to the beginning and to the end.
	cmp -n 131072 "$tmp/disk" <(head -c 131072 /dev/zero | tr '\0' '\246') || fail "other bytes were written"
	run_as host "${tests[@]}" -t ALL.Read10.Simple "$url" >"$tmp/iser-read.out" 2>&1 ||
		fail "reading ended with $?"
	end_server "$server"
	nothing_left
}

# qemu_case PIN-ALL: a virtual machine without a processor moves from the host to the DPU, with its memory. The memory of
# the machine that waits is empty.
qemu_case()
{
	local machine=(qemu-system-x86_64 -M none -accel tcg -m 32 -nodefaults -display none -S -monitor stdio)
	local server commands at=0x100000 len=8000000 status=0
	need qemu-system-x86_64
	head -c "$len" /dev/urandom >"$tmp/memory"
	"$emu" start >/dev/null
	mkfifo "$tmp/commands"
	(exec timeout 300 "$emu" run --as dpu -- "${machine[@]}" -incoming defer <"$tmp/commands" \
		>"$tmp/qemu-server.out" 2>&1) &
	server=$!
	exec {commands}>"$tmp/commands"
	printf 'migrate_set_capability rdma-pin-all %s\nmigrate_incoming rdma:%s:4444\n' "$1" "$dpu_ip" >&"$commands"
	await_status "$listens" "$server" || fail "qemu does not listen"
	run_as host "${machine[@]}" -device loader,file="$tmp/memory",addr=$at,force-raw=on >"$tmp/qemu-client.out" 2>&1 \
		< <(printf '%s\n' "migrate_set_capability rdma-pin-all $1" "migrate rdma:$dpu_ip:4444" \
			"info migrate" quit) || fail "the machine that moves ended with $?"
	grep -q 'Migration status: completed' "$tmp/qemu-client.out" || fail "the machine did not move"
	printf 'pmemsave %s %s "%s"\nquit\n' "$at" "$len" "$tmp/copy" >&"$commands"
	exec {commands}>&-
	wait "$server" || status=$?
	[ "$status" -eq 0 ] || fail "the machine that waited ended with $status"
	cmp "$tmp/memory" "$tmp/copy" || fail "the memory differs"
	nothing_left
}

# A monitor of Ceph on the DPU stores a value, and a client on the host reads it again.
ceph_case()
{
	local port server fsid=11111111-2222-3333-4444-555555555555
	need ceph-mon
	need ceph
	"$emu" start >/dev/null
	port=$(free_port)
	export CEPH_CONF=$tmp/ceph.conf
	cat >"$CEPH_CONF" <<-END
		[global]
		fsid = $fsid
		mon_host = [v2:$dpu_ip:$port]
		auth_cluster_required = none
		auth_service_required = none
		auth_client_required = none
		ms_type = async+rdma
		ms_async_rdma_device_name = mlx5_0
		ms_async_rdma_receive_buffers = 256
		ms_async_rdma_send_buffers = 256
		ms_async_rdma_receive_queue_len = 128
		mon_data = $tmp/mon
		mon_cluster_log_file = $tmp/cluster.log
		log_file = $tmp/ceph.log
		run_dir = $tmp
		crash_dir = $tmp
	END
	mkdir "$tmp/mon"
	monmaptool --create --addv a "[v2:$dpu_ip:$port]" --fsid "$fsid" "$tmp/monmap" >"$tmp/ceph-map.out" 2>&1
	run_as dpu ceph-mon -i a --mkfs --monmap "$tmp/monmap" >"$tmp/ceph-make.out" 2>&1 ||
		fail "the monitor is not made"
	(exec timeout 300 "$emu" run --as dpu -- ceph-mon -i a -f >"$tmp/ceph-mon.out" 2>&1) &
	server=$!
	await_listener "$port" "$server" || fail "the monitor does not listen"
	head -c 30000 /dev/urandom | base64 -w 0 >"$tmp/value"
	run_as host ceph config-key set key -i "$tmp/value" >"$tmp/ceph-set.out" 2>&1 || fail "set ended with $?"
	run_as host ceph config-key get key >"$tmp/got" 2>"$tmp/ceph-get.out" || fail "get ended with $?"
	cmp "$tmp/value" "$tmp/got" || fail "the value differs"
	# The value went there and back.
	[ "$("$emu" status | awk '$1 == "bytes" { print $2 }')" -gt 80000 ] || fail "the data went another way"
	end_server "$server"
	nothing_left
}

# json COMMAND CONDITION: check a Python condition on `o`, the output of `rdma -j COMMAND`
json()
{
	# shellcheck disable=SC2086
	rdma -j $1 >"$tmp/rdma.out" || fail "rdma -j $1 ended with $?"
	/usr/bin/python3 -c "
import json, sys
o = json.load(open(sys.argv[1]))
assert $2, o" "$tmp/rdma.out" || fail "rdma -j $1: not as expected: $2"
}

# Runs in one emulated machine, while a program in it holds objects.
rdma_inside()
{
	local server
	json "dev show" "[d['ifname'] for d in o] == ['mlx5_0'] and o[0]['node_type'] == 'ca'"
	json "link show" "o[0]['state'] == 'ACTIVE' and o[0]['netdev'] == 'lo'"
	json "resource show" "o[0]['ctx'] == 0 and o[0]['qp'] == 0"
	"$1" >/dev/null 2>&1 &
	server=$!
	trap 'kill -9 $(jobs -p) 2>/dev/null || true' EXIT
	for _ in $(seq 1200); do
		grep -q '"qp":1,' <(rdma -j resource show) && break
		sleep 0.05
	done
	json "resource show" "all(o[0][k] >= 1 for k in ('pd', 'cq', 'qp', 'mr', 'ctx'))"
	json "resource show qp" "[q['type'] for q in o] == ['RC'] and o[0]['pid'] == $server"
	json "resource show cq" "len(o) == 1 and o[0]['cqe'] > 0 and o[0]['pid'] == $server"
	json "resource show mr" "len(o) == 1 and o[0]['mrlen'] > 0 and o[0]['pid'] == $server"
	json "resource show pd" "len(o) == 1 and o[0]['pid'] == $server"
	json "resource show ctx" "o[0]['comm'] == '$(<"/proc/$server/comm")'"
	json "resource show cm_id" "o == []"
	json "resource show srq" "o == []"
	kill -9 "$server"
	for _ in $(seq 1200); do
		grep -q '"ctx":0' <(rdma -j resource show) && break
		sleep 0.05
	done
	json "resource show" "all(o[0][k] == 0 for k in ('pd', 'cq', 'qp', 'mr', 'ctx'))"
	ibv_srq_pingpong -q 2 >/dev/null 2>&1 &
	server=$!
	for _ in $(seq 1200); do
		grep -q '"qp":2,' <(rdma -j resource show) && break
		sleep 0.05
	done
	json "resource show srq" \
		"len(o) == 1 and o[0]['type'] == 'BASIC' and len(o[0]['lqpn']) >= 1 and o[0]['pid'] == $server"
	kill -9 "$server"
	# The emulated machine does not allow administration of its devices.
	! rdma dev set mlx5_0 name other 2>"$tmp/rdma.out" || fail "a device could be renamed"
	grep -q "not supported" "$tmp/rdma.out" || fail "renaming was refused in another way"
}

rdma_netlink()
{
	need rdma
	need ibv_rc_pingpong
	"$emu" start --cards 2 >/dev/null
	export -f rdma_inside json fail
	export tmp case_name
	run_as dpu bash -euc 'rdma_inside ibv_rc_pingpong' || exit 1
	# The host sees both cards.
	run_as host rdma dev show >"$tmp/rdma.out" || fail "rdma dev on the host failed"
	[ "$(grep -cE '^[01]: mlx5_[01]: ' "$tmp/rdma.out")" -eq 2 ] || fail "not two devices"
	# libibverbs finds its devices this way, without reading the class directory.
	run_as host ibv_devices >"$tmp/rdma.out" || fail "ibv_devices failed"
	grep -q 'mlx5_1 ' "$tmp/rdma.out" || fail "ibv_devices does not list both"
}

# ibstat and ibstatus read the class directory; ibstatus is a shell script, ibstat a C program.
diags()
{
	need ibstat
	need ibstatus
	run_as dpu ibstat >"$tmp/ibstat.out" 2>&1 || fail "ibstat ended with $?"
	grep -q 'State: Active' "$tmp/ibstat.out" || fail "ibstat: the port is not active"
	grep -q 'Rate: 400' "$tmp/ibstat.out" || fail "ibstat: another rate"
	run_as dpu ibstatus >"$tmp/ibstatus.out" 2>&1 || fail "ibstatus ended with $?"
	grep -q "device 'mlx5_0' port 1 status" "$tmp/ibstatus.out" || fail "ibstatus: no port"
	! grep -q unknown "$tmp/ibstatus.out" || fail "ibstatus prints unknown values"
	# Management datagrams are not supported: ibping must report that at once.
	! run_as dpu ibping -c 1 1 >"$tmp/ibping.out" 2>&1 || fail "ibping pings"
	grep -q 'is ib_umad module loaded' "$tmp/ibping.out" || fail "ibping fails in another way"
}

# Drivers that begin at the PCI bus find the function, by the usual path and by $SYSFS_PCI_DEVICES.
pci_bus()
{
	local here=/sys/bus/pci/devices/0000:3c:00.0 other
	"$emu" start --cards 2 >/dev/null
	run_as host ls /sys/bus/pci/devices >"$tmp/pci.out" || fail "the bus cannot be listed"
	printf '0000:3b:00.0\n0000:3c:00.0\n' | diff - "$tmp/pci.out" || fail "other functions on the bus"
	cmp "$(run_as host printenv SYSFS_PCI_DEVICES)/0000:3c:00.0/uevent" \
		<(run_as host cat "$here/uevent") || fail "SYSFS_PCI_DEVICES differs"
	run_as host cat "$here/uevent" >"$tmp/pci.out" || fail "no uevent"
	grep -qx 'PCI_SLOT_NAME=0000:3c:00.0' "$tmp/pci.out" || fail "uevent names another slot"
	grep -qx 'PCI_ID=15B3:A2DC' "$tmp/pci.out" || fail "uevent names another device"
	grep -qx "MODALIAS=$(run_as host cat "$here/modalias")" "$tmp/pci.out" || fail "another alias"
	run_as host cat "$here/vendor" "$here/device" "$here/class" "$here/subsystem_vendor" \
		"$here/subsystem_device" | tr '\n' ' ' >"$tmp/pci.out"
	grep -qx '0x15b3 0xa2dc 0x020000 0x15b3 0x0001 ' "$tmp/pci.out" || fail "other ids"
	[ "$(run_as host readlink "$here/driver")" = ../../../bus/pci/drivers/mlx5_core ] || fail "another driver"
	run_as host test -e /sys/bus/pci/drivers/mlx5_core/0000:3b:00.0 || fail "the driver lacks the function"
	[ "$(run_as host cat "$here/resource" | wc -l)" -eq 13 ] || fail "not 13 resources"
	grep -qx ' b3 15 dc a2' <(run_as host od -An -tx1 -N4 "$here/config") || fail "another configuration"
	# Functions of the machine are found by their own path.
	for other in /sys/bus/pci/devices/*; do
		[ ! -e "$other/vendor" ] || run_as host cat "$other/vendor" >/dev/null || fail "$other is hidden"
	done
	"$emu" stop >/dev/null
}

# on_dpdk OUTPUT DRIVER PROGRAM ARGUMENT...: a program of DPDK with this driver of the function, on one processor
on_dpdk()
{
	local out=$1 driver=$2 program=$3 cpu
	shift 3
	cpu=$(/usr/bin/python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
	run_as dpu "$program" --no-huge -m 512 --no-telemetry --no-shconf --iova-mode=va \
		"--lcores=0@$cpu,1@$cpu" -a "0000:03:00.0,$driver" "$@" >"$out" 2>&1
}

# Part of a file is compressed and decompressed by the card, and compared. Its length matters, as there are no huge
# pages: if a buffer begins in the last page of another pool, DPDK uses that pool's key for it.
compresses()
{
	head -c 800000 "$emu" >"$tmp/input"
	on_dpdk "$tmp/dpdk.out" class=compress dpdk-test-compress-perf -- --driver-name mlx5_pci --input-file "$tmp/input" \
		--seg-sz 4096 --max-num-sgl-segs 1 --num-iter 1 --huffman-enc dynamic --ptest verify
}

# DPDK's compress driver, unmodified, and its own tests. Its release knows the engine of BlueField-2; that of
# BlueField-3 only decompresses, and the program wants both.
dpdk_compress()
{
	need dpdk-test-compress-perf
	need dpdk-test
	"$emu" start --profile bluefield-2 >/dev/null
	compresses || fail "the file is another one, or the card failed: $(tail -n 3 "$tmp/dpdk.out")"
	[ "$("$emu" status | awk '$1 == "copies" { print $2 }')" -gt 100 ] || fail "the card did not do it"
	printf 'compressdev_autotest\nquit\n' | on_dpdk "$tmp/autotest.out" class=compress dpdk-test || true
	grep -q 'Tests Failed : *0' "$tmp/autotest.out" || fail "$(grep -a ' failed' "$tmp/autotest.out")"
	grep -q 'Tests Passed : *9' "$tmp/autotest.out" || fail "DPDK ran other tests than expected"
	nothing_left
	"$emu" stop >/dev/null
	"$emu" start >/dev/null
	! compresses || fail "BlueField-3 compresses"
	grep -q 'Probe PCI driver: mlx5_pci (15b3:a2dc) device: 0000:03:00.0' "$tmp/dpdk.out" ||
		fail "the driver does not probe the function"
	grep -q 'Not enough capabilities to support compress operation' "$tmp/dpdk.out" ||
		fail "the driver fails before it asks for compression"
	nothing_left
}

# bytes_of HEX: "0x01, 0x02"
bytes_of() { sed 's/../0x&, /g; s/, $//' <<<"$1"; }

# vector FILE KEY TEXT TAG: of AES-GCM, as DPDK's program reads it. McGrew and Viega, appendix B: cases 4 and 16.
vector()
{
	local iv=cafebabefacedbaddecaf888 aad=feedfacedeadbeeffeedfacedeadbeefabaddad2 plain
	plain=d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
	plain+=1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
	printf 'plaintext =\n%s\naead_key =\n%s\naead_iv =\n%s\naad =\n%s\nciphertext =\n%s\n[case]\ndigest =\n%s\n' \
		"$(bytes_of "$plain")" "$(bytes_of "$2")" "$(bytes_of $iv)" "$(bytes_of $aad)" "$(bytes_of "$3")" \
		"$(bytes_of "$4")" >"$1"
}

# crypto VECTOR OPERATION KEY-BYTES ARGUMENT...: 200 operations, each of which is compared with the vector
crypto()
{
	local file=$1 operation=$2 key=$3
	shift 3
	on_dpdk "$tmp/dpdk.out" class=crypto,algo=1 dpdk-test-crypto-perf -- --devtype mlx5_pci --ptest verify \
		--optype aead --aead-algo aes-gcm --aead-op "$operation" --aead-key-sz "$key" --aead-iv-sz 12 \
		--aead-aad-sz 20 --digest-sz 16 --buffer-sz 60 --desc-nb 64 --pool-sz 2048 --burst-sz 8 --total-ops 200 \
		--test-file "$file" --test-name case "$@"
}

# The columns: lcore, size, burst, enqueued, dequeued, ..., failed operations.
all_are_right() { [ "$(awk 'NF == 8 && $2 == 60 { print $4, $5, $8 }' "$tmp/dpdk.out")" = "200 200 0" ]; }

# DPDK's crypto driver, unmodified. With segments of 38 bytes it changes mkeys first (UMR), and then releases the queue
# of the engine (SEND_EN). cryptodev_mlx5_autotest cannot run: before each of its cases it sets up 128 queues of 4096
# mkeys each. The driver never returns an operation that has failed, so a wrong tag ends the program by a timeout.
dpdk_crypto()
{
	local sealed operation segment key=feffe9928665731c6d6a8f9467308308
	need dpdk-test-crypto-perf
	sealed=42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
	sealed+=21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091
	vector "$tmp/16" $key $sealed 5bc94fbc3221a5db94fae95ae7121a47
	vector "$tmp/wrong" $key $sealed 5bc94fbc3221a5db94fae95ae7121a46
	sealed=522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
	sealed+=8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
	vector "$tmp/32" $key$key $sealed 76fc6ece0f4e1768cddf8853bb2d551b
	"$emu" start >/dev/null
	for key in 16 32; do
		for operation in encrypt decrypt; do
			for segment in 38 76; do
				crypto "$tmp/$key" $operation $key --segment-sz $segment || true
				all_are_right || fail "$operation, $key, $segment: $(tail -n 3 "$tmp/dpdk.out")"
			done
		done
	done
	crypto "$tmp/32" encrypt 32 --segment-sz 76 --out-of-place || true
	all_are_right || fail "out of place: $(tail -n 3 "$tmp/dpdk.out")"
	[ "$("$emu" status | awk '$1 == "copies" { print $2 }')" -ge 1800 ] || fail "the card did not do it"
	! patience=3 crypto "$tmp/wrong" decrypt 16 || fail "a wrong tag is not detected"
	grep -q 'CQE ERR:0x2, Vendor_ERR:0x9d, OP:0x2f' "$tmp/dpdk.out" || fail "the driver knows no wrong tag"
	nothing_left
	"$emu" stop >/dev/null
	"$emu" start --profile bluefield-2 >/dev/null
	! crypto "$tmp/16" encrypt 16 || fail "BlueField-2 encrypts"
	grep -q 'Not enough capabilities to support crypto operations' "$tmp/dpdk.out" ||
		fail "the driver fails before it asks for encryption"
	nothing_left
}

# ring COMPILER SOURCE PROOF LAUNCHER...: a program that passes data around, over UCX, with two ranks on each of two
# hosts. It compares what it receives.
ring()
{
	local compiler=$1 source=$2 proof=$3
	shift 3
	export UCX_TLS="rc_mlx5,ud_mlx5,self" UCX_NET_DEVICES=mlx5_0:1
	need "$compiler"
	need "$1"
	"$compiler" -o "$tmp/ring" "$(dirname "$0")/$source"
	"$emu" start --nodes 2 --profile bluefield-2 >/dev/null
	timeout 300 "$@" -np 2 "$emu" run --as host -- "$tmp/ring" : \
		-np 2 "$emu" run --as node1.host -- "$tmp/ring" >"$tmp/ring.out" 2>&1 || fail "$1 ended with $?"
	grep -qx "$proof" "$tmp/ring.out" || fail "the ring did not complete"
	[ "$("$emu" status | awk '$1 == "copies" { print $2 }')" -gt 0 ] || fail "no data went over the device"
	nothing_left
}

open_mpi=(--allow-run-as-root --oversubscribe --mca pml ucx --mca osc ucx -x UCX_TLS -x UCX_NET_DEVICES)

mpi()
{
	ring mpicc.openmpi mpi_ring.c 'ring of 4' mpirun.openmpi "${open_mpi[@]}"
}

# librpma is a library without programs. Its server takes the address of a port, its client also 127.0.0.1.
rpma_case()
{
	[ -e /usr/include/librpma.h ] || { echo "$case_name: librpma-dev is not installed" >&2; exit 77; }
	gcc -o "$tmp/rpma_copy" "$(dirname "$0")/rpma_copy.c" -lrpma -libverbs
	cm_pair rpma "$listens" "$tmp/rpma_copy" server "$dpu_ip" -- "$tmp/rpma_copy" client "$1"
	[ "$(grep -c ': the same bytes$' "$tmp"/rpma-*.out | grep -c ':1$')" -eq 2 ] || fail "rpma_copy did not complete"
}

# Its ranks would use shared memory: all are on one machine.
mpich()
{
	MPIR_CVAR_NOLOCAL=1 ring mpicc.mpich mpi_ring.c 'ring of 4' mpiexec.mpich -launcher fork
}

openshmem()
{
	SHMEM_SYMMETRIC_SIZE=4M ring oshcc shmem_ring.c 'ring of 4, counted 400' oshrun "${open_mpi[@]}" \
		--mca spml ucx -x SHMEM_SYMMETRIC_SIZE
}

# dtest_side NAME FUNCTION DEVICE ARGUMENT...: uDAPL finds its device by the only provider in a file
dtest_side()
{
	local name=$1 function=$2
	echo "emu u2.0 nonthreadsafe default $3 dapl.2.0 \"$4\" \"\"" >"$tmp/$name.conf"
	shift 4
	DAT_OVERRIDE=$tmp/$name.conf run_as "$function" stdbuf -oL dtest -P emu -b 4096 "$@" >"$tmp/dtest-$name.out" 2>&1
}

# dtest LIBRARY SERVER-DEVICE CLIENT-DEVICE ADDRESS ARGUMENT...: the client finds the server's address by TCP
dtest_case()
{
	local library=$1 of_server=$2 of_client=$3 address=$4 server status=0
	shift 4
	need dtest
	"$emu" start >/dev/null
	dtest_side server dpu "$library" "$of_server" -s "$@" &
	server=$!
	for _ in $(seq 600); do
		! grep -q 'waiting for client' "$tmp/dtest-server.out" 2>/dev/null || break
		kill -0 "$server" 2>/dev/null || fail "the server ended"
		sleep 0.05
	done
	dtest_side client host "$library" "$of_client" -h "$address" "$@" || fail "the client ended with $?"
	wait "$server" || status=$?
	[ "$status" -eq 0 ] || fail "the server ended with $status"
	[ "$(grep -c 'DAPL Test Complete. PASSED' "$tmp"/dtest-*.out | grep -c ':1$')" -eq 2 ] ||
		fail "dtest did not pass"
	nothing_left
}

ucx_info_case()
{
	need ucx_info
	run_as dpu ucx_info -d >"$tmp/ucx.out" 2>&1 || fail "ucx_info ended with $?"
	grep -q 'Memory domain: mlx5_0' "$tmp/ucx.out" || fail "UCX lists no memory domain mlx5_0"
	grep -q 'Connection manager: rdmacm' "$tmp/ucx.out" || fail "UCX cannot open the connection manager"
}

# The server may notice the end of a program late.
nothing_left()
{
	local kinds=(contexts pds mrs cqs qps srqs umems ahs attachments cm_ids cm_connections channels)
	local each
	each=$(IFS='|' && echo "${kinds[*]}")
	for _ in $(seq 600); do
		"$emu" status >"$tmp/status"
		[ "$(grep -cxE "($each) 0" "$tmp/status")" -ne ${#kinds[@]} ] || return 0
		sleep 0.05
	done
	fail "the programs left $(grep -xE "($each) [1-9][0-9]*" "$tmp/status" | tr '\n' ' ')"
}

# ucx PROFILE TRANSPORTS ARGUMENT...: UCX's mlx5 transports recognize BlueField-2 by its PCI id, but not
# yet BlueField-3.
ucx()
{
	need ucx_perftest
	export UCX_NET_DEVICES=mlx5_0:1 UCX_TLS=$2
	"$emu" start --profile "$1" >/dev/null
	shift 2
	pair ucx "$(free_port)" ucx_perftest "$@"
	grep -qE '^Final: +[0-9]+ ' "$tmp/ucx-client.out" || fail "ucx_perftest measured nothing"
	! grep -q ERROR "$tmp"/ucx-*.out || fail "ucx_perftest reports errors"
	nothing_left
}

# fi_ended FILE PID: until the program has printed what it measured, or has ended
fi_ended()
{
	for _ in $(seq 600); do
		if grep -qE '^4k +20 +=20 ' "$1" || ! kill -0 "$2" 2>/dev/null; then
			return
		fi
		sleep 0.05
	done
}

# fi_pingpong_case PROVIDER ENDPOINT: messages with integrity checks, in both directions. stdbuf: a program
# that is killed prints nothing else.
fi_pingpong_case()
{
	local port server client status=0 options=(-p "$1" -e "$2" -I 20 -S 4096 -c)
	need fi_pingpong
	"$emu" start "${addresses[@]}" >/dev/null
	port=$(free_port)
	(exec timeout 300 "$emu" run --as dpu -- stdbuf -oL fi_pingpong "${options[@]}" -B "$port" \
		>"$tmp/fi-server.out" 2>&1) &
	server=$!
	await_listener "$port" "$server" || fail "the server does not listen"
	(exec timeout 300 "$emu" run --as host -- stdbuf -oL fi_pingpong "${options[@]}" -P "$port" 127.0.0.1 \
		>"$tmp/fi-client.out" 2>&1) &
	client=$!
	if [ "$1" = "verbs;ofi_rxm" ]; then
		# Its last message is lost if it finds the end of the connection before it reads its completion.
		fi_ended "$tmp/fi-client.out" "$client"
		fi_ended "$tmp/fi-server.out" "$server"
		kill "$client" "$server" 2>/dev/null || true
		wait "$client" "$server" || true
		await_status '^  "contexts": 0,$' $$ || fail "a context stays"
	else
		wait "$client" || fail "the client ended with $?"
		wait "$server" || status=$?
		[ "$status" -eq 0 ] || fail "the server ended with $status"
	fi
	[ "$(grep -cE '^4k +20 +=20 ' "$tmp"/fi-*.out | grep -c ':1$')" -eq 2 ] || fail "messages were lost"
	nothing_left
}
addresses=()

# libfabric looks for addresses of its devices at interfaces other than the loopback interface: run the
# case in a network namespace that has one.
fi_rxm_case()
{
	local own=(unshare --net)
	need fi_pingpong
	need ip
	[ "$(id -u)" -eq 0 ] || own+=(--map-root-user)
	"${own[@]}" ip link add fi0 type veth peer name fi1 2>/dev/null ||
		{ echo "fi_pingpong: cannot create network namespaces and interfaces" >&2; exit 77; }
	"${own[@]}" "$0" "$emu" fi-rxm-inside
}

fi_rxm_inside()
{
	addresses=(--gid "dpu 192.0.2.1" --gid "host 192.0.2.2")
	ip link set lo up
	ip link add fi0 type veth peer name fi1
	ip addr add 192.0.2.1/24 dev fi0
	ip addr add 192.0.2.2/24 dev fi1
	ip link set fi0 up
	ip link set fi1 up
	fi_pingpong_case "verbs;ofi_rxm" rdm
}

fi_info_case()
{
	need fi_info
	run_as dpu fi_info -p verbs >"$tmp/fi.out" 2>&1 || fail "fi_info ended with $?"
	grep -q 'domain: mlx5_0' "$tmp/fi.out" || fail "libfabric's verbs provider does not list mlx5_0"
}

# Run all kinds of programs at the same time: eight pairs, so 16 processes.
mixed()
{
	local pids=() i=0 command pid
	local commands=("ib_write_bw -n 200" "ib_read_bw -n 200" "ib_send_bw -n 100"
		"ib_write_lat -n 100" "ib_atomic_bw -n 100" "ib_read_lat -n 100"
		"ib_write_bw -q 4 -n 100" "ib_send_lat -n 100")
	need ib_write_bw
	"$emu" start >/dev/null
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086
		pair "mixed-$i" "$(free_port)" $command -d mlx5_0 -F $patient &
		pids+=("$!")
		i=$((i + 1))
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "one of the programs failed"
	done
	nothing_left
}

# xsrq CLIENTS ARGUMENT...: run a server, and clients that share an XRC domain. The server sends to each
# client over the connections of all clients.
xsrq()
{
	local clients=$1 port server i pid pids=() status=0
	shift
	need ibv_xsrq_pingpong
	"$emu" start >/dev/null
	port=$(free_port)
	run_as dpu ibv_xsrq_pingpong -g 0 -p "$port" -c "$clients" "$@" >"$tmp/xsrq-server.out" 2>&1 &
	server=$!
	await_listener "$port" "$server" || fail "the server does not listen"
	for i in $(seq "$clients"); do
		run_as host ibv_xsrq_pingpong -g 0 -p "$port" "$@" 127.0.0.1 \
			>"$tmp/xsrq-$i.out" 2>&1 &
		pids+=("$!")
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "a client ended with $?"
	done
	wait "$server" || status=$?
	[ "$status" -eq 0 ] || fail "the server ended with $status"
	! grep -iE 'invalid|fail|error' "$tmp"/xsrq-*.out >/dev/null || fail "a client or the server reports an error"
	nothing_left
}

case $case_name in
perftest) perftest "$@" ;;
perftest-dc-events) perftest_dc_events "$@" ;;
counters) counters ;;
perftest-cm) perftest_cm "$@" ;;
mckey) mckey_case "$@" ;;
rdmacm) rdmacm_pair "$@" ;;
rping) rping_case "$@" ;;
rdma-client) rdma_client_case ;;
rcopy) rcopy_case ;;
cmtime) cmtime_case "$@" ;;
qperf) qperf_case ;;
fio) fio_case "$@" ;;
iser) iser_case ;;
ceph) ceph_case ;;
qemu) qemu_case "$@" ;;
rdma) rdma_netlink ;;
diags) diags ;;
pci-bus) pci_bus ;;
dpdk-compress) dpdk_compress ;;
dpdk-crypto) dpdk_crypto ;;
mpi) mpi ;;
mpich) mpich ;;
openshmem) openshmem ;;
rpma) rpma_case "$@" ;;
dtest) dtest_case "$@" ;;
ucx-info) ucx_info_case ;;
ucx) ucx "$@" ;;
fi-pingpong) fi_pingpong_case "$@" ;;
fi-rxm) fi_rxm_case ;;
fi-rxm-inside) fi_rxm_inside ;;
fi-info) fi_info_case ;;
mixed) mixed ;;
xsrq) xsrq "$@" ;;
*) fail "unknown case" ;;
esac
