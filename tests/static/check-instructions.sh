#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The hot paths execute as many instructions as tests/bench/instructions.txt says, within 5 %. A path that has
# become cheaper changes the file too, so that it cannot become dearer again unnoticed.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

SAID=tests/bench/instructions.txt
OWN_TREE=$TREE

# Measure the build; for plants, only if the programs are newer than the last counts.
measure()
{
	local counts=$BUILD/instructions.txt
	(
		flock 9
		if [ "$TREE" = "$OWN_TREE" ] || [ ! -e "$counts" ] ||
			[ -n "$(find "$BUILD/bin" "$BUILD/lib" -newer "$counts" -print -quit)" ]; then
			"$OWN_TREE/tests/bench/instructions.sh" "$BUILD" >"$counts.new"
			mv "$counts.new" "$counts"
		fi
	) 9>"$counts.lock"
	numbers "$counts"
}

# numbers FILE: print name, tab and count of each operation, sorted by name
numbers()
{
	sed -n 's/^\([^#].*[^ ]\)  *\([0-9]*\)$/\1\t\2/p' "$1" | LC_ALL=C sort
}

run_check()
{
	local name now said
	if [ "$(uname -m)" != x86_64 ] || ! grep -q '^CMAKE_BUILD_TYPE:.*=Release$' "$BUILD/CMakeCache.txt"; then
		echo "the counts are those of a Release build for x86-64"
		exit 77
	fi
	while read -r said now name; do
		case $said,$now in
		-,*) bad "$SAID lacks $name" ;;
		*,-) bad "$SAID: $name is not measured" ;;
		*)
			if [ $((now * 100)) -gt $((said * 105)) ] || [ $((said * 100)) -gt $((now * 105)) ]; then
				bad "$name: $now instructions, $said in $SAID; if that is meant, see its first lines"
			fi
			;;
		esac
	done < <(LC_ALL=C join -t '	' -a 1 -a 2 -e - -o 1.2,2.2,0 <(numbers "$TREE/$SAID") <(measure))
}

PLANTS=3
plant()
{
	case $2 in
	1) edit "$1/$SAID" 's/^\(buf  *\)[0-9]*$/\190/' ;;
	2) edit "$1/$SAID" '/^descriptor/d' ;;
	3) echo 'planted 1' >>"$1/$SAID" ;;
	esac
}

main "$@"
