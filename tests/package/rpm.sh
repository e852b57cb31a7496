#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# rpm.sh DIR [SOURCE OUT]: the spec file of packaging/rpm has the version of the tree, and its packages and files are
# those of the Debian packages in DIR, except documents. With SOURCE and OUT, build the RPM packages from the source
# package in SOURCE, in OUT: together they must contain the same files, and need the same libraries. This is Debian, so
# the test sets the directories that other systems define, and no dependency is in rpm's database.
set -euo pipefail

tree=$(cd "$(dirname "$0")/../.." && pwd)
spec=$tree/packaging/rpm/dpumap.spec
dir=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-rpm.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
directories=(--define '_unitdir %{_prefix}/lib/systemd/system' --define '_sysusersdir %{_prefix}/lib/sysusers.d'
	--define 'python3_sitelib %{_prefix}/lib/python3/site-packages')
version=$(rpmspec -q --srpm --qf '%{VERSION}' "$spec")
wrong=0

bad()
{
	echo "$*" >&2
	wrong=$((wrong + 1))
}

finish()
{
	[ "$wrong" -eq 0 ]
	exit
}

check_names()
{
	local expected
	expected=$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$tree/include/dpumap/version.h")
	[ "$version" = "$expected" ] || bad "dpumap.spec has version $version, not $expected"
	# The names of RPM packages, as Debian names them.
	diff <(rpmspec -q "${directories[@]}" --qf '%{NAME}\n' "$spec" | grep -v '^dpumap$' |
		sed 's/^dpumap-devel$/libdpumap-dev/; s/^libdpumap\(-channel\|-fleet\)\?$/&0/' | LC_ALL=C sort) \
		<(sed -n 's/^Package: //p' "$tree/packaging/debian/control" | LC_ALL=C sort) >&2 ||
		bad "dpumap.spec (<) and debian/control (>) have different packages"
}

# The files of the Debian packages, in the directories of a system with RPM.
files_of_debian()
{
	local deb
	for deb in "$dir"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n '/\/$/d; s|^\.||p'
	done | sed '/^\/usr\/share\/\(doc\|doc-base\|lintian\)\//d; s|^/lib/|/usr/lib/|
		s|^/usr/lib/[a-z0-9_]*-linux-gnu/|/usr/lib64/|; s|/dist-packages/|/site-packages/|
		s|/zsh/vendor-completions/|/zsh/site-functions/|'
}

# Each file belongs to a line of %files, and each line has a file.
check_lines()
{
	local file line owner unused
	mapfile -t lines < <(rpmspec -P "${directories[@]}" "$spec" | sed -n '/^%files/,/^%changelog/{ /^\//p }')
	unused=" ${lines[*]} "
	while read -r file; do
		owner=
		for line in "${lines[@]}"; do
			# shellcheck disable=SC2053,SC2254 # patterns
			case $file in $line | $line/*) owner=$line && unused=${unused/ "$line" / } ;; esac
		done
		[ -n "$owner" ] || bad "dpumap.spec lacks $file"
	done <"$tmp/debian"
	[ -z "${unused// /}" ] || bad "dpumap.spec names files that the Debian packages lack:$unused"
}

check_names
files_of_debian >"$tmp/debian"
check_lines
if [ $# -eq 1 ] || [ "$wrong" -gt 0 ]; then
	finish
fi

source=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)
rm -rf "${out:?}"/*
mkdir "$out/SOURCES"
cp "$source/dpumap_$version.orig.tar.xz" "$out/SOURCES/dpumap-$version.tar.xz"
rpmbuild -bb --nodeps "${directories[@]}" --define "_topdir $out" --define 'debug_package %{nil}' \
	--define '_build_id_links none' --define '_binary_payload w0.gzdio' --define '_smp_mflags -j%(nproc)' \
	"$spec" >"$out/log" 2>&1 || { tail -n 60 "$out/log" | cut -c 1-300; exit 1; }

# rpm_of NAME: the file of a package
rpm_of()
{
	compgen -G "$out/RPMS/*/$1-$version-*.rpm"
}

for rpm in "$out"/RPMS/*/*.rpm; do
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$rpm"
done | sed -n 's/^[-l][^ ]* //p' | sed '/^\/usr\/share\/\(doc\|licenses\)\//d' >"$tmp/rpm"
diff <(sed 's/\.gz$//' "$tmp/debian" | LC_ALL=C sort) <(sed 's/\.gz$//' "$tmp/rpm" | LC_ALL=C sort) >&2 ||
	bad "the Debian packages (<) and the RPM packages (>) contain different files"

# needs PACKAGE PATTERN...: the package requires something that matches each pattern
needs()
{
	local package=$1 pattern
	shift
	for pattern in "$@"; do
		grep -q "^$pattern" <(rpm -qRp "$(rpm_of "$package")") || bad "$package does not require $pattern"
	done
}

needs libdpumap 'libibverbs\.so\.1' 'libmlx5\.so\.1' 'librdmacm\.so\.1' 'libnuma\.so\.1'
needs libdpumap-channel 'libdpumap(' 'libssl\.so\.3' 'libcbor\.so'
needs libdpumap-fleet 'libdpumap-channel(' 'libcurl\.so\.4' 'libjson-c\.so\.5'
needs dpumap-devel 'libdpumap(' 'pkgconfig(libibverbs)'
needs dpumap-dpu 'libdpumap(' 'libsystemd\.so\.0'
needs dpumap-host 'libdpumap('
needs python3-dpumap 'libdpumap >= ' python3-cffi
for package in libdpumap libdpumap-channel dpumap-host dpumap-dpu; do
	! grep -qE 'curl|libdpumap-fleet' <(rpm -qRp "$(rpm_of "$package")") ||
		bad "$package needs libcurl or libdpumap-fleet, which only a fleet needs"
done
for package in python3-dpumap dpumap-doc; do
	[ "$(rpm -qp --qf '%{ARCH}' "$(rpm_of "$package")")" = noarch ] || bad "$package is not for all architectures"
done
finish
