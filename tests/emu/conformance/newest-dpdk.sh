#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# newest-dpdk.sh DIR: unpack the newest DPDK of Debian's archive in DIR/root. DIR/bin gets its test of crypto devices,
# which loads the drivers of mlx5, DIR/version its version. Debian 12's has no AES-GCM for mlx5. Exit status 77: the
# archive cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/harness/unpack.sh
. "$here/../../harness/unpack.sh"

dir=${1:?usage: newest-dpdk.sh DIR}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
unpack_suite sid "$dir" dpdk-dev ibverbs-providers
libraries=$libraries:$libraries/libibverbs
# DPDK would load them from a directory, but refuses those below a directory that others can write.
drivers=
for name in bus_pci bus_auxiliary common_mlx5 mempool_ring crypto_mlx5; do
	file=$(find "$dir/root/usr/lib" -name "librte_$name.so.*" -print -quit)
	[ -n "$file" ] || unpack_fails 1 "DPDK has no librte_$name"
	drivers+="${drivers:+ }$file"
done
rm -rf "${dir:?}/bin"
mkdir "$dir/bin"
wrapper "$dir/bin/dpdk-test-crypto-perf" --preload "$drivers" "$dir/root/usr/bin/dpdk-test-crypto-perf"
