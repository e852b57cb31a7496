#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# clean-root.sh DIR: installs the packages in DIR, which are of this machine's architecture, into a
# Debian that has nothing else, and runs inside.sh there. Needs no privileges where users may have
# namespaces. Exit status 77, with the reason, where Debian cannot be had.
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

# mmdebstrap's other ways do without namespaces, and inside.sh does not.
if [ "$(id -u)" -eq 0 ]; then
	mode=root
	unshare --mount --net true 2>"$tmp/log" || skip "no namespaces here: $(cat "$tmp/log")"
else
	mode=unshare
	unshare --user --map-auto --map-root-user --mount --net true 2>"$tmp/log" ||
		skip "no namespaces for this user: $(cat "$tmp/log")"
fi

# Debian as this machine has it: a line of sources.list for each of its suites.
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
	[ -n "${rest:-}" ] || skip "apt knows no archive of Debian; apt-get update reads it"
	timeout 60 /usr/lib/apt/apt-helper download-file "${uri%/}/dists/$suite/InRelease" "$tmp/InRelease" \
		>"$tmp/log" 2>&1 || skip "the archive of Debian cannot be reached: $(tail -n 1 "$tmp/log")"
}

# What the packages depend on besides each other: of alternatives the first.
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

# No dependencies of ours: whoever develops has these, and inside.sh has a network of its own.
wanted=$(dependencies | paste -sd ,),gcc,libc6-dev,pkgconf,iproute2
# shellcheck disable=SC2016 # mmdebstrap has a shell for them
timeout -k 60 420 mmdebstrap --quiet --mode="$mode" --variant=minbase --dpkgopt=force-unsafe-io \
	--include="$wanted" \
	--customize-hook="copy-in '$payload' /" \
	--customize-hook='chroot "$1" unshare --net bash /dpumap-test/inside.sh' \
	"$(sed -n '1s/^deb [^ ]* \([^ ]*\) .*/\1/p' "$tmp/sources")" /dev/null "$tmp/sources"
