#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# bench-rxe.sh BIN [ROUNDS]: in a virtual machine of the lab (tests/lab/vm run -- ...), the bandwidth of messages of 64 KiB on
# the kernel's rdma_rxe and then between two emulators on the network, both within this machine
set -euo pipefail
bin=$1
rounds=${2:-3}
export PATH=$bin:$PATH
port=18700

# pair "WORDS of the server" "WORDS of the client" ADDRESS PROGRAM...: MB/s
pair()
{
	local server=$1 client=$2 address=$3
	shift 3
	port=$((port + 1))
	# shellcheck disable=SC2086 # lists of words
	timeout 120 $server "$@" -p $port >/dev/null 2>&1 &
	sleep 1
	# shellcheck disable=SC2086
	timeout 120 $client "$@" -p $port "$address" 2>/dev/null | awk '$1 == 65536 { print $4 }'
	wait $!
}

rxe()
{
	pair "" "" 10.9.0.1 "$@" -d rxe0 -x "$gid"
}

emulators()
{
	pair "dpumap-emu run --dir /tmp/wire2 --as dpu --" "dpumap-emu run --dir /tmp/wire1 --as dpu --" 127.0.0.1 "$@" \
		-d mlx5_0 -x 3
}

# measure NAME FUNCTION: in MB/s
measure()
{
	local i words
	for words in "ib_write_bw" "ib_send_bw" "ib_send_bw -e"; do
		for ((i = 0; i < rounds; i++)); do
			# shellcheck disable=SC2086 # a program and its option
			echo "$1, $words: $("$2" $words -F -s 65536 -n 300)"
		done
	done
}

ip link set lo up
gid=$(cd /sys/class/infiniband/rxe0/ports/1/gids && grep -lm1 0000:ffff: ./* 2>/dev/null | sed -n '1s/.*\///p')
measure rdma_rxe rxe
rdma link delete rxe0
rmmod rdma_rxe
for n in 1 2; do
	dpumap-emu start --dir "/tmp/wire$n" --wire "127.79.1.$n" >/dev/null
done
measure emulators emulators
