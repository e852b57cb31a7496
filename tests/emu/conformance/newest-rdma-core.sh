#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# newest-rdma-core.sh DIR: unpack the newest rdma-core of Debian's archive in DIR/root, with all its
# dependencies including the C library. This needs no privileges and does not change the system.
# DIR/bin gets its programs, which run with their own dynamic linker, and DIR/version its version.
# Exit status 77: the archive cannot be reached.
set -euo pipefail

dir=${1:?usage: newest-rdma-core.sh DIR}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
suite=sid
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages="ibverbs-providers ibverbs-utils librdmacm1t64 python3 python3-pyverbs python3-scapy
	perftest iproute2"
programs="ibv_devices ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong
	ibv_srq_pingpong ibv_xsrq_pingpong ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw
	ib_write_lat rdma"

# Use the mirror of this machine.
mirror()
{
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(LABEL) $(REPO_URI)' | sed -n '0,/^Debian /s/^Debian //p'
}

# An empty state of apt, in which nothing is installed, so that apt fetches all dependencies.
prepare_apt()
{
	local uri
	uri=$(mirror)
	[ -n "$uri" ] || { echo "newest-rdma-core: apt has no source of Debian" >&2; exit 77; }
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	: >"$dir/apt/status"
	printf 'deb [arch=%s signed-by=%s] %s %s main\n' "$(dpkg --print-architecture)" "$keyring" \
		"$uri" "$suite" >"$dir/apt/sources.list"
	cat >"$dir/apt/apt.conf" <<-END
		Dir::State "$dir/apt";
		Dir::State::status "$dir/apt/status";
		Dir::Cache "$dir/apt/cache";
		Dir::Etc::SourceList "$dir/apt/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
		Dir::Log "$dir/apt";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Acquire::http::Timeout "20";
		APT::Sandbox::User "";
		APT::Update::Error-Mode "any";
		Binary::apt-get::APT::Keep-Downloaded-Packages "true";
	END
}

fetch()
{
	export APT_CONFIG=$dir/apt/apt.conf
	if ! apt-get -q update >"$dir/apt/update.log" 2>&1; then
		tail -n 3 "$dir/apt/update.log" >&2
		exit 77
	fi
	# shellcheck disable=SC2086
	apt-get -q -y --no-install-recommends --download-only install $packages \
		>"$dir/apt/install.log" 2>&1 || { tail -n 5 "$dir/apt/install.log" >&2; exit 77; }
	apt-cache show --no-all-versions ibverbs-providers | sed -n 's/^Version: //p' >"$dir/version"
}

# Use only the packages of this version; the cache may contain older ones. Unpack again after a change.
unpack()
{
	local deb list=$dir/apt/unpacked
	# shellcheck disable=SC2086
	apt-get -s --no-install-recommends install $packages | sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' |
		sort >"$list.new"
	[ -s "$list.new" ] || { echo "newest-rdma-core: apt names no package" >&2; exit 1; }
	cmp -s "$list" "$list.new" && return
	rm -rf "$dir/root" "$list"
	# Create the links of a merged /usr: older packages may still contain files in /lib.
	mkdir -p "$dir/root/usr/lib" "$dir/root/usr/lib64" "$dir/root/usr/bin" "$dir/root/usr/sbin"
	for deb in bin sbin lib lib64; do
		ln -s "usr/$deb" "$dir/root/$deb"
	done
	while read -r name version; do
		deb=$(find "$dir/apt/cache/archives" -name "${name}_${version//:/%3a}_*.deb" -print -quit)
		[ -n "$deb" ] || { echo "newest-rdma-core: $name $version was not fetched" >&2; exit 1; }
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir/root" --keep-directory-symlink \
			--no-same-owner
	done <"$list.new"
	mv "$list.new" "$list"
}

# wrapper NAME PROGRAM [VARIABLE=VALUE...]
wrapper()
{
	local name=$1 program=$2
	shift 2
	{
		echo '#!/bin/sh'
		printf 'export %s\n' "$@"
		printf 'exec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$program"
	} | sed '/^export $/d' >"$dir/bin/$name"
	chmod +x "$dir/bin/$name"
}

wrap()
{
	local triple libs name
	triple=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
	libs=$dir/root/usr/lib/$triple
	loader=$(find "$libs" -maxdepth 1 -name 'ld-linux*' -print -quit)
	[ -n "$loader" ] || { echo "newest-rdma-core: no dynamic linker in $libs" >&2; exit 1; }
	libraries=$libs:$libs/libibverbs
	printf '%s\n' "$loader" >"$dir/loader"
	printf '%s\n' "$libraries" >"$dir/libraries"
	rm -rf "${dir:?}/bin"
	mkdir "$dir/bin"
	for name in $programs; do
		wrapper "$name" "$(find "$dir/root/usr/bin" "$dir/root/usr/sbin" -name "$name" -print -quit)"
	done
	wrapper python3 "$(readlink -f "$dir/root/usr/bin/python3")" "PYTHONHOME=$dir/root/usr" \
		"PYTHONPATH=$dir/root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1
}

prepare_apt
fetch
unpack
wrap
