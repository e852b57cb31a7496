#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test-driver.sh BUILD: in a virtual machine whose PCI devices are the two functions of a card, Linux's driver drives
# them for programs of rdma-core and perftest, and for dpumap.
set -euo pipefail
build=$1
export PATH=$build/bin:$PATH LD_LIBRARY_PATH=$build/lib
cd "$(mktemp -d)"

# until COMMAND...: it succeeds within 30 s
until_true()
{
	for ((i = 0; i < 300; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "not within 30 s: $*"
	"$@"
}

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

start()
{
	local number=0 device
	modprobe -a mlx5_core mlx5_ib ib_uverbs rdma_ucm
	for device in mlx5_0 mlx5_1; do
		until_true test -d "/sys/class/infiniband/$device/device/net"
		number=$((number + 1))
		for net in "/sys/class/infiniband/$device/device/net/"*; do
			ip link set "${net##*/}" up
			ip addr add "10.44.$number.1/24" dev "${net##*/}"
		done
	done
	for device in mlx5_0 mlx5_1; do
		until_true gid_index "$device"
		until_true grep -q ACTIVE "/sys/class/infiniband/$device/ports/1/state"
	done
}

stop()
{
	modprobe -r mlx5_ib mlx5_core
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
		! timeout 60 "$@" $client >client.log 2>&1 || break
		kill -0 $! 2>/dev/null || break
		sleep 0.2
	done
	wait $! || { cat server.log client.log; exit 1; }
	tail -n 2 client.log
}

# No frame passes the interfaces yet, so the peer of a function is itself.
exchanges()
{
	local device number=0
	for device in mlx5_0 mlx5_1; do
		number=$((number + 1))
		for program in rc uc ud srq xsrq; do
			two "" 127.0.0.1 "ibv_${program}_pingpong" -d $device -g "$(gid_index $device)" -e -n 100
		done
		two "" 127.0.0.1 ib_atomic_bw -d $device -x "$(gid_index $device)" -F -n 100
		two "" "10.44.$number.1" ib_write_bw -d $device -R -F -n 100
		two -s -c rping -a "10.44.$number.1" -C 5
	done
}

copies()
{
	echo "== dpumap"
	dpumap doctor
	head -c 3000000 /dev/urandom >sent
	dpumapd --listen "unix:$PWD/socket" --device mlx5_1 --export name=all,kind=dram,size=4M &
	until_true test -S socket
	dpumap --connect "unix:$PWD/socket" --device mlx5_0 cp sent all got
	cmp sent got
	kill $!
	wait $! || true
}

start
exchanges
copies
for ((again = 0; again < 3; again++)); do
	stop
	start
done
two "" 127.0.0.1 ibv_rc_pingpong -d mlx5_0 -g "$(gid_index mlx5_0)" -e -n 100
stop
echo "== all"
