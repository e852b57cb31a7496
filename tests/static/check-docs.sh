#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# All targets of relative links in the documents exist, and so do all paths of the tree in `code`.
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

run_check()
{
	local doc
	for doc in README.md CHANGELOG.md CONTRIBUTING.md docs/architecture.md docs/hardware.md \
		docs/wire-format.md; do
		[ -s "$TREE/$doc" ] || bad "$doc is missing"
	done
	for doc in $(documents); do
		check_links "$doc"
		check_paths "$doc"
	done
}

PLANTS=3
plant()
{
	case $2 in
	1) printf '[the plan](docs/no-such-file.md)\n' >>"$1/README.md" ;;
	2) printf 'See \140src/core/no-such-file.c\140.\n' >>"$1/docs/architecture.md" ;;
	3) rm "$1/docs/hardware.md" ;;
	esac
}

main "$@"
