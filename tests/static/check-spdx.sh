#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every source file names its licence in the first lines.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

licence='SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only'

source_files()
{
	files '*.c' '*.h' '*.S' '*.py' '*.sh' '*.cmake' '*.map' 'CMakeLists.txt' 'expected-skips.txt'
	(cd "$TREE" && find scripts .ci -type f -perm -u+x && ls CMakeLists.txt)
}

run_check()
{
	local file
	for file in $(source_files | LC_ALL=C sort -u); do
		head -n 3 "$TREE/$file" | grep -qF "$licence" || bad "$file: no line '$licence'"
	done
	for file in LICENSE LICENSES/BSD-2-Clause.txt LICENSES/GPL-2.0-only.txt; do
		[ -s "$TREE/$file" ] || bad "$file is missing"
	done
}

PLANTS=2
plant()
{
	case $2 in
	1) printf 'int dpumap_x;\n' >"$1/src/core/planted.c" ;;
	2) printf '#!/bin/bash\n' >"$1/scripts/planted"; chmod +x "$1/scripts/planted" ;;
	esac
}

main "$@"
