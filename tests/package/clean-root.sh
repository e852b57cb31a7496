#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# clean-root.sh [--documents] SOURCE DIR: install the packages in DIR, which must be for this machine's architecture,
# into a minimal Debian, and run the tests of the source package in SOURCE there (packaging/debian/tests); with
# --documents, then build this tree there and run the commands of the documents (documents.py). No privileges are
# needed if users may create namespaces. Exit status 77, with the reason: Debian cannot be installed in a directory here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib/debian-root.sh
. "$here/../../scripts/lib/debian-root.sh"

documents=
if [ "$1" = --documents ]; then
	documents=yes
	shift
fi
source=$1
dir=$2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-clean-root.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
payload=$tmp/dpumap-test

skip()
{
	echo "$*"
	exit 77
}

set_root_mode "$tmp/log"
debian_sources >"$tmp/sources"
check_archive "$tmp/sources" "$tmp"
dpkg-source -x "$source"/*.dsc "$tmp/source" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
touch "$tmp/source/debian/files" # for autopkgtest, the tree is built: it needs no tools to build it

# The tree as in a clone, for the documents. They name packages of two architectures, which are two
# machines; here both are this machine.
make_tree()
{
	local architecture deb name tree=$payload/dpumap
	mkdir -p "$tree"
	tar -C "$here/../.." --exclude=./.git --exclude='./build*' -c . | tar -C "$tree" -x
	for architecture in amd64 arm64; do
		mkdir -p "$tree/build-package/$architecture"
		for deb in "$dir"/*.deb; do
			name=${deb##*/}
			cp "$deb" "$tree/build-package/$architecture/${name%_*}_$architecture.deb"
		done
	done
}

# The packages go before the documents, which install them anew.
hooks=()
if [ -n "$documents" ]; then
	make_tree
	mapfile -t names < <(sed -n 's/^Package: //p' "$tmp/source/debian/control")
	# shellcheck disable=SC2016 # mmdebstrap has a shell for them
	hooks=(--customize-hook="chroot \"\$1\" bash -c 'apt-get -qq -y purge ${names[*]} && rm -f /etc/apt/*/*autopkgtest*'"
		--customize-hook="copy-in '$payload' /"
		--customize-hook='chroot "$1" bash /dpumap-test/dpumap/scripts/install-deps build'
		--customize-hook='chroot "$1" apt-get -qq -y --no-install-recommends install man-db ibverbs-utils perftest python3-pyverbs'
		--customize-hook="unshare --net /usr/bin/python3 '$here/documents.py' \"\$1\" /dpumap-test/dpumap")
fi
chmod -R u=rwX,go=rX "$tmp"

# The lane conformance runs the suite of pyverbs, and the compilers of Rust and Go take time to install.
skip_tests="--skip-test pyverbs"
[ "${DPUMAP_NIGHTLY-}" = yes ] || skip_tests+=" --skip-test ci-languages"

timeout -k 60 3600 mmdebstrap --quiet --mode="$MODE" --variant=minbase --dpkgopt=force-unsafe-io \
	--customize-hook="env -u DPUMAP_EMU_DIR -u TMPDIR autopkgtest $skip_tests -B '$dir'/*.deb '$tmp/source/' -- chroot \"\$1\"" \
	"${hooks[@]}" \
	"$(sed -n '1s/^deb [^ ]* \([^ ]*\) .*/\1/p' "$tmp/sources")" /dev/null "$tmp/sources"
