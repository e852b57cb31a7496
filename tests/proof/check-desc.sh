#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The descriptor codec has no undefined behaviour for any input, on four machine models: Frama-C's Eva reports no
# alarm for desc.c, which calls it with everything that its contracts permit.
# shellcheck source=tests/proof/eva.sh
. "$(dirname "$0")/eva.sh"

# The reader of a descriptor, whose kind is one of three: a descriptor's field equals a parameter.
READ="-eva-domains octagon,equality -eva-equality-through-calls formals
	-eva-split-return-function dpumap_desc_size:0:68:80:100"

# part NAME MODEL:HEADER ARGUMENT...: analyse one part of desc.c, unless PARTS names others
part()
{
	local name=$1 model=$2
	shift 2
	case " ${PARTS-$name} " in
	*" $name "*) eva "$name-${model%:*}" "$model" "main_$name" "$@" ;;
	esac
}

run_check()
{
	local model codec
	codec="tests/proof/desc.c $(cd "$TREE" && echo src/desc/*.c)"
	eva_begin
	for model in ${ONLY_MODELS:-$MODELS}; do
		part lengths "$model" "-DANY_VALUES ${LENGTHS:+-DLENGTHS=$LENGTHS}" \
			"tests/proof/desc.c src/desc/crc32c.c src/desc/decode.c" -eva-precision 0 -eva-slevel 20
		# shellcheck disable=SC2086 # words
		part read "$model" -DANY_CHECKSUM "${codec/src\/desc\/crc32c.c/}" -eva-precision 2 $READ
		part find "$model" -DANY_STATUS "tests/proof/desc.c src/desc/diagnose.c src/desc/check.c" -eva-precision 1
		part encode "$model" "" "$codec" -eva-precision 1
		part values "$model" "" "$codec" -eva-precision 3
		part null "$model" "" "$codec" -eva-precision 1
	done
	eva_end
}

PLANTS=6
plant()
{
	local desc=$1/src/desc
	case $2 in
	1) export PARTS=read; edit "$desc/cursor.h" 's/if (r->overrun || n > left)/if (r->overrun)/' ;;
	2) export PARTS=encode; edit "$desc/encode.c" 's/buf_len < size/buf_len + 1 < size/' ;;
	3) export PARTS=read; edit "$desc/check.c" 's/from + 8 <= size/from <= size/' ;;
	4) export PARTS=values; edit "$desc/status.c" 's/status > -NUM_STATUSES ?/status >= -NUM_STATUSES - 1 ?/' ;;
	5) export PARTS=lengths; edit "$desc/crc32c_table.h" 's/i < len/i <= len/' ;;
	6) export PARTS=find; edit "$desc/diagnose.c" '/case DPUMAP_DESC_ERR_TLV_ORDER:/d' ;;
	esac
}

# One model and the short lengths are enough for the planted defects.
case " $* " in
*" --self-test "*) export ONLY_MODELS=${MODELS%% *} LENGTHS=20 ;;
esac

main "$@"
