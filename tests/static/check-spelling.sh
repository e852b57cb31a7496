#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# codespell finds no misspelt word. spelling-words.txt lists correct words that it does not know.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local dir dirs=()
	for dir in "${SOURCE_DIRS[@]}"; do
		[ ! -e "$TREE/$dir" ] || dirs+=("$dir")
	done
	# Ignore hexadecimal bytes.
	(cd "$TREE" && codespell --ignore-words tests/static/spelling-words.txt \
		--skip 'tests/vectors,tests/fuzz/corpus,tests/emu/fuzz/corpus,*.pyc' "${dirs[@]}" ./*.md >&2) ||
		bad "codespell complains"
}

make_scratch()
{
	mkdir -p "$1/tests/static" "$1/docs" "$1/src"
	cp "$TREE/README.md" "$1/"
	cp "$TREE/docs/architecture.md" "$1/docs/"
	cp "$TREE/tests/static/spelling-words.txt" "$1/tests/static/"
}

PLANTS=3
plant()
{
	case $2 in
	1) printf 'Memory is recie%s.\n' ved >>"$1/docs/architecture.md" ;;
	2) printf '/* The adr%s of a map */\n' ess >"$1/src/planted.c" ;;
	3) printf 'It is seper%s.\n' ate >>"$1/README.md" ;;
	esac
}

main "$@"
