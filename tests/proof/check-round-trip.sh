#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Encoding what was decoded gives the same bytes: clang unrolls the functions of round_trip.c, smt.py translates
# them to formulas, and CVC4 shows that no bytes make one of them return 0.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/../static/lib.sh"

TARGETS="x86_64 i386 armv7-none-eabi s390x" # the last one is big-endian

# translate TARGET FOLDER: write a formula for each function
translate()
{
	clang --target="$1" -std=c11 -ffreestanding -O2 -fno-discard-value-names -fno-vectorize -fno-slp-vectorize \
		-mllvm -unroll-threshold=100000 -mllvm -inline-threshold=100000 -S -emit-llvm -o - \
		-I "$2" -I "$TREE/src" -I "$TREE/include" "$TREE/tests/proof/round_trip.c" |
		python3 "$TREE/tests/proof/smt.py" "$2"
}

# expect FILE ANSWER
expect()
{
	local answer
	answer=$(cvc4 --lang smt2 --tlimit=60000 "$1" 2>&1) || true
	[ "$answer" = "$2" ] || bad "${1##*/}: the prover says '$answer', not '$2'"
}

run_check()
{
	local home target file
	home=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-smt.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$home'" EXIT
	for target in ${ONLY_TARGET:-$TARGETS}; do
		mkdir "$home/$target"
		# The compiler's builtins need no declarations of a C library for the target.
		: >"$home/$target/string.h"
		translate "$target" "$home/$target" || { bad "$target: not translated"; continue; }
		for file in pci rdma umem; do
			expect "$home/$target/proof_$file.smt2" unsat
			expect "$home/$target/refused_$file.smt2" sat
		done
		echo "$target: 3 kinds, each with all bytes"
	done
}

make_scratch()
{
	mkdir -p "$1/src" "$1/tests"
	cp -a "$TREE/include" "$1/"
	cp -a "$TREE/src/desc" "$1/src/"
	cp -a "$TREE/tests/proof" "$1/tests/"
}

PLANTS=5
plant()
{
	local desc=$1/src/desc
	case $2 in
	1) edit "$desc/encode.c" 's/put_u32(w, u->pdn);/put_u32(w, u->pd_handle);/' ;;
	2) edit "$desc/decode.c" 's/if (get_u32(r) != MAGIC)/if ((get_u32(r) | 1) != (MAGIC | 1))/' ;;
	3) edit "$desc/bytes.h" 's/value >> 16/value >> 15/' ;;
	4) edit "$desc/decode.c" 's/if (crc != dpumap_desc_checksum(buf, len))/if (!crc)/' ;;
	5) edit "$desc/decode.c" 's/d->source = get_u16(r);/d->source = get_u16(r) \& 0x7fff;/' ;;
	esac
}

# One target suffices to find a defect.
case " $* " in
*" --self-test "*) export ONLY_TARGET=x86_64 ;;
esac

main "$@"
