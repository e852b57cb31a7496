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

# listening PORT: a command for either machine that waits until a server listens on the TCP port, at most a minute
listening()
{
	# shellcheck disable=SC2016 # a shell expands it later
	printf 'for i in $(seq 300); do ! grep -qi ":%04X [0:]* 0A" /proc/net/tcp /proc/net/tcp6 || break; sleep 0.2; done' "$1"
}

# to_rxe PROOF PROGRAM...: the server on rdma_rxe, the client on the emulator; from_rxe: the other way around
to_rxe()
{
	local proof=$1 there_gid=$theirs_gid
	shift
	port=$((port + 1))
	there "timeout 1200 $* $(options_of "$1" rxe0 "$there_gid") -p $port >/lab/dpu.wire 2>&1 &
		$(listening $port)" >/dev/null
	# shellcheck disable=SC2046,SC2086 # lists of words
	timeout 1200 $ours "$@" $(options_of "$1" mlx5_0 3) -p $port dpu >"$work/wire.log" 2>&1
	ends_well $? "$proof"
}
from_rxe()
{
	local proof=$1 status=0
	shift
	port=$((port + 1))
	# shellcheck disable=SC2046,SC2086
	timeout 1200 $ours "$@" $(options_of "$1" mlx5_0 3) -p $port >"$work/wire.log" 2>&1 &
	eval "$(listening $port)"
	there "timeout 1200 $* $(options_of "$1" rxe0 "$theirs_gid") -p $port host >/lab/dpu.wire 2>&1; echo status \$?" |
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
managed_to_rxe() # PROOF SERVER CLIENT
{
	there "timeout 1200 $2 >/lab/dpu.wire 2>&1 &
		for i in \$(seq 300); do case \$(rdma resource show cm_id) in *LISTEN*) break ;; esac; sleep 0.2; done" >/dev/null
	# shellcheck disable=SC2086
	timeout 1200 $ours $3 >"$work/wire.log" 2>&1
	ends_well $? "$1"
}
managed_from_rxe()
{
	local status=0
	# shellcheck disable=SC2086
	timeout 1200 $ours $2 >"$work/server.log" 2>&1 &
	# The emulator does not show which identifiers listen.
	sleep 5
	there "timeout 1200 $3 >/lab/dpu.wire 2>&1; echo status \$?" | grep 'status 0' || status=1
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

# --- dpumapd and dpumap, one on the emulated card and one on rdma_rxe ---------------------------

wired=/etc/wired # on both machines: certificates, keys and configurations
share_pki()
{
	local ca=$work/wired-pki
	mkdir -m 700 "$ca" "$wired" && dpumap pki init --dir "$ca" &&
		dpumap pki issue --dir "$ca" --dpu there --san 10.9.0.2 &&
		dpumap pki issue --dir "$ca" --dpu here --san 10.9.0.1 &&
		dpumap pki issue --dir "$ca" --host anyone || return 1
	mkdir /lab/carried
	cp "$ca"/{there,here,anyone}.{crt,key} "$ca/ca.crt" "$wired/"
	cp "$wired"/* /lab/carried/
	there "mkdir -p -m 700 $wired && cp /lab/carried/* $wired/ && chmod 600 $wired/*.key"
	rm -r /lab/carried
}

# start_daemon_on here|there PORT RDMA-ADDRESS: the client exchanges the details of queue pairs, or with an address it
# connects by the connection manager
start_daemon_on()
{
	local by='' ready=/lab/wired.ready
	rm -f "$ready"
	[ -z "$3" ] || by="rdma = { listen = \"$3:0\"; };"
	cat >"/lab/$1.conf" <<-CONF
		listen = [ "tls:0.0.0.0:$2" ];
		$by
		tls = { cert = "$wired/$1.crt"; key = "$wired/$1.key"; ca = "$wired/ca.crt"; };
		exports = ( { name = "bulk"; kind = "dram"; size = "1M"; via = "rdma"; allow = [ "cert:anyone" ]; } );
	CONF
	if [ "$1" = here ]; then
		$ours dpumapd --config /lab/here.conf >"$ready" 2>>"$work/wired.log" </dev/null &
	else
		# shellcheck disable=SC2154 # of test-pair.sh
		there "$dpu/bin/dpumapd --config /lab/there.conf >$ready 2>>/lab/dpu.wired </dev/null &" >/dev/null
	fi
	until_true grep -q ready "$ready" || { cat "$work/wired.log" /lab/dpu.wired; return 1; }
}

# copy_to here|there PORT BYTES: from the other machine, through the export and back
copy_to()
{
	local keys="--ca $wired/ca.crt --cert $wired/anyone.crt --key $wired/anyone.key --timeout 30"
	local files="/lab/wired.in bulk /root/wired.out" same='cmp /lab/wired.in /root/wired.out'
	head -c "$3" /dev/urandom >/lab/wired.in
	if [ "$1" = there ]; then
		rm -f /root/wired.out
		# shellcheck disable=SC2086 # lists of words
		timeout 1200 $ours dpumap cp $files --connect "tls:10.9.0.2:$2" $keys >"$work/copy.log" 2>&1
		$same && echo same >>"$work/copy.log"
	else
		there "rm -f /root/wired.out; timeout 1200 $dpu/bin/dpumap cp $files --connect tls:10.9.0.1:$2 $keys 2>&1
			$same && echo same" >"$work/copy.log"
	fi
	cat "$work/copy.log"
	grep -q 'by RDMA' "$work/copy.log" && grep -qx same "$work/copy.log"
}
check pki-for-the-wire share_pki
check dpumapd-starts-on-rxe start_daemon_on there 7480 ''
check copy-from-the-card-to-rxe copy_to there 7480 300001

# A mixture with loss in both directions, if asked for.
lose()
{
	local change="qdisc replace dev eth0 root netem loss ${LAB_WIRE_LOSS-0.1%} limit 20000"
	# shellcheck disable=SC2086 # a list of words
	tc $change && there "/sbin/tc $change 2>&1; echo status \$?" | grep 'status 0'
}
lose_no_more() { tc qdisc del dev eth0 root && there '/sbin/tc qdisc del dev eth0 root; true'; }
lost() { /sbin/tc -s qdisc show dev eth0 | grep -o 'dropped [0-9]*'; }
# Without the pingpongs: each end leaves when it has its last completion, so the other one retries in vain if the ACK of
# its last message is lost. And they wait for ACKs for half a second in all, but a virtual machine on a busy machine may
# stand still for longer, so perftest has -u. Without rping, too: when it ends, one of its threads closes the channel
# from which another one may be about to read, and then it ends with an error.
mix()
{
	to_rxe "$measured" ib_write_bw -u 17 -n 50 && from_rxe "$measured" ib_read_bw -o 8 -n 50 &&
		to_rxe "$measured" ib_send_bw -u 17 -n 50 && from_rxe "$measured" ib_atomic_bw -o 8 -n 50 &&
		managed_to_rxe "$done_" 'ucmatose -b 10.9.0.2 -c 4' 'ucmatose -s 10.9.0.2 -c 4' &&
		copy_to there 7480 $((RANDOM * 20)) && copy_to here 7481 $((RANDOM * 20))
}
mixture()
{
	local limit=$((SECONDS + LAB_WIRE_SECONDS)) rounds=0
	lose || return 1
	while [ $SECONDS -lt $limit ]; do
		mix || return 1
		rounds=$((rounds + 1))
	done
	echo "$rounds rounds in $LAB_WIRE_SECONDS s, $(lost) here, $(there "$(declare -f lost); lost") there" >/lab/mixture
	lose_no_more
}
unreliable()
{
	to_rxe "$measured" ib_write_bw -c UC -n 30 && from_rxe "$measured" ib_write_bw -c UC -n 30 &&
		to_rxe "$measured" ib_send_bw -c UD -s 1024 -n 30 && from_rxe "$measured" ib_send_bw -c UD -s 1024 -n 30
}
if [ "${LAB_WIRE_SECONDS:-0}" -ne 0 ]; then
	check perftest-of-unreliable-services unreliable
	check dpumapd-starts-on-the-card start_daemon_on here 7481 10.9.0.1
	check copy-from-rxe-to-the-card-by-address copy_to here 7481 300001
	check "mixture-of-$LAB_WIRE_SECONDS-s-with-loss" mixture
fi
there 'killall dpumapd'
killall dpumapd
dpumap-emu stop --dir "$wire"
