#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-driver.sh WHAT BUILD: in a virtual machine whose PCI devices are functions of a card, Linux's driver drives them.
#   one     both functions, for programs of rdma-core and perftest, for dpumap, and for users of RDMA in the kernel
#   pair    the host's function or the DPU's, in two machines with a common /lab: the DPU exports, the host copies
#   suites  both functions: perftest, `rdma`, rdma-core's Python suite, and the library's tests for two real machines
#   reload  DRIVER_ROUNDS times both modules are loaded, both functions reloaded by devlink, both modules unloaded, and
#           both functions reset (FLR)
set -euo pipefail
what=$1 build=$2 here=$(dirname "$0")
# shellcheck source=tests/lab/until.sh
. "$here/until.sh"
mapfile -t functions < <(grep -lx 0x15b3 /sys/bus/pci/devices/*/vendor)
functions=("${functions[@]%/vendor}")
export PATH=$build/bin:$PATH LD_LIBRARY_PATH=$build/lib
cd "$(mktemp -d)"
umask 077

# gid_index DEVICE: of its GID of RoCEv2 for an IPv4 address
gid_index()
{
	local at=/sys/class/infiniband/$1/ports/1 gid
	for gid in "$at"/gids/*; do
		if grep -q '^0000:0000:0000:0000:0000:ffff:' "$gid" &&
			grep -q v2 "$at/gid_attrs/types/${gid##*/}" 2>/dev/null; then
			echo "${gid##*/}"
			return 0
		fi
	done
	return 1
}

# address NUMBER: of the device mlx5_NUMBER
address()
{
	local first=1
	[ "$LAB_ROLE" = host ] || first=2
	echo "10.44.$((first + $1)).1"
}

few_keys=prof_sel=0 # an option of mlx5_core: it does not create thousands of mkeys in advance

# How often mlx5_ib has given a function up: it waits 100 ms for the first work request, which is little if the machine
# is busy, and does not try again.
given_up() { dmesg | grep -c 'Error -110 while trying to test write-combining' || true; }

# is_probed BEFORE: are all devices there, or has the driver given up since?
is_probed()
{
	local number
	[ "$(given_up)" -eq "$1" ] || return 0
	for number in "${!functions[@]}"; do
		test -d "/sys/class/infiniband/mlx5_$number/device/net" || return 1
	done
}

# load OPTION...: of mlx5_core
load()
{
	local before tries
	for ((tries = 0; tries < 20; tries++)); do
		before=$(given_up)
		modprobe mlx5_core "$@"
		modprobe -a mlx5_ib ib_uverbs rdma_ucm
		until_true is_probed "$before"
		[ "$(given_up)" -ne "$before" ] || return 0
		modprobe -r mlx5_ib mlx5_core
	done
	return 1
}

# start OPTION...: of mlx5_core
start()
{
	local number net device
	load "$@"
	for number in "${!functions[@]}"; do
		device=mlx5_$number
		for net in "/sys/class/infiniband/$device/device/net/"*; do
			ip link set "${net##*/}" up
			ip addr add "$(address "$number")/24" dev "${net##*/}"
		done
	done
	for number in "${!functions[@]}"; do
		device=mlx5_$number
		until_true gid_index "$device"
		until_true grep -q ACTIVE "/sys/class/infiniband/$device/ports/1/state"
	done
}

stop()
{
	modprobe -r mlx5_ib mlx5_core
	# Last: a connection of Linux 7.2 that is up when rds_rdma ends is never freed.
	modprobe -q -r rds_rdma || true
	touch "/lab/$LAB_ROLE.unloaded"
	until_true test ! -e "/lab/$LAB_ROLE.unloaded" # linux-driver.sh compares objects
	test ! -e /lab/left
}

# two SERVER-OPTIONS CLIENT-OPTIONS PROGRAM OPTION...: a program with itself
two()
{
	local server=$1 client=$2
	shift 2
	echo "== $*"
	# shellcheck disable=SC2086 # they are words
	"$@" $server >server.log 2>&1 &
	for ((i = 0; i < 100; i++)); do
		# shellcheck disable=SC2086
		! timeout 1200 "$@" $client >client.log 2>&1 || break
		kill -0 $! 2>/dev/null || break
		sleep 0.2
	done
	wait $! || { cat server.log client.log; exit 1; }
	tail -n 2 client.log
}

# No frame passes the interfaces yet, so the peer of a function is itself.
exchanges()
{
	local device number program
	for number in "${!functions[@]}"; do
		device=mlx5_$number
		for program in rc uc ud srq xsrq; do
			two "" 127.0.0.1 "ibv_${program}_pingpong" -d "$device" -g "$(gid_index "$device")" -e -n 100
		done
		two "" 127.0.0.1 ib_atomic_bw -d "$device" -x "$(gid_index "$device")" -F -n 100
		two "" "$(address "$number")" ib_write_bw -d "$device" -R -F -n 100
		two -s -c rping -a "$(address "$number")" -C 5
	done
}

