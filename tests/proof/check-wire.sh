#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The decoder of frames of doca_comch has no undefined behaviour for any input: Frama-C's Eva reports no alarm for
# wire.c. The library runs on 64-bit little-endian machines only.
# shellcheck source=tests/proof/eva.sh
. "$(dirname "$0")/eva.sh"

run_check()
{
	eva_begin
	eva wire-payload "${MODELS%% *}" main_payload -Itests/proof/include tests/proof/wire.c \
		-eva-precision 1 -eva-domains octagon
	eva wire-frame "${MODELS%% *}" main_frame -Itests/proof/include tests/proof/wire.c \
		-eva-precision 1 -eva-domains octagon
	eva_end
}

PLANTS=2
plant()
{
	case $2 in
	1) edit "$1/src/comch/wire.c" 's/if (r->left > sizeof(path->info))/if (r->left > sizeof(path->info) + 1)/' ;;
	2) edit "$1/src/comch/wire.c" 's/len < dpumap_comch_frame_size(payload)/len < payload/' ;;
	esac
}

main "$@"
