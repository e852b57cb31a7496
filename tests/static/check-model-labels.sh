#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each step of a model in emu has a comment in the code that names its label, and each label that a
# comment names exists (model-labels.py).
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE_DIRS=(emu)

run_check()
{
	local line said
	said=$(python3 "$(dirname "${BASH_SOURCE[0]}")/model-labels.py" "$TREE") || bad "model-labels.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

PLANTS=4
plant()
{
	local emu=$1/emu
	case $2 in
	1) edit "$emu/ipc/grace.c" 's/grace.pml: grace_scan//' ;;
	2) edit "$emu/ipc/grace.pml" 's/^retire:/retired:/' ;;
	3) edit "$emu/engine/engine.c" 's/, cq.pml: pass_end/: pass_end/' ;;
	4) rm "$emu/engine/notes.pml" ;;
	esac
}

main "$@"
