#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each function of the public headers documents its purpose, its arguments and their units, the ownership of
# objects that it returns, the states and threads in which it may be called, and each error with its
# trigger. The documented errors are those that the code returns.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE_DIRS=(include src)

run_check()
{
	local line found
	found=$(python3 "$(dirname "${BASH_SOURCE[0]}")/header-docs.py" "$TREE") || bad "header-docs.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$found"
}

# document DIR RETURN: a header with one function whose @return is as given
document()
{
	cat >"$1/include/dpumap/planted.h" <<-END
		/* Thread safety: any thread. */
		#include <doca_error.h>
		/**
		 * Plants something.
		 *
		 * @param addr where to
		 * @param len bytes
		 * $2
		 */
		doca_error_t dpumap_planted(void *addr, __SIZE_TYPE__ len);
	END
}

GOOD='@return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument'
PLANTS=19
plant()
{
	local header=$1/include/dpumap/planted.h
	document "$1" "$GOOD"
	case $2 in
	1) edit "$header" 's|^/\*\*|/*|' ;;
	2) edit "$header" 's|Plants something.||' ;;
	3) edit "$header" '/@param addr/d' ;;
	4) edit "$header" 's|@param addr where to|@param address where to|' ;;
	5) edit "$header" 's|@param len bytes|@param len how far|' ;;
	6) edit "$header" '/@return/d' ;;
	7) edit "$header" 's|Thread safety: any thread.||' ;;
	8) edit "$header" 's|void \*addr|struct doca_mmap *addr|' ;;
	9) edit "$header" 's|void \*addr|struct x **addr|; s|addr where to|addr out: the thing|' ;;
	10) document "$1" '@return whether it worked' ;;
	11) document "$1" "$GOOD, DOCA_ERROR_NO_MEMORY" ;;
	12) document "$1" "$GOOD, DOCA_ERROR_NO_MEMORI when it runs out" ;;
	13) document "$1" '@return DOCA_SUCCESS, DOCA_ERROR_NO_MEMORY when it runs out' ;;
	14) document "$1" '@return as dpumap_no_such_function()' ;;
	15) edit "$header" 's|^ \*/|&\nint dpumap_between(void);|' ;;
	# The code returns another error than the comment documents.
	16) edit "$1/include/dpumap/dm.h" 's|DOCA_ERROR_IN_USE: in this process a map|DOCA_ERROR_AGAIN: in this process a map|' ;;
	17) edit "$1/include/dpumap/dma.h" 's|DOCA_SUCCESS: also if|DOCA_ERROR_EMPTY: if|' ;;
	18) edit "$1/src/device/hca.c" 's|fail(DOCA_ERROR_NOT_FOUND,|fail(DOCA_ERROR_FULL,|' ;;
	19) edit "$1/src/core/dev/dev.c" 's|fail(DOCA_ERROR_IN_USE,|fail(DOCA_ERROR_AGAIN,|' ;;
	esac
}

main "$@"
