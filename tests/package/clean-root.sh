#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# clean-root.sh DIR: install the packages in DIR, which must be for this machine's architecture, into a
# minimal Debian, and run inside.sh there; then build this tree there and run the commands of the documents
# (documents.py). No privileges are needed if users may create namespaces. Exit
# status 77, with the reason: Debian cannot be installed in a directory here.
set -euo pipefail

dir=$1
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-clean-root.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
payload=$tmp/dpumap-test

skip()
{
	echo "$*"
	exit 77
}

command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"

# mmdebstrap's other modes work without namespaces, but inside.sh needs them.
if [ "$(id -u)" -eq 0 ]; then
	mode=root
	unshare --mount --net true 2>"$tmp/log" || skip "namespaces cannot be created: $(cat "$tmp/log")"
else
	mode=unshare
	unshare --user --map-auto --map-root-user --mount --net true 2>"$tmp/log" ||
		skip "this user cannot create namespaces: $(cat "$tmp/log")"
fi

# Print a line of sources.list for each Debian suite that this machine uses.
sources()
{
	# shellcheck disable=SC2016 # words of apt
	apt-get indextargets --format '$(ORIGIN) $(ARCHITECTURE) $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | sed -n "s/^Debian $(dpkg --print-architecture) /deb /p" | grep ' main$'
}

check_network()
{
	local uri suite rest
	read -r _ uri suite rest <"$tmp/sources"
	[ -n "${rest:-}" ] || skip "apt has no package lists of Debian; run apt-get update"
	timeout 60 /usr/lib/apt/apt-helper download-file "${uri%/}/dists/$suite/InRelease" "$tmp/InRelease" \
		>"$tmp/log" 2>&1 || skip "the archive of Debian cannot be reached: $(tail -n 1 "$tmp/log")"
}

# Print the external dependencies of the packages; of alternatives, the first one.
dependencies()
{
	local deb
	for deb in "$dir"/*.deb; do
		dpkg-deb -f "$deb" Depends | tr ',' '\n'
	done | sed 's/[|(].*//; s/ //g; /dpumap/d; /^$/d' | LC_ALL=C sort -u
}

sources >"$tmp/sources"
check_network
mkdir "$payload"
cp "$dir"/*.deb "$here/inside.sh" "$here/../../examples/host_agent/host_agent.c" "$payload/"
chmod -R u=rwX,go=rX "$tmp"

# The tree as in a clone, for the documents. They name packages of two architectures, which are two
# machines; here both are this machine.
tree=$payload/dpumap
mkdir "$tree"
tar -C "$here/../.." --exclude=./.git --exclude='./build*' -c . | tar -C "$tree" -x
for architecture in amd64 arm64; do
	mkdir -p "$tree/build-package/$architecture"
	for deb in "$dir"/*.deb; do
		name=${deb##*/}
		cp "$deb" "$tree/build-package/$architecture/${name%_*}_$architecture.deb"
	done
done

# Install the dependencies now, because inside.sh has no access to the network.
wanted=$(dependencies | paste -sd ,),gcc,libc6-dev,pkgconf,iproute2
# shellcheck disable=SC2016 # mmdebstrap has a shell for them
timeout -k 60 900 mmdebstrap --quiet --mode="$mode" --variant=minbase --dpkgopt=force-unsafe-io \
	--include="$wanted" \
	--customize-hook="copy-in '$payload' /" \
	--customize-hook='chroot "$1" unshare --net bash /dpumap-test/inside.sh' \
	--customize-hook='chroot "$1" bash /dpumap-test/dpumap/scripts/install-deps build' \
	--customize-hook='chroot "$1" apt-get -qq -y --no-install-recommends install man-db ibverbs-utils' \
	--customize-hook="unshare --net /usr/bin/python3 '$here/documents.py' \"\$1\" /dpumap-test/dpumap" \
	"$(sed -n '1s/^deb [^ ]* \([^ ]*\) .*/\1/p' "$tmp/sources")" /dev/null "$tmp/sources"
