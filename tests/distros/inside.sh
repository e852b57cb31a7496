#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# inside.sh TREE DIR ROOT [CTEST-ARGUMENT...]: in namespaces of its own, unpack DIR/root.tar to ROOT, make it the root file system, build
# TREE there and run the unit and integration tests. A test that fails is no failure of this script: DIR/ctest.xml
# has it.
set -euo pipefail

tree=$1
dir=$2
root=$3
shift 3
mkdir "$root"
mount --bind "$root" "$root"
tar -C "$root" --exclude='./dev/*' -xf "$dir/root.tar"
mkdir "$root/dpumap" "$root/out" "$root/before"
tar -C "$tree" --exclude=./.git --exclude='./build*' -c . | tar -C "$root/dpumap" -x
mount --bind "$dir" "$root/out"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
cd "$root"
pivot_root . before
umount -l /before

env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 bash -euo pipefail -s "$@" <<'END'
ip link set lo up
# shellcheck disable=SC2016 # words of dpkg
dpkg-query -W -f 'versions: ${Package} ${Version}\n' gcc cmake libibverbs1 libssl-dev python3
cmake -S /dpumap -B /build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DDPUMAP_WERROR=ON
cmake --build /build -- --quiet
ctest --test-dir /build -L '^(unit|integration)$' --no-tests=error --output-on-failure --timeout 900 \
	-j $(($(nproc) * 2)) --output-junit /out/ctest.xml "$@" || true
END
