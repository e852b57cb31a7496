# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The tests of the wire in the lab: the host has an emulated card instead of rdma_rxe, and exchanges RoCEv2 with
# the kernel's rdma_rxe of the DPU. test-pair.sh reads this file; LAB_WIRE_SECONDS adds a mixture with loss.
wire=/root/wire
# shellcheck disable=SC2154 # host and work are variables of test-pair.sh
: "$host" "$work"
ours="$host/bin/dpumap-emu run --dir $wire --as dpu --"

# The module has the UDP port of all addresses, as long as it is loaded.
start_wire()
{
	rdma link delete rxe0 && rmmod rdma_rxe && dpumap-emu start --dir "$wire" --wire 10.9.0.1 || return 1
	grep 10.9.0.1 <(dpumap-emu status --dir "$wire")
}
check emulator-starts-in-place-of-rxe start_wire

# The index of the GID of an IPv4 address of rxe0.
theirs_gid=$(there "cd /sys/class/infiniband/rxe0/ports/1/gids && grep -lm1 0000:ffff: *")
theirs_gid=${theirs_gid%%$'\n'*}

port=18600

# to_rxe PROOF PROGRAM...: the server on rdma_rxe, the client on the emulator; from_rxe: the other way around
to_rxe()
{
	local proof=$1 there_gid=$theirs_gid
	shift
	port=$((port + 1))
	there "timeout 25 $* $(options_of "$1" rxe0 "$there_gid") -p $port >/lab/dpu.wire 2>&1 &" >/dev/null
	sleep 1
	# shellcheck disable=SC2046,SC2086 # lists of words
	timeout 25 $ours "$@" $(options_of "$1" mlx5_0 3) -p $port dpu >"$work/wire.log" 2>&1
	ends_well $? "$proof"
}
from_rxe()
{
	local proof=$1 status=0
	shift
	port=$((port + 1))
	# shellcheck disable=SC2046,SC2086
	timeout 25 $ours "$@" $(options_of "$1" mlx5_0 3) -p $port >"$work/wire.log" 2>&1 &
	sleep 1.5
	there "timeout 25 $* $(options_of "$1" rxe0 "$theirs_gid") -p $port host >/lab/dpu.wire 2>&1; echo status \$?" |
		grep 'status 0' || status=1
	wait $! || status=1
	ends_well $status "$proof"
}
options_of()
{
	case $1 in
	ib_*) echo "-d $2 -x $3 -F" ;;
	*) echo "-d $2 -g $3" ;;
	esac
}
ends_well() # STATUS PROOF
{
	cat "$work/wire.log" /lab/dpu.wire
	[ "$1" -eq 0 ] && grep -qE "$2" "$work/wire.log" && ! grep -q 'invalid data' "$work/wire.log" /lab/dpu.wire
}

iters='^[0-9]+ iters in '
measured='^ *[0-9]+ +[0-9]+ +([0-9.]+|-?inf|-?nan)'
for kind in rc uc ud srq; do
	check "$kind-pingpong-to-rxe" to_rxe "$iters" "ibv_${kind}_pingpong" -c -n 50
	check "$kind-pingpong-from-rxe" from_rxe "$iters" "ibv_${kind}_pingpong" -c -n 50
done
check long-messages-to-rxe to_rxe "$iters" ibv_rc_pingpong -c -s 300001 -n 5
check long-messages-from-rxe from_rxe "$iters" ibv_rc_pingpong -c -s 300001 -n 5 -m 1024
# The two devices have different limits of reads, which perftest does not negotiate.
for program in ib_write_bw ib_send_bw 'ib_read_bw -o 8' 'ib_atomic_bw -o 8'; do
	# shellcheck disable=SC2086 # options
	check "${program%% *}-to-rxe" to_rxe "$measured" $program -n 30
	# shellcheck disable=SC2086
	check "${program%% *}-from-rxe" from_rxe "$measured" $program -n 30
done

# Programs of librdmacm.
managed_to_rxe() # PROOF SERVER -- CLIENT
{
	there "timeout 25 $2 >/lab/dpu.wire 2>&1 &" >/dev/null
	sleep 1
	# shellcheck disable=SC2086
	timeout 25 $ours $3 >"$work/wire.log" 2>&1
	ends_well $? "$1"
}
managed_from_rxe()
{
	local status=0
	# shellcheck disable=SC2086
	timeout 25 $ours $2 >"$work/server.log" 2>&1 &
	sleep 1.5
	there "timeout 25 $3 >/lab/dpu.wire 2>&1; echo status \$?" | grep 'status 0' || status=1
	wait $! || status=1
	cp /lab/dpu.wire "$work/wire.log"
	cat "$work/server.log"
	ends_well $status "$1"
}
ping='^ping data: '
done_='^return status 0$'
check rping-to-rxe managed_to_rxe "$ping" 'rping -s -a 10.9.0.2 -C 10 -V' 'rping -c -a 10.9.0.2 -C 10 -v -V'
check rping-from-rxe managed_from_rxe "$ping" 'rping -s -a 10.9.0.1 -C 10 -V' 'rping -c -a 10.9.0.1 -C 10 -v -V'
check ucmatose-to-rxe managed_to_rxe "$done_" 'ucmatose -b 10.9.0.2 -c 4' 'ucmatose -s 10.9.0.2 -c 4'
check ucmatose-from-rxe managed_from_rxe "$done_" 'ucmatose -b 10.9.0.1 -c 4' 'ucmatose -s 10.9.0.1 -c 4'

# A mixture, if asked for.
mixture()
{
	local limit=$((SECONDS + LAB_WIRE_SECONDS))
	tc qdisc replace dev eth0 root netem loss "${LAB_WIRE_LOSS-0.1%}" limit 20000 || return 1
	while [ $SECONDS -lt $limit ]; do
		to_rxe "$iters" ibv_rc_pingpong -c -s 100001 -n 10 && from_rxe "$iters" ibv_rc_pingpong -c -n 50 &&
			to_rxe "$measured" ib_write_bw -n 50 && from_rxe "$measured" ib_read_bw -n 50 &&
			to_rxe "$measured" ib_send_bw -n 50 &&
			managed_to_rxe "$ping" 'rping -s -a 10.9.0.2 -C 10 -V' 'rping -c -a 10.9.0.2 -C 10 -v -V' || return 1
	done
	tc qdisc del dev eth0 root
}
[ -z "${LAB_WIRE_SECONDS-}" ] || check "mixture-of-$LAB_WIRE_SECONDS-s-with-loss" mixture
dpumap-emu stop --dir "$wire"
