#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# two-archs.sh NATIVE-BUILD AARCH64-BUILD
# Test an aarch64 DPU and an x86-64 host on one emulated card. dpumapd, its libraries and the emulator's
# shim run under user-mode emulation of the processor, dpumap runs natively, and one native server emulates
# the card for both. The DPU exports to the host, and the host to the DPU, over a Unix socket and TLS.
set -euo pipefail

native=${1:?usage: two-archs.sh NATIVE-BUILD AARCH64-BUILD}
foreign=${2:?usage: two-archs.sh NATIVE-BUILD AARCH64-BUILD}
emu=$native/bin/dpumap-emu
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-archs.XXXXXX")
pki=$tmp/pki
export DPUMAP_EMU_DIR=$tmp/emu
agent=

cleanup()
{
	[ -z "$agent" ] || kill "$agent" 2>/dev/null || true
	wait
	"$emu" stop --dir "$tmp/emu" >/dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap cleanup EXIT

fail()
{
	echo "two-archs: $*" >&2
	sed 's/^/  /' "$tmp"/*.log >&2
	exit 1
}

# prepare native|aarch64 FUNCTION PROGRAM ARGUMENT...: set `command` to run the program on that function
prepare()
{
	local side=$1 function=$2 program=$3
	shift 3
	command=(timeout 120 "$emu" run --as "$function" --)
	case $side in
	native) command+=("$native/bin/$program") ;;
	aarch64)
		command+=(qemu-aarch64-static -L / -E "LD_PRELOAD=$foreign/lib/libdpumap-emu.so"
			"$foreign/bin/$program")
		;;
	esac
	command+=("$@")
}

# crossing DPUMAPD-ARCH DPUMAP-ARCH [tls]: copy a file there and back through both kinds of memory
crossing()
{
	local name listen=$tmp/agent.sock serving=() asking=()
	if [ "${3-}" = tls ]; then
		listen=tls:127.0.0.1:0
		serving=(--cert "$pki/dpu.crt" --key "$pki/dpu.key" --crl "$pki/ca.crl" --ca "$pki/ca.crt")
		asking=(--cert "$pki/host.crt" --key "$pki/host.key" --ca "$pki/ca.crt")
	fi
	prepare "$1" dpu dpumapd --listen "$listen" "${serving[@]}" \
		--export name=fast,kind=dm,size=max,allow=cert:host \
		--export name=bulk,kind=dram,size=4M,allow=cert:host
	"${command[@]}" >"$tmp/agent.log" 2>&1 &
	agent=$!
	for _ in $(seq 1200); do
		! grep -q '^dpumapd: ready on ' "$tmp/agent.log" || break
		kill -0 "$agent" 2>/dev/null || fail "dpumapd on $1 ended early"
		sleep 0.1
	done
	address=$(sed -n 's/^dpumapd: ready on //p' "$tmp/agent.log")
	for name in fast bulk; do
		prepare "$2" host dpumap --connect "$address" "${asking[@]}" \
			cp "$tmp/file" $name "$tmp/back"
		"${command[@]}" >"$tmp/client.log" 2>&1 || fail "the copy from $2 through $name on $1 failed"
		cmp "$tmp/file" "$tmp/back" || fail "the file that came back through $name on $1 differs"
		rm "$tmp/back"
		echo "$2 -> $name on $1 -> $2 ${3-}: the same $(stat -c %s "$tmp/file") bytes"
	done
	kill "$agent"
	wait "$agent" || fail "dpumapd on $1 ended with $?"
	agent=
}

head -c 9000000 /dev/urandom >"$tmp/file"
"$emu" start >/dev/null
/usr/bin/python3 "$(dirname "$0")/../../harness/pki.py" "$pki" dpu:serverAuth:IP:127.0.0.1 host:clientAuth
crossing aarch64 native
crossing aarch64 native tls
crossing native aarch64 tls
crossing aarch64 aarch64
# The server may notice the end of a program late.
for _ in $(seq 600); do
	"$emu" status >"$tmp/status"
	left=$(grep -xE '(contexts|pds|mrs|mkeys|aliases|dms|cqs|qps) [1-9][0-9]*' "$tmp/status" || true)
	[ -n "$left" ] || break
	sleep 0.05
done
[ -z "$left" ] || fail "the agents left $left"
