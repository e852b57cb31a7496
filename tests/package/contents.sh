#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# contents.sh DIR ARCHITECTURE: check the control fields and the contents of the packages in DIR. The build of the
# packages fails if a file of the installation is in none of them (dh_missing).
set -euo pipefail

dir=$1
architecture=$2
packages="libdpumap0 libdpumap-channel0 libdpumap-fleet0 libdpumap-dev dpumap-dpu dpumap-host dpumap-emu"
# The packages for all architectures are made with those of this machine.
for_all="dpumap-doc python3-dpumap"
[ "$architecture" != "$(dpkg --print-architecture)" ] || packages="$packages $for_all"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-contents.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
wrong=0

bad()
{
	echo "$*" >&2
	wrong=$((wrong + 1))
}

deb_of()
{
	local of=$architecture
	[[ " $for_all " != *" $1 "* ]] || of=all
	compgen -G "$dir/$1_*_$of.deb"
}

field()
{
	dpkg-deb -f "$(deb_of "$1")" "$2"
}

# depends PACKAGE ON...: check that the package depends on the others, in any version
depends()
{
	local package=$1 on all
	all=" $(field "$package" Depends | sed 's/([^)]*)//g; s/[,|]/ /g') "
	shift
	for on in "$@"; do
		[[ $all == *" $on "* ]] || bad "$package does not depend on $on"
	done
}

# has PACKAGE PATH...: check that the package contains the paths, which may be patterns
has()
{
	local package=$1 path
	shift
	for path in "$@"; do
		compgen -G "$tmp/$package$path" >/dev/null || bad "$package lacks $path"
	done
}

has_completions() # PACKAGE PROGRAM
{
	has "$1" "/usr/share/bash-completion/completions/$2" "/usr/share/zsh/vendor-completions/_$2" \
		"/usr/share/fish/vendor_completions.d/$2.fish"
}

unpack()
{
	local package
	for package in $packages; do
		[ -n "$(deb_of "$package")" ] || { bad "package $package was not built"; continue; }
		dpkg-deb -x "$(deb_of "$package")" "$tmp/$package"
		[[ " $architecture all " = *" $(field "$package" Architecture) "* ]] || bad "$package is not for $architecture"
	done
	[ "$wrong" -eq 0 ] || exit 1
	# The folder must not contain other packages.
	[ "$(find "$dir" -maxdepth 1 -name '*.deb' | wc -l)" -eq "$(wc -w <<<"$packages")" ] ||
		bad "other packages in $dir"
}

# The maintainer is the person who builds the packages. The project has no address and no home page.
check_origin()
{
	local expected=${DPUMAP_PACKAGE_MAINTAINER:-} maintainer
	maintainer=$(field "$1" Maintainer)
	[ "$maintainer" = "${expected:-$maintainer}" ] || bad "$1: the maintainer is $maintainer, not $expected"
	[[ $maintainer != *@example.* ]] || bad "$1: the address of $maintainer does not exist"
	[ -z "$(field "$1" Homepage)" ] || bad "$1: has a home page"
	! zgrep -q '@example\.' "$tmp/$1/usr/share/doc/$1/changelog.Debian.gz" || bad "$1: changelog of nobody"
}

check_docs()
{
	local package=$1 page
	has "$package" "/usr/share/doc/$package/copyright" "/usr/share/doc/$package/changelog.gz" \
		"/usr/share/doc/$package/changelog.Debian.gz"
	find "$tmp/$package/usr/share" -name '*.gz' -exec gzip -t {} + || bad "$package has a broken page"
	page=$(find "$tmp/$package/usr/share/man" -type f -not -name '*.gz' 2>/dev/null || true)
	[ -z "$page" ] || bad "$package: not compressed: $page"
}

