#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# lintian.sh DIR: check the packages in DIR with lintian.
set -euo pipefail

root=()
[ "$(id -u)" -ne 0 ] || root=(--allow-root)
lintian "${root[@]}" --fail-on error "$1"/*.deb