# serve: dpumapd on the second device, whose export "all" may be imported by every user
serve()
{
	rm -f ready
	dpumapd --listen "unix:$PWD/socket" --device mlx5_1 --export "name=all,kind=dram,size=4M,allow=*" \
		>ready 2>/lab/dpumapd.log &
	daemon=$!
	until_true grep ready ready
}

copies()
{
	echo "== dpumap"
	dpumap doctor
	head -c 3000000 /dev/urandom >sent
	serve
	export DPUMAP_CONNECT=unix:$PWD/socket
	dpumap --device mlx5_0 cp sent all got
	cmp sent got
	echo "== dpumap of a user without capabilities, who may open the device (docs/hardware.md, 11)"
	chmod 755 .
	chmod 644 sent
	mkdir -m 777 open
	setpriv --reuid=nobody --regid=nogroup --clear-groups --bounding-set=-all dpumap --device mlx5_0 cp sent all open/got
	cmp sent open/got
	kill $daemon
	wait $daemon
}

# kernel_user NAME MODULE...: a user of RDMA in these modules (kernel_users.py)
kernel_user()
{
	local name=$1
	shift
	echo "== $name"
	modprobe -a "$@"
	timeout 1200 /usr/bin/python3 "$here/kernel_users.py" "$name" "$(address 0)"
	[ "$name" = rds ] || modprobe -r "$@"
}

# Each reaches itself over the first function: disks, sockets and files.
kernel_users()
{
	modprobe -a nvmet
	mount -t configfs none /sys/kernel/config
	modprobe brd rd_nr=1 rd_size=32768
	kernel_user nvme nvme_rdma nvmet_rdma
	modprobe -q crc32c_generic || true # newer kernels have it built in
	kernel_user iser ib_iser ib_isert target_core_iblock sd_mod
	modprobe -r brd
	kernel_user rds rds_rdma
	kernel_user nfs rpcrdma nfsv4 nfsd
}

# ends_with STATUS PROCESS
ends_with()
{
	local status=0
	wait "$2" || status=$?
	[ "$status" -eq "$1" ] || { echo "status $status, not $1"; return 1; }
}

# The driver destroys the keys of programs that use the function, and tells them with the event DEVICE_FATAL.
reload_in_use()
{
	local client watch
	echo "== devlink dev reload below dpumapd (docs/hardware.md, 8 and 35)"
	serve
	dpumap --device mlx5_0 bench all --size 4K --count 1000000 &
	client=$!
	until_true grep "gets export" /lab/dpumapd.log
	stdbuf -oL ibv_asyncwatch -d mlx5_1 >events &
	watch=$!
	until_true grep mlx5_1 events
	devlink dev reload "pci/${functions[1]##*/}"
	ends_with 1 $daemon
	cat /lab/dpumapd.log
	ends_with 1 $client
	until_true grep IBV_EVENT_DEVICE_FATAL events
	kill $watch
}

# No test here has a peer.
library()
{
	echo "== tests of the library (docs/hardware.md, 24 and 29)"
	LAB_OTHER="" "$build/tests/test_umem" --emu "$here/far" --only maps_need_a_umem_of_their_device_and_permissions
	LAB_OTHER="" "$build/tests/test_ctx" --emu "$here/far"
}

# Every kind of test of perftest that needs no raw Ethernet.
perftests()
{
	local kind operation gid
	gid=$(gid_index mlx5_0)
	perf() { two "" 127.0.0.1 "$1" -d mlx5_0 -x "$gid" -F -n 100 "${@:2}"; }
	for kind in bw lat; do
		for operation in send write read atomic; do
			perf "ib_${operation}_$kind"
		done
		for options in -e "-c UD" "-c UC"; do
			# shellcheck disable=SC2086 # they are words
			perf "ib_send_$kind" $options
		done
		perf "ib_write_$kind" -c XRC
	done
	perf ib_send_bw --use-srq -q 4 -b
	perf ib_send_bw -c UD -g -M 0:0:0:0:0:0:0:0:0:0:255:255:239:1:1:1
	perf ib_write_bw -q 4 -b
	perf ib_write_bw -a
	perf ib_atomic_bw -A CMP_AND_SWAP
}

# counter NAME: of the port, as `rdma statistic` prints it
counter() { rdma statistic show link mlx5_0/1 | grep -oE " $1 [0-9]+" | cut -d' ' -f3; }

# uses PROCESS KIND
uses() { rdma resource show "$2" | grep " pid $1 comm ibv_rc_pingpong"; }

