#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every shell script passes shellcheck.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

shell_files()
{
	cd "$TREE"
	# shellcheck disable=SC2016 # expanded by awk
	{ find "${SOURCE_DIRS[@]}" -type f -print0 2>/dev/null || true; } |
		xargs -0 awk 'FNR == 1 && /^(#!\/bin\/(ba)?sh|# shellcheck shell=)/ { print FILENAME }
			{ nextfile }' | LC_ALL=C sort
}

run_check()
{
	local list
	list=$(shell_files)
	[ -n "$list" ] || bad "no shell script found in $TREE"
	(cd "$TREE" && xargs -P "$(nproc)" -n 10 shellcheck -x <<<"$list") || bad "shellcheck found problems"
}

# The self-test uses one script and the file that it sources.
make_scratch()
{
	mkdir -p "$1/scripts/lib"
	cp "$TREE/scripts/test" "$1/scripts/"
	cp "$TREE/scripts/lib/common.sh" "$1/scripts/lib/"
}

plant()
{
	printf '#!/bin/bash\nrm -rf \044target/*\n' >"$1/scripts/planted"
}

main "$@"
