#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/memory-order.md lists each pair of accesses that relies on order; no processor may reorder it, and
# each barrier is needed on Armv8 (order.py). The program for the lab tries the patterns shortly here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$here/../..
/usr/bin/python3 "$here/order.py" "$@" "$tree"
[ $# -eq 0 ] || exit 0

dir=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-order.XXXXXX")
trap 'rm -rf "$dir"' EXIT
gcc -std=c11 -O2 -pthread -I "$tree/src" -o "$dir/hil_order" "$tree/tests/hil/order.c"
"$dir/hil_order" 100000
