#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The descriptor codec has no undefined behaviour for any input, on four machine models: Frama-C's Eva reports no
# alarm for desc.c, which calls it with everything that its contracts permit.
# shellcheck source=tests/proof/eva.sh
. "$(dirname "$0")/eva.sh"

# The reader of a descriptor, whose kind is one of three: a descriptor's field equals a parameter.
READ="-eva-domains octagon,equality -eva-equality-through-calls formals
	-eva-split-return-function dpumap_desc_size:0:68:80:100"

run_check()
{
	local model codec
	codec="tests/proof/desc.c $(cd "$TREE" && echo src/desc/*.c)"
	eva_begin
	for model in ${ONLY_MODELS:-$MODELS}; do
		eva "lengths-${model%:*}" "$model" main_lengths "-DANY_VALUES ${LENGTHS:+-DLENGTHS=$LENGTHS}" \
			"tests/proof/desc.c src/desc/crc32c.c src/desc/decode.c src/desc/diagnose.c" -eva-precision 0 -eva-slevel 20
		# shellcheck disable=SC2086 # words
		eva "read-${model%:*}" "$model" main_read -DANY_CHECKSUM "${codec/src\/desc\/crc32c.c/}" \
			-eva-precision 2 $READ
		eva "encode-${model%:*}" "$model" main_encode "" "$codec" -eva-precision 1
		eva "values-${model%:*}" "$model" main_values "" "$codec" -eva-precision 3
		eva "null-${model%:*}" "$model" main_null "" "$codec" -eva-precision 1
	done
	eva_end
}

PLANTS=5
plant()
{
	case $2 in
	5) edit "$1/src/desc/crc32c_table.h" 's/i < len/i <= len/' ;;
	1) edit "$1/src/desc/cursor.h" 's/if (r->overrun || n > left)/if (r->overrun)/' ;;
	2) edit "$1/src/desc/encode.c" 's/buf_len < size/buf_len + 1 < size/' ;;
	3) edit "$1/src/desc/check.c" 's/ || u->token_len > max)/)/' ;;
	4) edit "$1/src/desc/status.c" 's/status > -NUM_STATUSES ?/status >= -NUM_STATUSES - 1 ?/' ;;
	esac
}

# One model and the short lengths are enough for the planted defects.
case " $* " in
*" --self-test "*) export ONLY_MODELS=${MODELS%% *} LENGTHS=20 ;;
esac

main "$@"
