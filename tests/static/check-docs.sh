#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# All targets of relative links in the documents and in the templates of issues and changes exist, also the headings,
# and so do all paths of the tree in `code`, the pictures and the version of CMake that the documents require. The README
# lists all documents. Each test that a document names exists.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

documents()
{
	(cd "$TREE" && ls ./*.md && find docs -name '*.md') | sed 's|^\./||'
}

# The texts that forges put into an issue or a change; they are no pages.
templates()
{
	(cd "$TREE" && find .github -name '*.md')
}

# anchors DOCUMENT: print the anchors of its headings
anchors()
{
	sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

check_links()
{
	local doc=$1 link path
	while read -r link; do
		case $link in
		http://* | https://* | mailto:*) continue ;;
		'#'*) path=$TREE/$doc ;;
		*) path=$TREE/$(dirname "$doc")/${link%%#*} ;;
		esac
		[ -e "$path" ] || { bad "$doc: the target of the link $link does not exist"; continue; }
		[[ $link != *#* ]] || grep -qxF -e "${link#*#}" <(anchors "$path") ||
			bad "$doc: the link $link names no heading"
	done < <(grep -oE '\]\([^) ]+\)' "$TREE/$doc" | sed 's/^](//; s/)$//')
}

check_paths()
{
	local doc=$1 path
	while read -r path; do
		# shellcheck disable=SC2086
		compgen -G "$TREE/$path" >/dev/null || bad "$doc: $path does not exist"
	done < <(grep -oE '`(src|emu|include|dpu|host|tests|examples|man|scripts|docs|cmake|\.ci)/[A-Za-z0-9_./*-]*' \
		"$TREE/$doc" | tr -d '`' | LC_ALL=C sort -u)
}

# Tests are named `FILE::NAME`, and NAME is a function of the file.
check_tests()
{
	local doc=$1 test name
	while read -r test; do
		name=${test#*::}
		grep -qsE "^ *(static void|def) $name\\(" "$TREE/${test%%::*}" || bad "$doc: ${test%%::*} has no test $name"
	done < <(grep -oE '`tests/[A-Za-z0-9_./-]+::[A-Za-z0-9_]+' "$TREE/$doc" | tr -d '`' | LC_ALL=C sort -u)
}

# The README lists every page.
check_index()
{
	local doc readme
	readme=$(<"$TREE/README.md")
	for doc in $(documents); do
		[[ $doc = README.md || $readme = *"]($doc)"* || $readme = *"]($doc#"* ]] ||
			bad "README.md, section Documentation, does not list $doc"
	done
}

# Pictures are well-formed, say what they show, and are in a document, with a text for readers who do not see them.
check_pictures()
{
	local picture
	for picture in "$TREE"/docs/*.svg "$TREE"/docs/emu/*.svg; do
		python3 -c 'import sys, xml.etree.ElementTree as x
svg = "{http://www.w3.org/2000/svg}"; tree = x.parse(sys.argv[1]).getroot()
sys.exit(tree.tag != svg + "svg" or not tree.findtext(svg + "title"))' "$picture" 2>/dev/null ||
			bad "${picture#"$TREE"/} is not an SVG with a title"
		grep -qE "!\[[^]]{20,}\]\((docs/)?$(basename "$picture")\)" \
			<(cat "$TREE"/*.md "$TREE"/docs/*.md "$TREE"/docs/emu/*.md | tr '\n' ' ') ||
			bad "no document shows ${picture#"$TREE"/} with a text of at least 20 characters"
	done
}

# The terms are in alphabetical order, and other documents use them.
check_terms()
{
	local term terms text LC_ALL=C
	terms=$(sed -n 's/^| \([^|]*\) |.*/\1/p' "$TREE/docs/terms.md" | tail -n +3)
	LC_ALL=C sort -fdc <<<"$terms" || bad "docs/terms.md: the terms are not in alphabetical order"
	text=$(cd "$TREE" && find docs README.md -name '*.md' ! -name terms.md -exec cat {} + | tr '[:upper:]' '[:lower:]')
	while read -r term; do
		[[ $text = *"${term%%,*}"* ]] || bad "docs/terms.md: no document uses the term $term"
	done < <(tr '[:upper:]' '[:lower:]' <<<"$terms")
}

check_cmake()
{
	local needed presets said
	needed=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))/\1/p' "$TREE/CMakeLists.txt")
	presets=$(sed -n '/"cmakeMinimumRequired"/,/}/s/.*"m[aij]*n*or": \([0-9]*\).*/\1/p' "$TREE/CMakePresets.json" |
		paste -sd .)
	said=$(grep -rnoE '(presets )?needs? CMake [0-9.]*[0-9]' "$TREE/README.md" "$TREE/docs" |
		grep -vE ":presets need CMake $presets$|:needs? CMake $needed$" || true)
	[ -z "$said" ] || bad "the sources need CMake $needed, and the presets $presets: $said"
}

run_check()
{
	local doc
	for doc in README.md CHANGELOG.md CONTRIBUTING.md docs/architecture.md docs/hardware.md \
		docs/wire-format.md; do
		[ -s "$TREE/$doc" ] || bad "$doc is missing"
	done
	check_index
	check_pictures
	check_terms
	check_cmake
	for doc in $(documents) $(templates); do
		check_links "$doc"
		check_paths "$doc"
		check_tests "$doc"
	done
}

PLANTS=14
plant()
{
	case $2 in
	1) printf '[the plan](docs/no-such-file.md)\n' >>"$1/README.md" ;;
	2) printf 'See \140src/core/no-such-file.c\140.\n' >>"$1/docs/architecture.md" ;;
	3) rm "$1/docs/hardware.md" ;;
	4) touch "$1/docs/planted.md" ;;
	5) edit "$1/docs/emu/capture.svg" 's/<svg /<svg/' ;;
	6) edit "$1/docs/cross.md" 's/need CMake 3.25/need CMake 3.22/; s/need CMake 3.22, the/need CMake 3.25, the/' ;;
	7) edit "$1/README.md" 's/(docs.path.svg)/(docs\/session.svg)/' ;;
	8) edit "$1/docs/path.svg" 's/title/desc/g' ;;
	9) edit "$1/README.md" 's/^## Documentation/## Pages/' ;;
	10) edit "$1/docs/python.md" 's/^## Tests with pytest/## pytest/' ;;
	11) edit "$1/docs/terms.md" 's/^| alias |/| zalias |/' ;;
	12) edit "$1/docs/terms.md" 's/^| arena |/| arenal |/' ;;
	13) edit "$1/.github/pull_request_template.md" 's/scripts.test/scripts\/tests/' ;;
	14) edit "$1/tests/agents/test_secrets.py" 's/def test_keys_are_not_logged/def test_keys_are_not_in_logs/' ;;
	esac
}

main "$@"