# What iproute2's `rdma` says while a program uses the device.
tools()
{
	local before program
	echo "== rdma"
	rdma link show mlx5_0/1 | grep 'state ACTIVE physical_state LINK_UP'
	before=$(counter rx_write_requests)
	two "" 127.0.0.1 ib_write_bw -d mlx5_0 -x "$(gid_index mlx5_0)" -F -n 100
	test "$(counter rx_write_requests)" -ge $((before + 100))
	test "$(cat /sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data)" -ge $((100 * 65536 / 4))
	ibv_rc_pingpong -d mlx5_0 -g "$(gid_index mlx5_0)" >/dev/null &
	program=$!
	for kind in qp pd cq mr; do
		until_true uses $program $kind
	done
	kill $program
}

# Regions whose pages the card asks for when it needs them. Linux counts the faults.
on_demand()
{
	local gid tests
	echo "== on-demand paging"
	gid=$(gid_index mlx5_0)
	pong() { two "" 127.0.0.1 "$1" -d mlx5_0 -g "$gid" -o -c -n 100 "${@:2}"; }
	pong ibv_rc_pingpong
	pong ibv_rc_pingpong -s 2000000 -n 10
	two "" 127.0.0.1 ibv_rc_pingpong -d mlx5_0 -g "$gid" -O -c -n 100
	pong ibv_srq_pingpong -q 4
	perf() { two "" 127.0.0.1 "$1" -d mlx5_0 -x "$gid" -F -n 100 --odp "${@:2}"; }
	for tests in send write read; do
		perf "ib_${tests}_bw"
		perf "ib_${tests}_lat"
	done
	perf ib_write_bw -a
	perf ib_read_bw -s 4000000 -n 10
	LAB_OTHER="" "$build/tests/test_on_demand" --emu "$here/far"
}

pyverbs() { /usr/bin/python3 "$here/../emu/conformance/pyverbs_suite.py" --guest; }

# The suite of the rdma-core that newest-rdma-core.sh has unpacked in DRIVER_NEWEST.
newest_pyverbs()
{
	/usr/bin/python3 "$here/../emu/conformance/pyverbs_suite.py" --guest --survey newest --python "$DRIVER_NEWEST/bin/python3" \
		--suite "$DRIVER_NEWEST/root/usr/share/doc/rdma-core/tests"
}

two_machines()
{
	"$here/function" split
	/usr/bin/python3 "$here/library_suite.py" "$build"
}

# What user mode passes, or fails, here.
suites()
{
	local part status=0
	start
	for part in $DRIVER_SUITES; do
		"$part" &
		wait $! || { echo "$part failed"; status=1; }
	done
	return $status
}

pingpong() { two "" 127.0.0.1 ibv_rc_pingpong -d mlx5_0 -g "$(gid_index mlx5_0)" -e -n 100; }

one()
{
	start
	exchanges
	copies
	kernel_users
	library
	reload_in_use
	for ((again = 0; again < 3; again++)); do
		stop
		start $few_keys
	done
	pingpong
	stop
}

# An error of one machine ends the other one.
pair()
{
	trap 'touch /lab/done "/lab/$LAB_ROLE.unloaded"' EXIT
	start $few_keys
	"pair_$LAB_ROLE"
	stop
}

is_over() { [ -e /lab/done ]; }
is_served() { is_over || grep -q ready /lab/ready; }

pair_dpu()
{
	local daemon
	echo "host:$(od -An -tx1 -v -N32 /dev/urandom | tr -d ' \n')" >key
	cp key /lab
	dpumapd --listen tls:0.0.0.0:7470 --psk key --export name=all,kind=dram,size=4M,allow=psk:host >/lab/ready &
	daemon=$!
	until is_over; do
		kill -0 $daemon || return 1
		sleep 0.5
	done
	kill $daemon
	wait $daemon
}

pair_host()
{
	pingpong
	until_true is_served
	cp /lab/key .
	head -c 3000000 /dev/urandom >sent
	dpumap --connect tls:dpu:7470 --psk key cp sent all got
	cmp sent got
	touch /lab/done
}

# mlx5_core does not prepare for a reset of a function that it drives, so a function is reset while it has no driver.
reload()
{
	local before round function
	for ((round = 1; round <= DRIVER_ROUNDS; round++)); do
		load $few_keys
		before=$(given_up)
		for function in "${functions[@]}"; do
			devlink dev reload "pci/${function##*/}"
		done
		until_true is_probed "$before"
		stop
		for function in "${functions[@]}"; do
			echo 1 >"$function/reset"
		done
		echo "round $round: $(cut -d' ' -f1 /proc/uptime)"
	done
}

"$what"
echo "== all"