# Programs and libraries are for the right machine and contain no debugging symbols.
check_programs()
{
	local package=$1 machine file seen
	case $architecture in
	amd64) machine='Advanced Micro Devices X86-64' ;;
	arm64) machine=AArch64 ;;
	esac
	while IFS= read -r file; do
		seen=$(readelf -hS "$file" 2>/dev/null || true)
		grep -qF "$machine" <<<"$seen" || bad "$file is not of $machine"
		! grep -qF .debug_info <<<"$seen" || bad "$file has debugging symbols"
	done < <(find "$tmp/$package" -type f \( -perm -u+x -o -name '*.so' -o -name '*.so.*' -o -name '*.a' \))
}

# The programs find their libraries. Those of another architecture run under user-mode emulation.
check_starts()
{
	local program libs run=()
	[ "$architecture" != arm64 ] || [ "$(uname -m)" = aarch64 ] || run=(qemu-aarch64-static -L /)
	libs=$(dirname "$(compgen -G "$tmp/libdpumap0/usr/lib/*/libdpumap.so.0")")
	for program in dpumap-dpu/usr/sbin/dpumapd dpumap-host/usr/bin/dpumap; do
		env LD_LIBRARY_PATH="$libs" "${run[@]}" "$tmp/$program" --version >"$tmp/said" 2>&1 ||
			bad "$program does not start: $(cat "$tmp/said")"
	done
}

# The default paths of compilers must not contain files that could be mistaken for a DOCA SDK.
check_shadows()
{
	local found
	found=$(find "$tmp" \( -name 'doca*.pc' -o -name 'libdoca_*' -o -name 'doca_*.h' \) \
		-not -path '*/dpumap-doca/*')
	[ -z "$found" ] || bad "this file could be mistaken for a DOCA SDK: $found"
}

# No file is in several packages.
check_once()
{
	local package
	for package in $packages; do
		(cd "$tmp/$package" && find . -not -type d)
	done | LC_ALL=C sort >"$tmp/packages.list"
	bad_files "in several packages" "$(uniq -d "$tmp/packages.list")"
}

# Packages of other programs depend on the version that introduced a function, not on this one.
check_symbols()
{
	local package
	for package in libdpumap0 libdpumap-channel0 libdpumap-fleet0; do
		grep -q "$package #MINVER#" <(dpkg-deb -I "$(deb_of "$package")" symbols) ||
			bad "$package does not say which version introduced its functions"
	done
	[[ $(field libdpumap-fleet0 Depends) == *"libdpumap0 (>= "* ]] || bad "the functions of libdpumap0 have no version"
}

bad_files()
{
	[ -z "$2" ] || bad "$1: ${2//$'\n'/, }"
}

unpack
for package in $packages; do
	check_docs "$package"
	check_origin "$package"
	check_programs "$package"
done
check_starts
check_shadows
check_once
check_symbols

has libdpumap0 '/usr/lib/*/libdpumap.so.0'
depends libdpumap0 libc6 libibverbs1 librdmacm1 ibverbs-providers libnuma1
has libdpumap-channel0 '/usr/lib/*/libdpumap-channel.so.0'
depends libdpumap-channel0 libdpumap0 libssl3 libcbor0.8
has libdpumap-fleet0 '/usr/lib/*/libdpumap-fleet.so.0'
depends libdpumap-fleet0 libdpumap-channel0 libcurl4 libjson-c5
has libdpumap-dev '/usr/lib/*/libdpumap.so' '/usr/lib/*/libdpumap-channel.so' '/usr/lib/*/libdpumap-fleet.so' \
	'/usr/lib/*/libdpumap.a' '/usr/lib/*/libdpumap-channel.a' '/usr/lib/*/libdpumap-fleet.a' '/usr/lib/*/libdpumap_desc.a' \
	'/usr/lib/*/pkgconfig/dpumap.pc' '/usr/lib/*/pkgconfig/dpumap-channel.pc' \
	'/usr/lib/*/pkgconfig/dpumap-fleet.pc' '/usr/lib/*/cmake/dpumap/dpumap-config.cmake' \
	/usr/include/dpumap/channel.h /usr/include/dpumap/fleet.h /usr/include/dpumap-doca/doca_mmap.h \
	/usr/share/man/man3/dpumap_dm.3.gz
depends libdpumap-dev libdpumap0 libdpumap-channel0 libdpumap-fleet0 libibverbs-dev librdmacm-dev libssl-dev libcbor-dev
units=/usr/lib/systemd/system
[ -d "$tmp/dpumap-dpu$units" ] || units=/lib/systemd/system # in Debian 12
has dpumap-dpu /usr/sbin/dpumapd "$units/dpumapd.service" "$units/dpumapd.socket" /usr/lib/sysusers.d/dpumap.conf /etc/dpumap \
	/usr/share/doc/dpumap-dpu/examples/dpumapd.conf /usr/share/man/man8/dpumapd.8.gz \
	/usr/share/man/man5/dpumapd.conf.5.gz /usr/share/doc/dpumap-dpu/grafana/dpumapd.json \
	/usr/share/doc/dpumap-dpu/schema/dpumapd-ctl-status-1.json
has_completions dpumap-dpu dpumapd
depends dpumap-dpu libdpumap0 librdmacm1 libconfig9 libjson-c5 libssl3 libsystemd0 systemd
has dpumap-host /usr/bin/dpumap /usr/share/man/man1/dpumap.1.gz /usr/share/doc/dpumap-host/schema/dpumap-list-1.json
has_completions dpumap-host dpumap
depends dpumap-host libdpumap0 libssl3
for package in libdpumap0 libdpumap-channel0 dpumap-host dpumap-dpu; do
	[[ $(field "$package" Depends) != *curl* && $(field "$package" Depends) != *libdpumap-fleet* ]] ||
		bad "$package needs libcurl or libdpumap-fleet0, which only a fleet needs"
done
has dpumap-emu /usr/bin/dpumap-emu '/usr/lib/*/dpumap-emu/libdpumap-emu.so' /usr/include/dpumap-emu.h \
	'/usr/lib/*/pkgconfig/dpumap-emu.pc' \
	'/usr/share/doc/dpumap-emu/dpumap-emu.md*' /usr/share/man/man1/dpumap-emu.1.gz \
	/usr/share/doc/dpumap-emu/schema/dpumap-emu-status-1.json
has_completions dpumap-emu dpumap-emu
for package in libdpumap0 libdpumap-channel0 libdpumap-fleet0 libdpumap-dev; do
	[ "$(field "$package" Multi-Arch)" = same ] || bad "$package cannot be installed for two architectures"
done
if [[ $packages == *" $for_all" ]]; then
	has python3-dpumap /usr/lib/python3/dist-packages/dpumap/{__init__.py,_ffi.py,py.typed} \
		'/usr/lib/python3/dist-packages/dpumap-*.dist-info/'{METADATA,entry_points.txt}
	depends python3-dpumap libdpumap0 python3:any python3-cffi-backend
	[[ $(field python3-dpumap Recommends) == libdpumap-channel0 ]] || bad "python3-dpumap does not recommend libdpumap-channel0"
	has dpumap-doc /usr/share/doc/dpumap-doc/html/index.html /usr/share/doc/dpumap-doc/emu/dpumap-emu.md.gz \
		/usr/share/doc/dpumap-doc/session.svg
	for header in "$tmp"/libdpumap-dev/usr/include/dpumap/*.h "$tmp"/libdpumap-dev/usr/include/dpumap-doca/*.h \
		"$tmp"/dpumap-emu/usr/include/*.h; do
		has dpumap-doc "/usr/share/doc/dpumap-doc/html/$(basename "$header" .h | sed 's/_/__/g')_8h.html"
	done
fi
[ "$wrong" -eq 0 ] || { echo "$wrong wrong" >&2; exit 1; }
