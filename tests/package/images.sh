#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# images.sh PACKAGES [FOREIGN-PACKAGES]: the images of containers that scripts/image makes of these packages, and of
# those for arm64 (test_images.py). Exit status 77, with the reason: they cannot be built or run here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export DPUMAP_PACKAGES=$1 PYTHONDONTWRITEBYTECODE=1
[ -z "${2-}" ] || export DPUMAP_FOREIGN_PACKAGES=$2
# shellcheck source=scripts/lib/debian-root.sh
. "$here/../../scripts/lib/debian-root.sh"

tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-images.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

skip()
{
	echo "$*"
	exit 77
}

bwrap --unshare-all --ro-bind / / true 2>"$tmp/log" || skip "bubblewrap makes no containers here: $(cat "$tmp/log")"
debian_sources >"$tmp/sources"
check_archive "$tmp/sources" "$tmp"
/usr/bin/python3 -m pytest -q -rs -c /dev/null --rootdir "$here" --confcutdir "$here" -p no:cacheprovider \
	--tb=short --basetemp "$tmp/pytest" "$here/test_images.py"
