#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each rule of the memory map, of the control channel, of RDMA, of sync events and of verbs has a test,
# each test of the rules has a rule, and docs/doca-*-rules.md list both. `--write` updates these documents.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

TABLES=(mmap comch rdma sync-event verbs)
WRITE=no

# check_table NAME: compare the rules and the tests of a table, and its document
check_table()
{
	local made wrong=no doc=docs/doca-$1-rules.md
	made=$(mktemp)
	if ! python3 "$(dirname "${BASH_SOURCE[0]}")/rules.py" "$TREE" "$1" >"$made"; then
		bad "$1: the rules and their tests differ"
		wrong=yes
	fi
	if [ "$WRITE" = yes ] && [ $wrong = no ]; then
		cat "$made" >"$TREE/$doc"
	fi
	cmp -s "$made" "$TREE/$doc" || bad "$doc is stale: ${0##*/} --write"
	rm -f "$made"
}

run_check()
{
	local table
	for table in "${TABLES[@]}"; do
		check_table "$table"
	done
}

PLANTS=14
plant()
{
	local rules=$1/tests/integration/rules comch=$1/tests/integration/comch
	case $2 in
	1) echo 'M-CRE-99 | R | a rule that no test shows' >>"$rules/rules.txt" ;;
	2) sed -i '/^M-EXP-5 /d' "$rules/rules.txt" ;;
	3) sed -i '/^\/\* rule: M-EXP-5 \*\/$/d' "$rules/test_rules_export.c" ;;
	4) sed -i 's/^\(\/\* rule: M-EXP-5\) /\1, M-EXP-99 /' "$rules/test_rules_export.c" ;;
	5) sed -i 's/^\(M-EXP-5 .*\)/\1 | nobody knows how/' "$rules/rules.txt" ;;
	6) sed -i '/rule_test(export_pci_without_pci_permission/d' "$rules/test_rules_export.c" ;;
	7) sed -i '/^| M-EXP-5 /s/PCI/USB/' "$1/docs/doca-mmap-rules.md" ;;
	8) sed -i '/ROW(start,/d' "$rules/test_rules_states.c" ;;
	9) sed -i 's/\(ROW(start, OK, \)NOT_PERMITTED/\1BAD_STATE/' "$rules/test_rules_states.c" ;;
	10) sed -i 's/EXPORTED M-STA-4/EXPORTED M-STA-99/' "$rules/test_rules_states.c" ;;
	11) sed -i '/^CM-9 /d' "$comch/rules.txt" ;;
	12) sed -i 's/agent_test(tasks_end),//' "$comch/test_comch_messages.c" ;;
	13) sed -i '/^SE-13 /d' "$1/tests/integration/sync_event/rules.txt" ;;
	14) sed -i '/^RT-7 /d' "$1/tests/integration/rdma/rules.txt" ;;
	esac
}

if [ "${1-}" = --write ]; then
	WRITE=yes
	shift
fi
main "$@"
