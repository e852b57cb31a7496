#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The decoder of the control channel, for any message: Frama-C's Eva reports the alarms of channel.txt and no
# others. docs/proofs.md has the argument for each of them.
# shellcheck source=tests/proof/eva.sh
. "$(dirname "$0")/eva.sh"

SAID=tests/proof/channel.txt

run_check()
{
	local headers=/usr/include part
	eva_begin
	# The headers of libcbor without those of this machine's C library.
	mkdir "$LOGS/include"
	ln -s "$headers/cbor.h" "$headers/cbor" "$LOGS/include/"
	for part in message text; do
		eva "$part" "${MODELS%% *}" "main_$part" "-Itests/proof/include -I$LOGS/include" \
			"tests/proof/channel.c src/channel/fields.c src/channel/message.c" -eva-precision 2 -eva-domains octagon
	done
	wait
	for part in message text; do
		grep -q '^\[eva:summary\]' "$LOGS/$part" || { tail -n 20 "$LOGS/$part" >&2; bad "the analysis of $part stopped"; }
		eva_alarms "$LOGS/$part"
	done | LC_ALL=C sort -u >"$LOGS/alarms"
	grep -v '^#' "$TREE/$SAID" | diff - "$LOGS/alarms" >&2 || bad "alarms (>) that $SAID (<) does not have"
}

PLANTS=2
plant()
{
	case $2 in
	1) edit "$1/src/channel/decode.c" 's/t.number > DPUMAP_EXPORTS_PER_MSG/t.number > DPUMAP_EXPORTS_PER_MSG + 1/' ;;
	2) edit "$1/src/channel/decode.c" 's/text\[t.len\] = /text[t.len + 1] = /' ;;
	esac
}

main "$@"
