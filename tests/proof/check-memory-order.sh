#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/memory-order.md lists each pair of accesses that relies on order; no processor may reorder it, and
# each barrier is needed on Armv8 (order.py).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec /usr/bin/python3 "$here/order.py" "$@" "$here/../.."
