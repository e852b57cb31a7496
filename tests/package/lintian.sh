#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# lintian.sh SOURCE DIR...: lintian finds nothing in the source package in SOURCE and in the packages in each DIR
# that is not overridden with a reason.
set -euo pipefail

root=()
[ "$(id -u)" -ne 0 ] || root=(--allow-root)
found=("$1"/*.dsc)
shift
for dir; do
	found+=("$dir"/*.deb)
done
lintian "${root[@]}" --pedantic --display-info --fail-on error,warning,info,pedantic "${found[@]}"
