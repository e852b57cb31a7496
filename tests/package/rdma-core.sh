#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# rdma-core.sh DIR SUITE: the test that packaging/upstream has for the source package of rdma-core passes in a new
# Debian of SUITE, with the package dpumap-emu in DIR and all else from SUITE. Exit status 77, with the reason: Debian
# cannot be installed in a directory here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib/debian-root.sh
. "$here/../../scripts/lib/debian-root.sh"

dir=$(cd "$1" && pwd)
suite=$2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-rdma-core.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

skip()
{
	echo "$*"
	exit 77
}

set_root_mode "$tmp/log"
debian_sources | sed -n "1s/^\(deb [^ ]*\) [^ ]* /\1 $suite /p" >"$tmp/sources"
check_archive "$tmp/sources" "$tmp"

# Of the source package, the test needs the suite, which python3-pyverbs contains, and the names in debian/. So the
# source package itself is not needed, which not every mirror has. The state of apt is in a directory of its own.
mkdir -p "$tmp/apt/lists/partial" "$tmp/apt/cache/archives/partial" "$tmp/fetched" "$tmp/source/tests"
sed 's|^deb |&[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] |' "$tmp/sources" >"$tmp/apt/sources.list"
: >"$tmp/apt/status"
apt=(apt-get -q -o "Dir::State=$tmp/apt" -o "Dir::State::status=$tmp/apt/status" -o "Dir::Cache=$tmp/apt/cache"
	-o "Dir::Etc::SourceList=$tmp/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
	-o Dir::Etc::PreferencesParts=/dev/null -o APT::Sandbox::User= -o Acquire::Languages=none
	-o Acquire::Check-Valid-Until=false)
"${apt[@]}" update >"$tmp/log" 2>&1 || skip "the archive of Debian cannot be reached: $(tail -n 1 "$tmp/log")"
(cd "$tmp/fetched" && "${apt[@]}" download python3-pyverbs) >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
source=$tmp/source
deb=$(compgen -G "$tmp/fetched/*.deb")
dpkg-deb -x "$deb" "$tmp/fetched/root"
cp "$tmp"/fetched/root/usr/share/doc/rdma-core/tests/* "$source/tests/"
gunzip -f "$source"/tests/*.gz
cp -r "$here/../../packaging/upstream/rdma-core/debian" "$source/"
touch "$source/debian/files" # for autopkgtest, the tree is built: it needs no tools to build it
maintainer=$(dpkg-deb -f "$deb" Maintainer)
printf 'Source: rdma-core\nMaintainer: %s\n' "$maintainer" >"$source/debian/control"
printf 'rdma-core (%s) %s; urgency=medium\n\n  * As in the archive.\n\n -- %s  %s\n' "$(dpkg-deb -f "$deb" Version)" \
	"$suite" "$maintainer" "$(date -R)" >"$source/debian/changelog"
chmod -R u=rwX,go=rX "$tmp"

# A mirror of unstable may be some days old.
# shellcheck disable=SC2016 # mmdebstrap has a shell for it
timeout -k 60 3600 mmdebstrap --quiet --mode="$MODE" --variant=minbase --dpkgopt=force-unsafe-io --aptopt='Acquire::Check-Valid-Until "false"' \
	--customize-hook="autopkgtest -B '$(compgen -G "$dir/dpumap-emu_*.deb")' '$source/' -- chroot \"\$1\"" \
	"$suite" /dev/null "$tmp/sources"
