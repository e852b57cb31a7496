#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# check-kernel.sh DMESG: check that a kernel's messages exist, and contain no warning or error after its start: on a busy
# machine, the tests of the kernel's own parts give up.
set -euo pipefail
file=${1:?usage: check-kernel.sh DMESG}
if ! grep -q 'Linux version' "$file" || ! grep -q 'lab begins' "$file"; then
	echo "$file: not a kernel's messages"
	exit 1
fi
broken="WARNING: |BUG: |Oops|Call [Tt]race|general protection|Unable to handle|refcount_t"
broken="$broken|hung task|soft lockup|Out of memory|segfault"
if sed '1,/lab begins/d' "$file" | grep -E "$broken"; then
	exit 1
fi
