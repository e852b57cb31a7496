#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The manual pages are well formed, and dpumap-emu(1) has every option and verb that --help has.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"


check_words()
{
	local page=$1 word
	while read -r word; do
		# In the source an option is "Fl Fl name".
		grep -qE -- "Fl Fl ${word#--}( |\$)" "$page" || bad "$page does not have $word"
	done < <("$BUILD/bin/dpumap-emu" --help | grep -oE -- '--[a-z]+(-[a-z]+)*' | LC_ALL=C sort -u)
	for word in run start status stop trace caps fault; do
		grep -qE "^\.(It )?Cm $word\$" "$page" || bad "$page does not explain $word"
	done
}

run_check()
{
	local page seen=0 said
	for page in "$TREE"/man/*.1; do
		seen=$((seen + 1))
		said=$(mandoc -T lint -W warning "$page" || true)
		[ -z "$said" ] || bad "$said"
	done
	[ "$seen" -gt 0 ] || bad "there is no manual page"
	check_words "$TREE/man/dpumap-emu.1"
}

PLANTS=2
plant()
{
	case $2 in
	1) printf '.Bl\n' >>"$1/man/dpumap-emu.1" ;;
	2) sed -i '/Fl Fl json/d' "$1/man/dpumap-emu.1" ;;
	esac
}

main "$@"
