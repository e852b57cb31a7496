#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# newest-rdma-core.sh DIR: unpack the newest rdma-core of Debian's archive in DIR/root. DIR/bin gets its programs,
# DIR/version its version, and DIR/loader and DIR/libraries its dynamic linker and the path of its libraries.
# Exit status 77: the archive cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/harness/unpack.sh
. "$here/../../harness/unpack.sh"

dir=${1:?usage: newest-rdma-core.sh DIR}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
programs="ibv_devices ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong
	ibv_srq_pingpong ibv_xsrq_pingpong ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw
	ib_write_lat rdma"

unpack_suite sid "$dir" ibverbs-providers ibverbs-utils librdmacm1t64 python3 python3-pyverbs python3-scapy perftest \
	iproute2 linux-libc-dev
libraries=$libraries:$libraries/libibverbs
printf '%s\n' "$loader" >"$dir/loader"
printf '%s\n' "$libraries" >"$dir/libraries"
rm -rf "${dir:?}/bin"
mkdir "$dir/bin"
for name in $programs; do
	wrapper "$dir/bin/$name" "$(find "$dir/root/usr/bin" "$dir/root/usr/sbin" -name "$name" -print -quit)"
done
wrapper "$dir/bin/python3" "PYTHONHOME=$dir/root/usr" "PYTHONPATH=$dir/root/usr/lib/python3/dist-packages" \
	PYTHONDONTWRITEBYTECODE=1 "$(readlink -f "$dir/root/usr/bin/python3")"
