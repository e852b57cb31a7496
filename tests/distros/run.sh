#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# run.sh SUITE DIR [CTEST-ARGUMENT...]: build this tree in a Debian of SUITE with all warnings as errors, and run the unit and
# integration tests there, without a network. DIR/ctest.xml has the results, DIR/log the output. The root file
# system stays in DIR/root.tar until the archive or the list of packages changes. Exit status 77, with the reason:
# the root file system cannot be made or used here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/lib/debian-root.sh
. "$tree/scripts/lib/debian-root.sh"

suite=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-distros.XXXXXX")
trap 'rm -rf --one-file-system "$tmp"' EXIT

skip()
{
	echo "$*"
	exit 77
}

# renew_root: make DIR/root.tar, unless it is of this state of the archive and of this list of packages
renew_root()
{
	local made_of
	debian_sources | sed -n "1s/^\(deb [^ ]*\) [^ ]* /\1 $suite /p" >"$tmp/sources"
	if ! (check_archive "$tmp/sources" "$tmp"); then
		[ -s "$dir/made-of" ] || exit 77
		echo "using the root file system of an earlier run"
		return
	fi
	made_of=$(cat "$tmp/InRelease" "$tree/scripts/install-deps" | sha256sum)
	[ "$(cat "$dir/made-of" 2>/dev/null)" != "$made_of" ] || return 0
	rm -f "$dir/made-of"
	# A mirror of unstable may be some days old.
	# shellcheck disable=SC2016 # mmdebstrap has a shell for it
	timeout -k 60 3600 mmdebstrap --quiet --mode="$MODE" --variant=minbase --dpkgopt=force-unsafe-io \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--customize-hook="copy-in '$tree/scripts/install-deps' /root" \
		--customize-hook='chroot "$1" bash /root/install-deps integration' \
		"$suite" "$dir/root.tar" "$tmp/sources" >"$dir/log" 2>&1 || { tail -n 40 "$dir/log"; exit 1; }
	echo "$made_of" >"$dir/made-of"
}

set_root_mode "$tmp/log"
renew_root
user=()
[ "$(id -u)" -eq 0 ] || user=(--user --map-auto --map-root-user)
rm -f "$dir/ctest.xml"
unshare "${user[@]}" --mount --net --pid --fork --kill-child bash "$here/inside.sh" "$tree" "$dir" "$tmp/root" "$@" \
	>"$dir/log" 2>&1 || { tail -n 60 "$dir/log" | cut -c 1-300; exit 1; }
sed -n 's/^versions: //p' "$dir/log"
