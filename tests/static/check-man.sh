#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# mandoc has no remark about a manual page, dpumap(1), dpumapd(8) and dpumap-emu(1) describe every command and every
# option that --help lists, and dpumapd.conf(5) and dpumap(1) every key of the two configuration files.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"


# check_tool PAGE PROGRAM: compare the page with the help of the program and of its commands
check_tool()
{
	local page=$1 tool=$BUILD/bin/$2 command word commands
	mapfile -t commands < <("$tool" --help |
		sed -n '/^Commands:$/,/^$/s/^  \([a-z-]*\( [a-z][a-z]*\)\{0,1\}\) .*/\1/p')
	[ "${#commands[@]}" -gt 0 ] || bad "$2 --help lists no command"
	for command in "${commands[@]}"; do
		grep -qE "^\.(It (.* )?)?Cm ${command#ctl }( |\$)" "$page" || bad "$page does not explain $command"
	done
	while read -r word; do
		# In the source an option is "Fl Fl name".
		grep -qE -- "Fl Fl ${word#--}( |\$)" "$page" || bad "$page does not have $word"
	done < <({
		"$tool" --help
		for command in "${commands[@]}"; do
			# shellcheck disable=SC2086 # some commands are two words
			"$tool" $command --help
		done
	} | grep -oE -- '^ +(-.,)? +--[a-z][a-z0-9]*(-[a-z0-9]+)*' | grep -oE -- '--[a-z0-9-]+' | LC_ALL=C sort -u)
}

# check_keys PAGE PATTERN FILE...: the page describes each key that the files have in strings between these patterns
check_keys()
{
	local page=$1 pattern=$2 key keys
	shift 2
	keys=$(cat "$@" | tr -s '[:space:]' ' ' | grep -oE "$pattern" | sed -E 's/[^"]*"([^"]*)".*/\1/' | LC_ALL=C sort -u)
	[ -n "$keys" ] || bad "no key found for $page"
	for key in $keys; do
		grep -qE "^\.(It (.* )?)?Cm ([a-z_]+ , )*$key( |\$)" "$page" || bad "$page does not explain the key $key"
	done
}

run_check()
{
	local page seen=0 said
	for page in "$TREE"/man/*.[1-9]; do
		seen=$((seen + 1))
		# Which other pages are found depends on the machine.
		said=$(mandoc -T lint "$page" 2>&1 |
			grep -v -e ' outdated mandoc.db lacks ' -e ' referenced manual not found: ' || true)
		[ -z "$said" ] || bad "$said"
	done
	while read -r page; do
		grep -qE "^\.Nm $page( ,)?\$" "$TREE"/man/*.[1-9] || [ -e "$(echo "$TREE/man/$page".[1-9])" ] ||
			bad "a page refers to $page, which is missing"
	done < <(sed -nE 's/^\.Xr ((dpumap|doca)[^ ]*) .*/\1/p' "$TREE"/man/*.[1-9] | sort -u)
	[ "$seen" -gt 0 ] || bad "no manual page found in $TREE/man"
	check_tool "$TREE/man/dpumap-emu.1" dpumap-emu
	check_tool "$TREE/man/dpumapd.8" dpumapd
	check_tool "$TREE/man/dpumap.1" dpumap
	check_keys "$TREE/man/dpumapd.conf.5" '\{"[a-z_]+", load_[a-z_]+\}' "$TREE"/dpu/{settings,registry}/*.c
	# "fd" is for dpumapd ctl add only.
	check_keys "$TREE/man/dpumapd.conf.5" '\{"([a-eg-z][a-z_]*|f[a-ce-z][a-z_]*)", (set|add)_[a-z_]+\}' "$TREE"/dpu/spec/*.c
	check_keys "$TREE/man/dpumap.1" '\{"[a-z_]+", (true|false),|strcmp\([^"()]*(\([a-z]*\))?, "[a-z_]+"\) == 0' \
		"$TREE/src/channel/host_config.c"
}

PLANTS=10
plant()
{
	case $2 in
	1) printf '.Bl\n' >>"$1/man/dpumap-emu.1" ;;
	2) sed -i '/Fl Fl json/d' "$1/man/dpumap-emu.1" ;;
	3) sed -i 's/Fl Fl file-offset/Fl Fl file/' "$1/man/dpumap.1" ;;
	4) edit "$1/man/dpumap.1" '/^\.It Cm fill/d' ;;
	5) edit "$1/man/dpumapd.8" '/^\.It Cm reload/d' ;;
	6) printf 'This line of a manual page has more than eighty bytes, which mandoc reports as style.\n' >>"$1/man/dpumap_dm.3" ;;
	8) edit "$1/man/dpumapd.conf.5" '/^\.It Cm exports_dir/d' ;;
	9) edit "$1/man/dpumapd.conf.5" '/^\.It Cm label/d' ;;
	10) edit "$1/man/dpumap.1" '/^\.It Cm introducers/d' ;;
	7) edit "$1/man/dpumap_dm.3" 's/^\.Nm dpumap_dm_write.*/.Nm dpumap_dm_wrote/' ;;
	esac
}

main "$@"
