#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# sysroot-build.sh CMAKE-ARGUMENT...: check that the preset dpu-sysroot refuses a directory that is not a
# root file system, and that it builds against $DPUMAP_SYSROOT without headers and libraries of this machine.
set -euo pipefail

root=$(realpath "$DPUMAP_SYSROOT")
source=$(realpath "$(dirname "$0")/../..")
build=$source/build/dpu-sysroot
cd "$source"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-sysroot.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# refused WORDS DPUMAP_SYSROOT: configuring with this root fails with WORDS
refused()
{
	if DPUMAP_SYSROOT=$2 cmake --preset dpu-sysroot -B "$tmp/build" >"$tmp/log" 2>&1; then
		echo "'$2' is accepted as a root file system"
		exit 1
	fi
	grep -q "$1" <(tr -s ' \n' ' ' <"$tmp/log") || { cat "$tmp/log"; exit 1; }
	rm -rf "$tmp/build"
}
refused 'DPUMAP_SYSROOT is not set' ''
refused 'is not a directory' "$tmp/nowhere"
refused 'is not an aarch64 system' "$tmp"
libm=$root/usr/lib/aarch64-linux-gnu/libm.so
ln -sf /lib/aarch64-linux-gnu/libm.so.6 "$libm"
refused 'lead out of it' "$root"
scripts/sysroot --relink "$root"

# The linker prints each file that it opens.
rm -rf "$build"
cmake --preset dpu-sysroot -DDPUMAP_WERROR=ON "$@" \
	-DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXE_LINKER_FLAGS=-Wl,--trace -DCMAKE_SHARED_LINKER_FLAGS=-Wl,--trace
cmake --build --preset dpu-sysroot --target dpumapd dpumap_tool dpumap-emu-shim test_channel \
	test_share >"$tmp/build.log" || { cat "$tmp/build.log"; exit 1; }

grep -oE '^\(?/[^ ()]+' "$tmp/build.log" | tr -d '(' | sort -u >"$tmp/linked"
ninja -C "$build" -t deps | sed -n 's/^ \+\(\/.*\)/\1/p' | sort -u >"$tmp/included"
grep -q "^$root/usr/lib/aarch64-linux-gnu/libmlx5.so" "$tmp/linked" ||
	{ echo "the program is not linked with libmlx5 of the root"; cat "$tmp/linked"; exit 1; }
grep -q "^$root/usr/include/infiniband/verbs.h" "$tmp/included" || { echo "verbs.h of the root is not included"; exit 1; }
# The compiler's own files may come from this machine.
own=$(dirname "$(aarch64-linux-gnu-gcc -print-libgcc-file-name)")
while read -r file; do
	case $(realpath -m "$file") in
	"$root"/* | "$source"/* | "$build"/* | "$own"/* | */libgcc_s.so.1) ;;
	*) printf '%s\n' "$file" ;;
	esac
done < <(cat "$tmp/linked" "$tmp/included") >"$tmp/strangers"
[ ! -s "$tmp/strangers" ] || { echo "the build uses files of this machine:"; cat "$tmp/strangers"; exit 1; }
