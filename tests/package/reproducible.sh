#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# reproducible.sh DIR OUT: build the packages of this machine in a new Debian that contains nothing but their build
# dependencies. They must be the packages in DIR, byte for byte, which were built on this machine in another
# directory. Exit status 77: Debian cannot be installed in a directory here, or its compiler is another one.
set -euo pipefail

dir=$1
out=$2
native=$(dpkg --print-architecture)
"$(dirname "$0")/../../scripts/package" --no-install --clean-root --out "$out" "$native"
differs=
for deb in "$dir"/*.deb; do
	cmp "$deb" "$out/$native/${deb##*/}" || differs=yes
done
[ -n "$differs" ] || { echo "the same packages"; exit 0; }

# versions FILE: what the packages were built with, as far as it writes to them
versions()
{
	grep -E '^ (binutils|cmake|debhelper|doxygen|dpkg-dev|gcc-[0-9]+|libc6-dev|xz-utils) ' "$1"
}
versions "$(compgen -G "$dir/*.buildinfo")" >"$out/here"
if ! diff "$out/here" <(versions "$(compgen -G "$out/$native/*.buildinfo")"); then
	echo "this machine and Debian's archive have different versions of the tools"
	exit 77
fi
exit 1
