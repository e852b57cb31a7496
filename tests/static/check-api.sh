#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# doxygen makes the reference of the functions without a warning. Its first page, docs/api.md, lists each public
# header once, with the manual page of section 3 that it has, and the reference describes each header. The page names
# each function of its header.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

headers()
{
	(cd "$TREE" && find include emu/include -name '*.h' | LC_ALL=C sort)
}

# page_of HEADER: print the name of its page in the HTML
page_of()
{
	basename "$1" .h | sed 's/_/__/g; s/$/_8h.html/'
}

# row_of HEADER: print what docs/api.md says of a header
row_of()
{
	grep -F "](../$1)" "$TREE/docs/api.md" || true
}

# functions_of HEADER: print the functions that it declares
functions_of()
{
	code "$TREE/$1" | tr -s '[:space:]' ' ' | grep -oE 'DOCA_(STABLE|EXPERIMENTAL) [^;{}]*;' |
		sed -nE 's/^[^(]*[ *]([a-z0-9_]+) ?\(.*/\1/p'
}

check_rows()
{
	local header page row function pages
	while read -r header; do
		row=$(row_of "$header")
		[ -n "$row" ] || bad "docs/api.md does not list $header"
		[ "$(grep -oF "](../$header)" "$TREE/docs/api.md" | wc -l)" -le 1 ] || bad "docs/api.md lists $header twice"
		pages=()
		for page in $(grep -oE '[a-z_]+\(3\)' <<<"$row" || true); do
			[ -e "$TREE/man/${page%(3)}.3" ] || { bad "docs/api.md: there is no manual page $page"; continue; }
			pages+=("$TREE/man/${page%(3)}.3")
		done
		[ ${#pages[@]} -gt 0 ] || continue
		for function in $(functions_of "$header"); do
			grep -qE "^\.Nm $function( ,)?\$" "${pages[@]}" ||
				bad "no manual page of $header names $function"
		done
	done < <(headers)
	for page in "$TREE"/man/*.3; do
		page=$(basename "$page" .3)
		grep -qF "$page(3)" "$TREE/docs/api.md" || bad "docs/api.md does not name the manual page $page(3)"
	done
}

check_html()
{
	local header html=$1/html
	while read -r header; do
		grep -qF "href=\"$(page_of "$header")\"" "$html/index.html" ||
			bad "the first page of the reference does not lead to $header"
		grep -qE "\"$(page_of "$header")\" target=\"_self\">[^<]*</a></td><td class=\"desc\">[A-Z]" "$html/files.html" ||
			bad "$header: its first comment, which must begin in line 2, does not describe the file"
	done < <(headers)
}

run_check()
{
	local out
	out=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-api.XXXXXX")
	check_rows
	if (cd "$TREE" && VERSION=check OUT=$out doxygen docs/Doxyfile) >"$out/log" 2>&1; then
		check_html "$out"
	else
		bad "doxygen: $(cat "$out/log")"
	fi
	rm -rf "$out"
}

PLANTS=7
plant()
{
	case $2 in
	1) edit "$1/include/doca_mmap.h" '0,/@param/s/@param [a-z_]*/@param nothing/' ;;
	2) edit "$1/docs/api.md" '/doca_dma\.h/d' ;;
	3) edit "$1/docs/api.md" 's/^| .*doca_dma\.h.*/&\n&/' ;;
	4) edit "$1/include/doca_dma.h" '2s/.*/#define PLANTED\n&/' ;;
	5) rm "$1/man/dpumap_umem.3" ;;
	7) edit "$1/man/dpumap_dm.3" '/^\.Nm dpumap_dm_read ,/d' ;;
	6) touch "$1/man/dpumap_dma.3" ;;
	esac
}

main "$@"
