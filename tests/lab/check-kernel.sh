#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# check-kernel.sh DMESG: check that a kernel's messages exist and contain no warning or error.
set -euo pipefail
file=${1:?usage: check-kernel.sh DMESG}
grep -q 'Linux version' "$file" || { echo "$file: not a kernel's messages"; exit 1; }
broken="WARNING: |BUG: |Oops|Call [Tt]race|general protection|Unable to handle|refcount_t"
broken="$broken|hung task|soft lockup|Out of memory|segfault"
if grep -nE "$broken" "$file"; then
	exit 1
fi
