# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Packages of any suite of Debian's archive, unpacked in a directory. Their programs run with their own dynamic linker.
# This needs no privileges and does not change the system. This file is sourced, never run. Its functions end a script
# with status 77 if the archive cannot be reached.

# private_apt DIR: from now on, apt uses the state in DIR, in which nothing is installed, and DIR/sources.list
private_apt()
{
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	: >"$1/status"
	cat >"$1/apt.conf" <<-END
		Dir::State "$1";
		Dir::State::status "$1/status";
		Dir::Cache "$1/cache";
		Dir::Etc::SourceList "$1/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
		Dir::Log "$1";
		Acquire::Languages "none";
		Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
		Acquire::Retries "2";
		Acquire::http::Timeout "20";
		APT::Sandbox::User "";
		APT::Update::Error-Mode "any";
		Binary::apt-get::APT::Keep-Downloaded-Packages "true";
	END
	export APT_CONFIG=$1/apt.conf
}

# source_line URI SUITE ARCHITECTURES: print a line of sources.list
source_line() { echo "deb [arch=$3 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $1 $2 main"; }

# Print the address of the mirror of this machine.
debian_mirror()
{
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(LABEL) $(REPO_URI)' | sed -n '0,/^Debian /s/^Debian //p'
}

unpack_fails()
{
	local status=$1
	shift
	echo "${0##*/}: $*" >&2
	exit "$status"
}

# apt_or_skip LOG ARGUMENT...: run apt-get
apt_or_skip()
{
	local log=$1
	shift
	apt-get -q -y --no-install-recommends "$@" >"$log" 2>&1 ||
		unpack_fails 77 "the archive cannot be reached: $(tail -n 3 "$log")"
}

# unpack_files DIR LIST: unpack packages into the new DIR/root, in which /usr is merged: older packages may still contain
# files in /lib. A line of LIST is a name and a version, because the cache may contain older ones.
unpack_files()
{
	local name version deb
	rm -rf "$1/root"
	for name in bin sbin lib lib64; do
		mkdir -p "$1/root/usr/$name"
		ln -s "usr/$name" "$1/root/$name"
	done
	while read -r name version; do
		deb=$(find "$1/apt/cache/archives" -name "${name}_${version//:/%3a}_*.deb" -print -quit)
		[ -n "$deb" ] || unpack_fails 1 "$name $version was not fetched"
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$1/root" --keep-directory-symlink --no-same-owner
	done <"$2"
}

# unpack_suite SUITE DIR PACKAGE...: unpack the packages of SUITE, with all that they depend on, including the C library,
# in DIR/root, again only after a change. DIR/version gets the version of the first package; $loader becomes their dynamic
# linker and $libraries the directory of their libraries, for wrapper().
unpack_suite()
{
	local suite=$1 dir=$2 uri list=$2/apt/unpacked
	shift 2
	uri=$(debian_mirror)
	[ -n "$uri" ] || unpack_fails 77 "apt has no source of Debian"
	private_apt "$dir/apt"
	source_line "$uri" "$suite" "$(dpkg --print-architecture)" >"$dir/apt/sources.list"
	apt_or_skip "$dir/apt/update.log" update
	apt_or_skip "$dir/apt/install.log" --download-only install "$@"
	apt-cache show --no-all-versions "$1" | sed -n 's/^Version: //p' >"$dir/version"
	apt-get -s --no-install-recommends install "$@" | sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' |
		sort >"$list.new"
	[ -s "$list.new" ] || unpack_fails 1 "apt names no package"
	if ! cmp -s "$list" "$list.new"; then
		rm -f "$list"
		unpack_files "$dir" "$list.new"
		mv "$list.new" "$list"
	fi
	libraries=$dir/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || gcc -print-multiarch)
	loader=$(find "$libraries" -maxdepth 1 -name 'ld-linux*' -print -quit)
	[ -n "$loader" ] || unpack_fails 1 "no dynamic linker in $libraries"
}

# wrapper FILE [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]: make FILE, which runs an unpacked program
wrapper()
{
	local file=$1
	shift
	{
		printf '#!/bin/sh\n'
		while [[ $1 = *=* ]]; do
			printf '%q ' "$1"
			shift
		done
		printf exec
		printf ' %q' "$loader" --library-path "$libraries" "$@"
		# shellcheck disable=SC2016 # of the new script
		printf ' "$@"\n'
	} >"$file"
	chmod +x "$file"
}
