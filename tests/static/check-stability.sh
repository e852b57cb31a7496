#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/stability.md names the libraries, symbol versions and formats as the sources have them, and lanes that exist.
# shellcheck disable=SC2016 # the page has backquotes
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# number FILE NAME: print the number that a file defines for a name
number()
{
	sed -n "s/^#define $2[[:space:]]*\([0-9]*\)u*\$/\1/p" "$TREE/$1"
}

# says TEXT: the page has a line with the text
says()
{
	grep -qF -e "$1" "$TREE/docs/stability.md" || bad "docs/stability.md does not say \"$1\""
}

check_libraries()
{
	local map name soversion
	soversion=$(sed -n 's/^set(DPUMAP_SOVERSION \(.*\))/\1/p' "$TREE/CMakeLists.txt")
	while read -r map; do
		says "\`$(basename "$map" .map).so.$soversion\`"
		while read -r name; do
			says "\`$name\`"
		done < <(sed -n '/PRIVATE/d; s/^\([A-Z_0-9.]*\) {$/\1/p' "$TREE/$map")
	done < <(cd "$TREE" && find src -name 'lib*.map')
}

check_formats()
{
	local layout=src/desc/layout.h
	says "sections 1 to 12) | $(number $layout VERSION_MAJOR).$(number $layout VERSION_MINOR) |"
	says "section 14 | $(number src/channel/message.h DPUMAP_CHANNEL_VERSION) |"
	says "frames of \`doca_comch\` | $(number src/comch/link/wire.h COMCH_VERSION) |"
	says "keys below \`$(sed -n 's|^#define ROOT.*"\(.*\)/"$|\1|p' "$TREE/src/fleet/record/names.c")\`"
}

run_check()
{
	local lane
	check_libraries
	check_formats
	while read -r lane; do
		[ -e "$TREE/scripts/lanes/$lane" ] || bad "docs/stability.md: there is no lane $lane"
	done < <(grep -oE 'lanes? `[a-z]+`( and `[a-z]+`)*' "$TREE/docs/stability.md" | grep -oE '`[a-z]+`' | tr -d '`')
}

PLANTS=6
plant()
{
	case $2 in
	1) edit "$1/CMakeLists.txt" 's/(DPUMAP_SOVERSION 0)/(DPUMAP_SOVERSION 1)/' ;;
	2) edit "$1/src/libdpumap.map" 's/^DPUMAP_0.1 {/DPUMAP_0.2 {/' ;;
	3) edit "$1/src/desc/layout.h" 's/VERSION_MINOR 0u/VERSION_MINOR 1u/' ;;
	4) edit "$1/src/channel/message.h" 's/CHANNEL_VERSION \([0-9]*\)u/CHANNEL_VERSION 1\1u/' ;;
	5) edit "$1/src/fleet/record/names.c" 's|/dpumap/v1/|/dpumap/v2/|' ;;
	6) edit "$1/docs/stability.md" 's/lane `newest`/lane `latest`/' ;;
	esac
}

main "$@"
