#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The decoder of frames of doca_comch has no undefined behaviour for any input: Frama-C's Eva reports no alarm for
# wire.c. The library runs on 64-bit little-endian machines only.
# shellcheck source=tests/proof/eva.sh
. "$(dirname "$0")/eva.sh"

run_check()
{
	local part
	eva_begin
	for part in ${PARTS-payload frame}; do
		eva "wire-$part" "${MODELS%% *}" "main_$part" "-Itests/proof/include ${SIZES:+-DSIZES=$SIZES}" tests/proof/wire.c \
			-eva-precision 0 -eva-slevel 20
	done
	eva_end
}

PLANTS=3
plant()
{
	case $2 in
	1) export PARTS=payload; edit "$1/src/comch/link/wire.c" 's/if (r->left > sizeof(path->info))/if (r->left > sizeof(path->info) + 1)/' ;;
	2) export PARTS=frame; edit "$1/src/comch/link/wire.c" 's/len < dpumap_comch_frame_size(payload)/len < payload/' ;;
	3) export PARTS=payload; edit "$1/src/comch/link/wire.c" 's/len >= sizeof(place->name)/len > sizeof(place->name) + 8/' ;;
	esac
}

# Short frames are enough for the planted defects.
case " $* " in
*" --self-test "*) export SIZES=64 ;;
esac

main "$@"
