#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each piece of code in docs/tutorial.md is a consecutive part of an example.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local said
	said=$(python3 - "$TREE" <<-'END'
	import pathlib, re, sys
	tree = pathlib.Path(sys.argv[1])
	def lines(text):
	    return "\n".join(l.strip() for l in text.splitlines() if l.strip())
	sources = [lines(p.read_text()) for p in sorted(tree.glob("examples/doca/*.c"))]
	pieces = re.findall(r"^```c\n(.*?)^```", (tree / "docs/tutorial.md").read_text(), re.M | re.S)
	for piece in pieces:
	    if not any(lines(piece) in source for source in sources):
	        print(f"docs/tutorial.md: no example contains: {piece.strip().splitlines()[0]}")
	if len(pieces) < 5:
	    print("docs/tutorial.md: fewer than 5 pieces of code found")
	END
	) || bad "the program that compares docs/tutorial.md failed"
	[ -z "$said" ] || bad "$said"
}

PLANTS=2
plant()
{
	case $2 in
	1) sed -i 's/submit_next(copier, task)/submit_next(task)/' "$1/examples/doca/copy.c" ;;
	2) sed -i 's/app->is_idle = true/app->is_idle = 1/' "$1/docs/tutorial.md" ;;
	esac
}

main "$@"
