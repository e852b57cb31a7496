#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The manual pages are well formed, and dpumap-emu(1) and dpumap(1) describe every option and verb that
# --help lists.
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

# Check the page of dpumap, whose commands have options of their own.
check_tool()
{
	local page=$1 tool=$BUILD/bin/dpumap command word commands
	mapfile -t commands < <("$tool" --help |
		sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\( [a-z]\{4,\}\)\{0,1\}\) .*/\1/p')
	[ "${#commands[@]}" -gt 0 ] || bad "dpumap --help lists no command"
	for command in "${commands[@]}"; do
		grep -qE "^\.It (.* )?Cm $command( |\$)" "$page" || bad "$page does not explain $command"
	done
	while read -r word; do
		grep -qE -- "Fl Fl ${word#--}( |\$)" "$page" || bad "$page does not have $word"
	done < <({
		"$tool" --help
		for command in "${commands[@]}"; do
			# shellcheck disable=SC2086 # some commands are two words
			"$tool" $command --help
		done
	} | grep -oE -- '^ +(-.,)? +--[a-z]+(-[a-z]+)*' | grep -oE -- '--[a-z-]+' |
		grep -vxE -- '--(help|usage|version)' | LC_ALL=C sort -u)
}

run_check()
{
	local page seen=0 said
	for page in "$TREE"/man/*.[158]; do
		seen=$((seen + 1))
		said=$(mandoc -T lint -W warning "$page" || true)
		[ -z "$said" ] || bad "$said"
	done
	[ "$seen" -gt 0 ] || bad "no manual page found in $TREE/man"
	check_words "$TREE/man/dpumap-emu.1"
	check_tool "$TREE/man/dpumap.1"
}

PLANTS=4
plant()
{
	case $2 in
	1) printf '.Bl\n' >>"$1/man/dpumap-emu.1" ;;
	2) sed -i '/Fl Fl json/d' "$1/man/dpumap-emu.1" ;;
	3) sed -i 's/Fl Fl file-offset/Fl Fl file/' "$1/man/dpumap.1" ;;
	4) sed -i '/^\.It Cm watch/d' "$1/man/dpumap.1" ;;
	esac
}

main "$@"
