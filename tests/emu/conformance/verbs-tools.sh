#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Run the distribution's unmodified ibv_* programs on the emulated device.
set -euo pipefail
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../../integration/lib.sh"

emu=${1:?usage: verbs-tools.sh DPUMAP-EMU CASE}
case_name=${2:?usage: verbs-tools.sh DPUMAP-EMU CASE}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-tools.XXXXXX")
emus=$(emulator_directory tools)
export DPUMAP_EMU_DIR=$emus/emu
server=

cleanup()
{
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$tmp" "$emus"
}
trap cleanup EXIT

fail()
{
	echo "$case_name: $*" >&2
	[ ! -s "$tmp/out" ] || sed 's/^/  /' "$tmp/out" >&2
	[ ! -s "$tmp/err" ] || sed 's/^/  /' "$tmp/err" >&2
	exit 1
}

run_as()
{
	local function=$1
	shift
	timeout 300 "$emu" run --as "$function" -- "$@"
}

# expect NAME REGEX: fail unless a line of the output matches
expect()
{
	grep -qE "$2" "$tmp/out" || fail "$1 is not in the output (/$2/)"
}

devices()
{
	run_as "$1" ibv_devices >"$tmp/out" 2>"$tmp/err" || fail "ibv_devices failed"
	expect "the device with its GUID" '^[[:space:]]*mlx5_0[[:space:]]+[0-9a-f]{16}$'
	[ ! -s "$tmp/err" ] || fail "ibv_devices complains"
}

devinfo()
{
	run_as "$1" ibv_devinfo -v >"$tmp/out" 2>"$tmp/err" || fail "ibv_devinfo failed"
	expect "the device" '^hca_id:[[:space:]]+mlx5_0$'
	expect "NVIDIA's vendor id" 'vendor_id:[[:space:]]+0x02c9$'
	expect "BlueField-3's part id" 'vendor_part_id:[[:space:]]+41692$'
	expect "an active port" 'state:[[:space:]]+PORT_ACTIVE'
	expect "device memory" 'device memory.*[1-9]'
	expect "a GID" 'GID\[[[:space:]]*0\]:'
	[ ! -s "$tmp/err" ] || fail "ibv_devinfo complains"
}

# pingpong PROGRAM SERVER-FUNCTION CLIENT-FUNCTION ARGUMENT...
pingpong()
{
	local program=ibv_$1_pingpong from=$2 to=$3 port
	shift 3
	port=$(free_port)
	run_as "$from" "$program" -g 0 -p "$port" "$@" >"$tmp/server" 2>&1 &
	server=$!
	await_listener "$port" "$server" || { cat "$tmp/server" >"$tmp/out"; fail "the server does not listen"; }
	run_as "$to" "$program" -g 0 -p "$port" "$@" localhost >"$tmp/out" 2>"$tmp/err" ||
		fail "the client failed"
	wait "$server" || { cat "$tmp/server" >>"$tmp/out"; fail "the server failed"; }
	server=
	# ibv_xsrq_pingpong prints only that it succeeded.
	expect "the number of iterations" '^[0-9]+ iters in |^ *success$'
	if grep -q 'invalid data' "$tmp/out" "$tmp/server"; then
		fail "the received data differs from the sent data"
	fi
}

case $case_name in
devices-dpu) devices dpu ;;
devices-host) devices host ;;
devinfo-dpu) devinfo dpu ;;
devinfo-host) devinfo host ;;
rc-pingpong) pingpong rc dpu dpu -c ;;
rc-pingpong-events) pingpong rc dpu dpu -c -e ;;
rc-pingpong-between-functions) pingpong rc dpu host -c ;;
uc-pingpong-between-functions) pingpong uc dpu host -c ;;
ud-pingpong-between-functions) pingpong ud dpu host -c ;;
ud-pingpong-events) pingpong ud host dpu -c -e ;;
srq-pingpong-between-functions) pingpong srq dpu host -c ;;
srq-pingpong-events) pingpong srq host dpu -c -e ;;
xsrq-pingpong-between-functions) pingpong xsrq dpu host ;;
*) fail "unknown case" ;;
esac
