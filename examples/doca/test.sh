#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# test.sh EMU PROGRAMS SCENARIO: run the examples as a user does, on a
# separate emulated card.
set -euo pipefail

emu=$1
programs=$2
scenario=$3
work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-doca.XXXXXX")
pid=
unset DPUMAP_LOG_LEVEL
export DPUMAP_EMU_DIR=$work/emu
export DPUMAP_COMCH_DIR=$work/comch

clean_up()
{
	[ -z "$pid" ] || kill "$pid" 2>/dev/null || true
	"$emu" stop >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

die()
{
	echo "$scenario: $*" >&2
	cat "$work"/*.log >&2 2>/dev/null || true
	exit 1
}

# on FUNCTION PROGRAM ARGUMENT...: run it in the directory that exporter and importer share
on()
{
	local side=$1 program=$2
	shift 2
	(cd "$work" && exec "$emu" run --as "$side" -- "$programs/$program" "$@")
}

# Wait until the exporter has written that file.
wait_for_file()
{
	local n
	for ((n = 0; n < 600; n++)); do
		[ ! -e "$work/$1" ] || return 0
		kill -0 "$pid" 2>/dev/null || die "the exporter ended"
		sleep 0.05
	done
	die "the exporter wrote no files"
}

# Start the exporter, which then waits for Enter, and wait until it has written its files.
start_exporter()
{
	mkfifo "$work/enter"
	on "$@" <"$work/enter" >"$work/exporter.log" 2>&1 &
	pid=$!
	exec 9>"$work/enter"
	wait_for_file buffer.txt
}

press_enter()
{
	echo >&9
	exec 9>&-
	wait "$pid" || die "the exporter failed"
	pid=
}

# serve LOG PROGRAM ARGUMENT...: start a server on the DPU, and wait until it waits for a client
serve()
{
	local log=$work/$1.log n
	shift
	rm -f "$log"
	on dpu "$@" >"$log" 2>&1 </dev/null &
	pid=$!
	for ((n = 0; n < 600; n++)); do
		! grep -q "Waiting for a client" "$log" || return 0
		kill -0 "$pid" 2>/dev/null || die "the server ended"
		sleep 0.05
	done
	die "the server does not wait for a client"
}

# fails WORDS FUNCTION PROGRAM ARGUMENT...: the program must fail with a message that contains WORDS
fails()
{
	local words=$1
	shift
	! on "$@" >"$work/fails.log" 2>&1 </dev/null || die "$* succeeded"
	grep -q "$words" "$work/fails.log" || die "$* does not say \"$words\""
}

# ping_arguments PROGRAM FUNCTION: how the program names the device of that function
ping_arguments()
{
	case $1/$2 in
	verbs_ping/host) echo -p 3b:00.0 ;;
	verbs_ping/*) echo -p 03:00.0 ;;
	*) echo -d mlx5_0 ;;
	esac
}

# serve_ping PROGRAM: start a server on the DPU, and set port
serve_ping()
{
	# shellcheck disable=SC2046 # an option and its value
	serve server "$1" $(ping_arguments "$1" dpu) -o 0
	port=$(sed -n 's/.*Waiting for a client at port //p' "$work/server.log")
}

# ping_pong SERVER CLIENT FUNCTION: the server is on the DPU, the client on that function
ping_pong()
{
	local server=$1 client=$2 side=$3 log
	serve_ping "$server"
	# shellcheck disable=SC2046
	on "$side" "$client" $(ping_arguments "$client" "$side") -a 127.0.0.1 -o "$port" >"$work/client.log" 2>&1 ||
		die "$client on $side failed with $server"
	wait "$pid" || die "$server failed with $client on $side"
	pid=
	for log in server client; do
		grep -q "1000 rounds of 4096 bytes" "$work/$log.log" || die "the $log prints no result"
	done
}

# The file takes four pieces of at most 2 MiB.
make_file()
{
	head -c 6300001 /dev/urandom >"$1"
}

"$emu" start --cards 2
case $scenario in
host_exports)
	make_file "$work/sent"
	start_exporter host host_exports-host -p 3b:00.0 -f sent
	[ "$(stat -c %a "$work/descriptor.bin")" = 600 ] || die "other users may read the descriptor"
	on dpu host_exports-dpu --pci-addr 0000:03:00.0 --file got >"$work/copier.log" 2>&1 ||
		die "the copier failed"
	cmp "$work/sent" "$work/got" || die "the copy differs from the file"
	# Another card cannot import the memory. After the exporter has ended, no card can.
	fails "cannot be imported" dpu1 host_exports-dpu -p 03:00.0 -f other
	press_enter
	fails "Ends with" dpu host_exports-dpu -p 03:00.0 -f late
	;;
dpu_exports)
	make_file "$work/sent"
	printf '\0\0\0' >>"$work/sent" # zeros at its end belong to the file
	start_exporter dpu dpu_exports-dpu -p 03:00.0 -f got
	on host dpu_exports-host -p 3b:00.0 -f sent >"$work/copier.log" 2>&1 || die "the copier failed"
	press_enter
	cmp "$work/sent" "$work/got" || die "the copy differs from the file"
	rm "$work/buffer.txt" "$work/enter"
	head -c 9000000 /dev/zero >"$work/large"
	start_exporter dpu dpu_exports-dpu -p 03:00.0 -f got
	fails "DOCA_ERROR_TOO_BIG" host dpu_exports-host -p 3b:00.0 -f large
	press_enter
	;;
comch_copy)
	make_file "$work/sent"
	# No server has this name on this card.
	fails "Ends with" host comch_copy-host -p 3b:00.0 -f sent
	serve server comch_copy-dpu -p 03:00.0 -r 3b:00.0 -f got
	fails "Ends with" host comch_copy-host -p 3b:00.0 -f sent -n other
	fails "Ends with" host comch_copy-host -p 3c:00.0 -f sent
	on host comch_copy-host -p 3b:00.0 -f sent >"$work/client.log" 2>&1 || die "the client failed"
	wait "$pid" || die "the server failed"
	pid=
	grep -q "6300001 bytes of sent went to the DPU and back" "$work/client.log" ||
		die "the client prints no result"
	cmp "$work/sent" "$work/got" || die "the copy differs from the file"
	# The host learns that a step of the DPU failed.
	serve server comch_copy-dpu -p 03:00.0 -r 3b:00.0 -f no-such-directory/got
	fails DOCA_ERROR_IO_FAILED host comch_copy-host -p 3b:00.0 -f sent
	! wait "$pid" || die "the server succeeded without a place for the file"
	pid=
	fails "No function of the host" dpu comch_copy-dpu -p 03:00.0 -r 3c:00.0 -f got
	;;
decompress)
	head -c 3000000 /dev/urandom | base64 >"$work/sent" # 4 blocks, of which the last is short
	serve server decompress-dpu -p 03:00.0 -r 3b:00.0
	on host decompress-host -p 3b:00.0 -f sent >"$work/client.log" 2>&1 || die "the client failed"
	wait "$pid" || die "the server failed"
	pid=
	grep -q "Decompressed 4 blocks in the host's memory" "$work/server.log" || die "the server prints no result"
	grep -q "bytes to the $(stat -c %s "$work/sent") of sent" "$work/client.log" || die "the client prints no result"
	# Nobody serves any more.
	fails "Ends with" host decompress-host -p 3b:00.0 -f sent
	;;
sync_event)
	on dpu sync_event-dpu -p 03:00.0 >"$work/exporter.log" 2>&1 </dev/null &
	pid=$!
	wait_for_file event.bin
	[ "$(stat -c %a "$work/event.bin")" = 600 ] || die "other users may read the exported event"
	# Another card cannot import it.
	fails "Ends with" host sync_event-host -p 3c:00.0
	on host sync_event-host -p 3b:00.0 >"$work/importer.log" 2>&1 || die "the host failed"
	wait "$pid" || die "the DPU failed"
	pid=
	grep -q "The value was 2" "$work/importer.log" || die "the host did not count"
	grep -q "The DPU has set it to 1000" "$work/importer.log" || die "the DPU set no value"
	grep -q "The host has counted to 3" "$work/exporter.log" || die "the DPU did not wait"
	fails "Ends with" host sync_event-host -p 3b:00.0
	;;
rdma)
	make_file "$work/sent"
	# From the host to its DPU, then from a DPU to another machine.
	for client in "host 3b:00.0" "dpu1 03:00.0"; do
		serve server rdma -p 03:00.0 -f got
		on "${client% *}" rdma -p "${client#* }" -f sent -a 127.100.0.1 >"$work/client.log" 2>&1 ||
			die "the client failed on $client"
		wait "$pid" || die "the server failed"
		pid=
		grep -q "6300001 bytes of sent are on the server" "$work/client.log" || die "no result"
		grep -q "The client has written 6300001 bytes" "$work/server.log" || die "no end"
		cmp "$work/sent" "$work/got" || die "the copy differs from the file"
		rm "$work/got"
	done
	# Nobody listens any more.
	fails "Ends with" host rdma -p 3b:00.0 -f sent -a 127.100.0.1
	fails "Ends with DOCA_ERROR_INVALID_VALUE" host rdma -p 3b:00.0 -f sent -a here
	;;
verbs_ping)
	# doca_verbs and libibverbs, each with itself and with the other, to the host's function and to another machine.
	for server in verbs_ping ibverbs_ping; do
		for client in verbs_ping ibverbs_ping; do
			for side in host dpu1; do
				ping_pong "$server" "$client" "$side"
			done
		done
	done
	# A server ends with its client.
	serve_ping verbs_ping
	exec 8<>"/dev/tcp/127.0.0.1/$port"
	exec 8>&-
	! wait "$pid" || die "the server succeeded without details of a client"
	pid=
	grep -q "The peer has sent 0 bytes" "$work/server.log" || die "the server does not say why it ends"
	# Nobody listens any more.
	fails "Cannot connect to port $port of 127.0.0.1" host verbs_ping -p 3b:00.0 -a 127.0.0.1 -o "$port"
	fails "Cannot connect to port $port of 127.0.0.1" host ibverbs_ping -a 127.0.0.1 -o "$port"
	fails "No context on a device at 03:00.0" host verbs_ping -p 03:00.0 -a 127.0.0.1
	fails "Cannot open the device mlx5_9" host ibverbs_ping -d mlx5_9 -a 127.0.0.1
	;;
local_copy)
	for side in host dpu; do
		address=3b:00.0
		[ "$side" = host ] || address=03:00.0
		on "$side" local_copy -p "$address" >"$work/$side.log" 2>&1 || die "on the $side"
		grep -q '8 tasks, 65536 bytes each, 3 parts to 2' "$work/$side.log" ||
			die "no result printed on the $side"
	done
	;;
devices)
	[ "$(on host devices -p 3b:00.0)" = "0000:3b:00.0 PF mlx5_0 lo" ] || die "the host's first"
	[ "$(on host devices -p 0000:3C:00.0)" = "0000:3c:00.0 PF mlx5_1 lo" ] || die "the host's second"
	[ "$(on dpu devices -p 03:00.0)" = "0000:03:00.0 PF mlx5_0 lo
  represents 0000:3b:00.0" ] || die "the DPU's"
	[ "$(on dpu1 devices -p 03:00.0)" = "0000:03:00.0 PF mlx5_0 lo
  represents 0000:3c:00.0" ] || die "the second DPU's"
	fails DOCA_ERROR_NOT_FOUND host devices -p 03:00.0
	fails DOCA_ERROR_INVALID_VALUE host devices -p mlx5_0
	;;
arguments)
	on host local_copy --help >"$work/help.log" 2>&1 || die "--help"
	for word in --pci-addr '-p' --log-level --sdk-log-level --json 'PCI address'; do
		grep -q -- "$word" "$work/help.log" || die "--help does not mention $word"
	done
	fails "pci-addr\|pci_addr\|PCI" host local_copy
	fails "no-such-flag" host local_copy --no-such-flag
	fails "No device at 00:01.0" host local_copy -p 00:01.0
	on host local_copy -p 3b:00.0 -l 30 >"$work/quiet.log" 2>&1 || die "with a log level"
	[ ! -s "$work/quiet.log" ] || die "prints messages below its log level"
	printf '{"doca_program_flags": {"pci-addr": "3b:00.0"}}\n' >"$work/flags.json"
	on host local_copy -j flags.json >"$work/json.log" 2>&1 || die "with a JSON file"
	;;
*)
	die "no such scenario"
	;;
esac
