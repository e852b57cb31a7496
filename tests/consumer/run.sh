#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# run.sh BUILD cmake|meson|make: use dpumap in another project. Install BUILD into a temporary directory,
# build programs in C and C++ against it with only PKG_CONFIG_PATH=$(dpumap doca-pkgconfig-dir), and run
# them on the emulated device.
set -euo pipefail

build=$1
how=$2
src=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-consumer.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
log=$tmp/log
prefix=/opt/dpumap

die()
{
	echo "consumer: $*" >&2
	[ ! -s "$log" ] || cat "$log" >&2
	exit 1
}

quietly()
{
	"$@" >"$log" 2>&1 || die "$* failed"
}

# Install as a package build does, below DESTDIR, which no installed file may contain.
quietly env DESTDIR="$tmp/root" cmake --install "$build" --prefix "$prefix"
root=$tmp/root$prefix
libdir=$(dirname "$(find "$root" -name libdpumap.so -not -path '*/dpumap-doca/*')")

# The default paths of compilers must not contain files that could be mistaken for a DOCA SDK.
shadow=$(find "$root" \( -name 'doca*.pc' -o -name 'libdoca_*' -o -name 'doca_*.h' \) \
	-not -path '*/dpumap-doca/*')
[ -z "$shadow" ] || die "this file could be mistaken for a DOCA SDK: $shadow"

export LD_LIBRARY_PATH=$libdir
PKG_CONFIG_PATH=$("$root/bin/dpumap" doca-pkgconfig-dir) || die "no doca-pkgconfig-dir"
export PKG_CONFIG_PATH
case $how in
cmake)
	quietly cmake -S "$src" -B "$tmp/out"
	quietly cmake --build "$tmp/out"
	;;
meson)
	mkdir "$tmp/src"
	cp "$src"/*.c "$src/meson.build" "$tmp/src/"
	quietly meson setup "$tmp/out" "$tmp/src"
	quietly meson compile -C "$tmp/out"
	;;
make)
	mkdir "$tmp/out"
	quietly make -C "$tmp/out" -f "$src/Makefile"
	;;
*)
	die "unknown build system $how; use cmake, meson or make"
	;;
esac

# Programs can also be built against the build tree.
if [ "$how" = make ]; then
	mkdir "$tmp/out/uninstalled"
	PKG_CONFIG_PATH=$("$build/bin/dpumap" doca-pkgconfig-dir) quietly make -C "$tmp/out/uninstalled" \
		-f "$src/Makefile" copy-c copy-named
fi

for program in copy-c copy-cxx copy-named copy-dpu; do
	side=host
	[ "$program" != copy-dpu ] || side=dpu
	said=$("$root/bin/dpumap-emu" run --dir "$tmp/emu" --as "$side" -- "$tmp/out/$program" \
		2>"$log") || die "$program fails"
	case $said in
	*"copied 4096 bytes on the host" | *"copied 4096 bytes on the DPU") echo "$program: $said" ;;
	*) die "$program said: $said" ;;
	esac
	# The Makefile links this program with an rpath.
	[ "$how-$program" != make-copy-named ] ||
		grep -q 'libdpumap.*dpumap-doca' <(env -u LD_LIBRARY_PATH ldd "$tmp/out/$program") ||
		die "$program does not find its library by rpath"
	[ "$program" != copy-dpu ] || [ "${said##* }" = DPU ] || die "$program does not run on the DPU"
done

# Programs that use only types, or find no capable device, need none.
for program in {types,engines}-{c,cxx,named}; do
	said=$("$tmp/out/$program" 2>"$log") || die "$program fails"
	case $program-$said in
	types-*-"types are complete" | engines-*-"no device is capable") ;;
	*) die "$program said: $said" ;;
	esac
done
