#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/doca-compatibility.md is what scripts/lib/doca-compatibility.py generates from the headers, the names
# of DOCA's functions and the remarks. The remarks are about functions that exist, and each name is declared
# or listed as absent.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local made
	made=$(mktemp)
	python3 "$TREE/scripts/lib/doca-compatibility.py" "$TREE" >"$made" ||
		bad "docs/doca-compatibility.txt or docs/doca-interface.txt contradicts the headers"
	cmp -s "$made" "$TREE/docs/doca-compatibility.md" ||
		bad "docs/doca-compatibility.md is stale; run scripts/lib/doca-compatibility.py --write ."
	rm -f "$made"
}

PLANTS=11
plant()
{
	local data=$1/docs/doca-compatibility.txt list=$1/docs/doca-interface.txt
	case $2 in
	1) sed -i '/doca_dev_open.* works/s/works/refuses/' "$1/docs/doca-compatibility.md" ;;
	2) printf 'DOCA_STABLE int doca_planted(void);\n' >>"$1/include/doca_dev.h" ;;
	3) printf '[doca_dev.h]\ndoca_dev_no_such | works | nothing\n' >>"$data" ;;
	4) printf '[doca_dev.h]\ndoca_dev_open | refuses | nothing\n' >>"$data" ;;
	5) printf '[doca_dev.h]\ndoca_dev_open | absent | nothing\n' >>"$data" ;;
	6) sed -i '0,/in all other cases/s//when it rains/' "$1/include/doca_dma.h" ;;
	7) sed -i '/^doca_dev_open$/d' "$list" ;;
	8) printf '[doca_dev.h]\ndoca_dev_planted\n' >>"$list" ;;
	9) printf '[doca_dev.h]\ndoca_planted_* | absent | nothing\n' >>"$data" ;;
	10) sed -i '/^doca_comch_msgq_/d' "$data" ;;
	11) printf '[doca_dev.h]\ndoca_dev_open | extra | nothing\n' >>"$data" ;;
	esac
}

main "$@"
