#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# check-error-table.sh DOCUMENT PROGRAM...: the document's table of errors is the one that the program tests.
set -eu

document=$1
shift
wanted=$("$@" --table)
found=$(sed -n '/^| case | requester | responder | test |$/,/^$/p' "$document" | sed '/^$/d')
[ "$found" = "$wanted" ] && exit 0
echo "$document: the table of errors differs from $* --table; replace it by that output" >&2
exit 1
