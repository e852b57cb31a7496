#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# images.sh DIR [SUITE]: make kernels and file systems for the virtual machines of the lab. DIR/amd64 and DIR/arm64
# get the newest kernel of this Debian release (`kernel`, `version`), an `initrd` with its modules, and
# `root`, whose programs the virtual machine prefers to those of this machine, and which has the modules of the drivers
# of a PCI function. With SUITE, only DIR/amd64 is made, with the kernel of that suite and without rdma_rxe. Packages are
# unpacked, never installed. No privileges are needed.
# Exit status 77: the archive cannot be reached, and there are no images of an earlier run.
set -euo pipefail

dir=${1:?usage: images.sh DIR [SUITE]}
suite=${2-}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/harness/unpack.sh
. "$here/../harness/unpack.sh"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/.lock" # lanes share the images
flock 9
PATH=$PATH:/usr/sbin:/sbin

architectures="amd64 arm64"
[ -z "$suite" ] || architectures=amd64
# sch_netem loses and delays packets between network namespaces that veth connects.
modules="virtio_pci virtio_net virtio_console virtio_rng 9p 9pnet_virtio overlay sch_netem veth"
# rdma_rxe needs crc32_generic, but does not depend on it formally; vgem makes dma-bufs.
[ -n "$suite" ] || modules+=" crc32_generic ib_uverbs rdma_ucm rdma_rxe vgem"
# Commands load these with modprobe. They are outside of the initrd, because it must be small to boot fast.
card_modules="mlx5_core mlx5_ib ib_uverbs rdma_ucm ib_umad"
# What else uses RDMA in the kernel: block devices, sockets and file systems over it.
card_modules+=" nvme_rdma nvmet_rdma brd ib_iser ib_isert target_core_iblock sd_mod crc32c_generic rds_rdma nfsd nfsv4 rpcrdma"
# An x86-64 machine uses the programs of this machine; an aarch64 machine uses the programs in these packages.
declare -A tools=([amd64]="busybox-static"
	[arm64]="busybox-static bash libtinfo6 iproute2 libmnl0 libbsd0 libmd0 libcap2 libbpf1 libelf1 libxtables12 ibverbs-utils
	librdmacm1 rdmacm-utils perftest libibumad3 libpci3 libudev1 zlib1g")

say() { printf 'lab images: %s\n' "$*" >&2; }

# If the archive cannot be reached, use the images of an earlier run.
out_of_reach()
{
	local arch
	say "$1"
	for arch in $architectures; do
		[ -f "$dir/$arch/made-of" ] || exit 77
	done
	say "using the images of an earlier run"
	exit 0
}

# Use the archives of this machine's Debian release, including security updates, or the mirror's SUITE.
sources()
{
	local codename uri release
	if [ -n "$suite" ]; then
		uri=$(debian_mirror)
		[ -z "$uri" ] || source_line "$uri" "$suite" amd64
		return
	fi
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(LABEL)|$(REPO_URI)|$(RELEASE)' |
		sed -nE "s/^Debian(-Security)?\|(.*)\|(${codename}[a-z-]*)$/\2 \3/p" | sort -u |
		while read -r uri release; do
			source_line "$uri" "$release" amd64,arm64
		done
}

prepare_apt()
{
	local lines
	lines=$(sources)
	[ -n "$lines" ] || out_of_reach "apt has no archive of this Debian"
	private_apt "$dir/apt"
	mkdir -p "$dir/debs"
	echo "$lines" >"$dir/apt/sources.list"
	echo 'APT::Architectures { "amd64"; "arm64"; };' >>"$dir/apt/apt.conf"
	apt get update >"$dir/apt/update.log" 2>&1 ||
		out_of_reach "no answer from the archive: $(tail -n 1 "$dir/apt/update.log")"
}

# Keep apt's cache of package lists, even if the configuration of the machine disables it, as containers do.
# Without it, each call reads all lists again.
apt() { "apt-$1" -q -o Dir::Cache::pkgcache=pkgcache.bin "${@:2}"; }

# dependencies PACKAGE PATTERN: print the packages like PATTERN on which the package depends
dependencies() { apt cache depends "$1" | sed -n "s/^ *Depends: \\($2[^: ]*\\).*/\\1/p"; }

# Print the packages of the newest kernel, on which the metapackage depends. Debian 14 has its files in three more.
kernel_packages()
{
	local image part
	image=$(dependencies "linux-image-$1:$1" linux-image- | sed -n 1p)
	[ -n "$image" ] || { say "apt finds no kernel package"; exit 1; }
	echo "$image"
	for part in base binary modules; do
		dependencies "$image:$1" "linux-$part-"
	done
}

# fetch PACKAGE:ARCH...: download the packages that are not yet in DIR/debs
fetch()
{
	local package version wanted=()
	while read -r package version; do
		[ -f "$dir/debs/$(deb_name "$package" "$version")" ] && continue
		rm -f "$dir/debs/${package%:*}"_*_"${package#*:}.deb"
		wanted+=("$package")
	done < <(apt cache show --no-all-versions "$@" |
		awk '/^Package: / {p = $2} /^Version: / {v = $2} /^Architecture: / {a = $2}
			/^$/ {print p ":" a, v}')
	[ ${#wanted[@]} -eq 0 ] ||
		(cd "$dir/debs" && apt get download "${wanted[@]}") >"$dir/apt/download.log" 2>&1 ||
		out_of_reach "$(tail -n 1 "$dir/apt/download.log")"
}

# deb_name PACKAGE:ARCH VERSION: print the name that apt-get download gives to the file
deb_name() { echo "${1%:*}_${2//:/%3a}_${1#*:}.deb"; }

# unpack DEB DIRECTORY: unpack into a tree in which /bin is /usr/bin, without large files of a kernel that
# none of the modules needs
unpack()
{
	local name
	for name in bin sbin lib; do
		[ -e "$2/$name" ] || { mkdir -p "$2/usr/$name"; ln -s "usr/$name" "$2/$name"; }
	done
	dpkg-deb --fsys-tarfile "$dir/debs/$1" |
		tar -x -C "$2" --keep-directory-symlink --no-same-owner --exclude='./usr/share' --exclude='./etc' \
		--exclude='*/kernel/sound' --exclude='*/kernel/drivers/media' \
		--exclude='*/kernel/drivers/net/wireless' --exclude='*/kernel/drivers/net/ethernet/[a-ln-z]*' \
		--exclude='*/kernel/drivers/gpu/drm/[a-u]*/*' \
		--exclude='*/kernel/drivers/usb' --exclude='*/kernel/drivers/staging'
}

# pack_modules TREE TO VERSION MODULE...: copy the modules and those that they need. Newer kernels have CRCs built in.
pack_modules()
{
	local tree=$1 to=$2 version=$3 name file place
	shift 3
	for name in "$@"; do
		[[ $name != crc32*_generic ]] || modinfo -b "$tree" -k "$version" "$name" >/dev/null 2>&1 || continue
		modprobe -d "$tree" -S "$version" --show-depends "$name" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
	done | sort -u | while read -r file; do
		place=$to${file#"$tree"}
		mkdir -p "$(dirname "$place")"
		case $file in
		*.xz) xz -dc "$file" >"${place%.xz}" ;;
		*) cp "$file" "$place" ;;
		esac
	done
	cp "$tree/lib/modules/$version"/modules.{builtin,builtin.modinfo,order} "$to/lib/modules/$version/"
	depmod -b "$to" "$version"
}

pack_initrd()
{
	local tree=$1 root=$2 version=$3 out=$4
	local work=$tree/initrd
	mkdir -p "$work"/{bin,proc,sys,dev,tmp,run,mnt}
	cp "$root/usr/bin/busybox" "$work/bin/busybox"
	cp "$here/init" "$work/init"
	chmod 755 "$work/init"
	# shellcheck disable=SC2086 # a list of words
	pack_modules "$tree" "$work" "$version" $modules
	(cd "$work" && find . -print0 | cpio --null -o -H newc --quiet -R 0:0 | gzip -1) >"$out"
}

# make_image ARCH DEB...
make_image()
{
	local arch=$1 tree=$dir/$1/tree root=$dir/$1/root version kernel deb
	shift
	rm -rf "${dir:?}/$arch"
	mkdir -p "$tree" "$root"
	for deb in "$@"; do
		case $deb in
		linux-*) unpack "$deb" "$tree" ;;
		*) unpack "$deb" "$root" ;;
		esac
	done
	version=$(basename "$tree"/lib/modules/*)
	kernel=$(find "$tree" -name 'vmlinuz*' -print -quit)
	if [ "$arch" = amd64 ]; then # a compressed kernel unpacks itself slowly
		"$here/uncompress.py" "$kernel" "$dir/$arch/kernel"
	else
		cp "$kernel" "$dir/$arch/kernel"
		for deb in $("$dir/amd64/root/usr/bin/busybox" --list); do
			[ -e "$root/usr/bin/$deb" ] || ln -s busybox "$root/usr/bin/$deb"
		done
	fi
	depmod -b "$tree" "$version"
	pack_initrd "$tree" "$root" "$version" "$dir/$arch/initrd"
	# shellcheck disable=SC2086 # a list of words
	[ "$arch" != amd64 ] || pack_modules "$tree" "$root" "$version" $card_modules
	echo "$version" >"$dir/$arch/version"
	rm -rf "$tree"
}

# image_of ARCH PACKAGE...: make the image
image_of()
{
	local arch=$1 package
	shift
	for package in "$@"; do
		(cd "$dir/debs" && echo "${package%:*}"_*_"$arch.deb")
	done >"$dir/$arch.debs"
	{ cat "$dir/$arch.debs"; sha256sum <"$0"; sha256sum <"$here/init"; } >"$dir/$arch.wanted"
	if ! cmp -s "$dir/$arch.wanted" "$dir/$arch/made-of"; then
		# shellcheck disable=SC2046
		make_image "$arch" $(cat "$dir/$arch.debs")
		mv "$dir/$arch.wanted" "$dir/$arch/made-of"
	fi
	say "$arch: Linux $(cat "$dir/$arch/version")"
}

prepare_apt
for arch in $architectures; do
	kernel=$(kernel_packages "$arch")
	# shellcheck disable=SC2206 # lists of words
	packages=($kernel ${tools[$arch]})
	fetch "${packages[@]/%/:$arch}"
	image_of "$arch" "${packages[@]}"
done
