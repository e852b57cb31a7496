#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The parser of RoCEv2 packets has no undefined behaviour for any input: Frama-C's Eva reports no alarm for
# emu/wire/packet.c and opcode.c. The emulator runs on 64-bit little-endian machines only.
# shellcheck source=tests/proof/eva.sh
. "$(dirname "$0")/eva.sh"

run_check()
{
	local files="tests/proof/packet.c emu/wire/packet.c emu/wire/opcode.c" part
	eva_begin
	for part in ${PARTS-parse build}; do
		eva "packet-$part" "${MODELS%% *}" "main_$part" "" "$files" \
			-eva-precision 0 -eva-slevel 20 -eva-min-loop-unroll 9
	done
	eva_end
}

PLANTS=4
plant()
{
	local wire=$1/emu/wire
	case $2 in
	1) export PARTS=parse; edit "$wire/packet.c" 's/len < WIRE_BTH + WIRE_ICRC/len + 1 < WIRE_BTH + WIRE_ICRC/' ;;
	2) export PARTS=parse; edit "$wire/packet.c" 's/if (len < head)/if (len + 4 < head)/' ;;
	3) export PARTS=parse; edit "$wire/opcode.c" 's/return operation < WIRE_OPERATIONS/return operation <= WIRE_OPERATIONS/' ;;
	4) export PARTS=build; edit "$wire/packet.c" 's/out + at)/out + at + 1)/' ;;
	esac
}

main "$@"
