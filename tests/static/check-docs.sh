#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# All targets of relative links in the documents exist, and so do all paths of the tree in `code`, the
# manual pages of headers, and the version of CMake that the documents require.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

documents()
{
	(cd "$TREE" && ls ./*.md && find docs -name '*.md') | sed 's|^\./||'
}

check_links()
{
	local doc=$1 link path
	while read -r link; do
		case $link in
		http://* | https://* | mailto:* | '#'*) continue ;;
		esac
		path=${link%%#*}
		[ -e "$TREE/$(dirname "$doc")/$path" ] || bad "$doc: the target of the link $link does not exist"
	done < <(grep -oE '\]\([^) ]+\)' "$TREE/$doc" | sed 's/^](//; s/)$//')
}

check_paths()
{
	local doc=$1 path
	while read -r path; do
		# shellcheck disable=SC2086
		compgen -G "$TREE/$path" >/dev/null || bad "$doc: $path does not exist"
	done < <(grep -oE '`(src|include|dpu|host|tests|examples|man|scripts|docs|cmake|\.ci)/[A-Za-z0-9_./*-]*' \
		"$TREE/$doc" | tr -d '`' | LC_ALL=C sort -u)
}

# The README names the headers without a manual page.
check_pages()
{
	local header name without
	# shellcheck disable=SC2016 # a regular expression
	without=$(tr '\n' ' ' <"$TREE/README.md" | sed -n 's/.*headers of the table, except \([^.]*\.h`[^.]*\.h` and `[a-z_]*\.h`\)\..*/\1/p')
	[ -n "$without" ] || bad "README.md does not name the headers without a manual page"
	for header in "$TREE"/include/dpumap/*.h; do
		name=$(basename "$header" .h)
		case $without in
		*"\`$name.h\`"*) [ ! -e "$TREE/man/dpumap_$name.3" ] || bad "README.md: $name.h has a manual page" ;;
		*) [ -e "$TREE/man/dpumap_$name.3" ] || bad "README.md: $name.h has no manual page" ;;
		esac
	done
}

check_cmake()
{
	local needed said
	needed=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))/\1/p' "$TREE/CMakeLists.txt")
	[ "$(sed -n '/"cmakeMinimumRequired"/,/}/s/.*"m[aij]*n*or": \([0-9]*\).*/\1/p' "$TREE/CMakePresets.json" |
		paste -sd .)" = "$needed" ] || bad "CMakePresets.json does not require CMake $needed"
	said=$(grep -rnoE 'needs? CMake [0-9.]*[0-9]' "$TREE/README.md" "$TREE/docs" | grep -v " $needed$" || true)
	[ -z "$said" ] || bad "the sources need CMake $needed: $said"
}

run_check()
{
	local doc
	for doc in README.md CHANGELOG.md CONTRIBUTING.md docs/architecture.md docs/hardware.md \
		docs/wire-format.md; do
		[ -s "$TREE/$doc" ] || bad "$doc is missing"
	done
	check_pages
	check_cmake
	for doc in $(documents); do
		check_links "$doc"
		check_paths "$doc"
	done
}

PLANTS=6
plant()
{
	case $2 in
	1) printf '[the plan](docs/no-such-file.md)\n' >>"$1/README.md" ;;
	2) printf 'See \140src/core/no-such-file.c\140.\n' >>"$1/docs/architecture.md" ;;
	3) rm "$1/docs/hardware.md" ;;
	4) rm "$1/man/dpumap_umem.3" ;;
	5) touch "$1/man/dpumap_dma.3" ;;
	6) edit "$1/docs/cross.md" 's/need CMake 3.25/need CMake 3.22/' ;;
	esac
}

main "$@"
