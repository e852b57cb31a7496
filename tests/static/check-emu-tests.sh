#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Tests name each firmware command of the emulated card, and change each of its capabilities. What the library sends is
# tested by its own tests.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

run_check()
{
	local name names
	names=$(sed -nE 's/^\t(OTHER|CREATE|ACT|ACT_BY|DRIVER|OWN|DESTROY|DESTROY_BY)\(([A-Z]+, EMU_CMD_)?([A-Z0-9_]+),.*/\3/p' "$TREE/emu/server/firmware/firmware.c" |
		grep -vx MODIFY | LC_ALL=C sort -u)
	[ -n "$names" ] || bad "emu/server/firmware/firmware.c has no command"
	for name in $names; do
		grep -rqE "\b(CMD_)?$name\b" "$TREE/tests/emu" || grep -rqE "\bPRM_[A-Z_]*$name\b" "$TREE/src/device" ||
			bad "no test in tests/emu names the firmware command $name"
	done
	names=$(sed -nE 's/^\t(CAP\(|\{)"([a-z-]+)", .*/\2/p' "$TREE/emu/server/card/profile.c")
	[ -n "$names" ] || bad "emu/server/card/profile.c has no capability"
	for name in $names; do
		grep -rqE -- "(^|[ \"'])$name=[0-9a-zA-Z$]" "$TREE/tests" || bad "no test changes the capability $name"
	done
}

make_scratch()
{
	mkdir -p "$1/src"
	cp -a "$TREE/emu" "$TREE/tests" "$1/"
	cp -a "$TREE/src/device" "$1/src/"
}

PLANTS=2
plant()
{
	case $2 in
	1) edit "$1/emu/server/firmware/firmware.c" 's/^\tOTHER(NOP, /\tOTHER(PLANTED, NULL, NULL),\n&/' ;;
	2) edit "$1/emu/server/card/profile.c" 's/^\tCAP("max-ah", /\tCAP("max-planted", 0),\n&/' ;;
	esac
}

main "$@"
