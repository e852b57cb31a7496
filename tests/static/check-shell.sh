#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every shell script passes shellcheck.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

shell_files()
{
	(cd "$TREE" && find "${SOURCE_DIRS[@]}" -type f -print0 2>/dev/null |
		xargs -0 grep -lE -m 1 '^#!/bin/(ba)?sh|^# shellcheck shell=' | LC_ALL=C sort)
}

run_check()
{
	local list
	list=$(shell_files)
	[ -n "$list" ] || bad "no shell script found in $TREE"
	# shellcheck disable=SC2086
	(cd "$TREE" && shellcheck -x $list) || bad "shellcheck complains"
}

plant()
{
	printf '#!/bin/bash\nrm -rf \044target/*\n' >"$1/scripts/planted"
}

main "$@"
