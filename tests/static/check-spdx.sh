#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every source file names its licence in the first lines.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

licence='SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only'

source_files()
{
	files '*.c' '*.h' '*.S' '*.py' '*.sh' '*.cmake' '*.map' '*.yml' 'CMakeLists.txt' 'expected-skips.txt'
	(cd "$TREE" && find scripts .ci -type f -perm -u+x && ls CMakeLists.txt .gitlab-ci.yml)
}

run_check()
{
	local file
	# shellcheck disable=SC2016 # expanded by awk
	while read -r file; do
		bad "$file lacks the line '$licence'"
	done < <(cd "$TREE" && source_files | LC_ALL=C sort -u | xargs awk -v licence="$licence" '
		FNR == 1 { seen[FILENAME] = 0 }
		FNR <= 3 && index($0, licence) { seen[FILENAME] = 1 }
		FNR > 3 { nextfile }
		END { for (file in seen) if (!seen[file]) print file }')
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
