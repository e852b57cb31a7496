# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What a check that looks at each file by itself has to look at. This file is sourced after lib.sh, never run.

# changed_files: print the files of the tree that changed since the base (scripts/lib/changed); all of them at night,
# or in another tree
changed_files()
{
	local own
	own=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
	if [ "${DPUMAP_NIGHTLY-}" = yes ] || [ "$TREE" != "$own" ]; then
		(cd "$TREE" && find . -type f -not -path './.git/*' -not -path './build*' | sed 's,^\./,,')
	else
		"$own/scripts/lib/changed" || true
	fi
}

# c_files SETTINGS FOLDER...: print the C files in these folders that changed, or that include a file that did; all of
# them if the file SETTINGS changed
c_files()
{
	local settings=$1 changed
	shift
	changed=$(changed_files)
	if grep -qxF "$settings" <<<"$changed"; then
		(cd "$TREE" && { find "$@" -name '*.c' 2>/dev/null || true; } | sort)
	else
		python3 "$(dirname "${BASH_SOURCE[0]}")/affected.py" "$TREE" "$@" <<<"$changed"
	fi
}
