#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# newest-qemu.sh DIR: unpack the newest QEMU of Debian's archive in DIR/root; DIR/bin/qemu-system-x86_64 runs it.
# It has the device vfio-user-pci, which QEMU has from version 10.1 on. Exit status 77: the archive cannot be reached.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/harness/unpack.sh
. "$here/../harness/unpack.sh"

dir=${1:?usage: newest-qemu.sh DIR}
mkdir -p "$dir/bin"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/.lock"
flock 9

unpack_suite sid "$dir" qemu-system-x86 seabios ipxe-qemu
share=$dir/root/usr/share
wrapper "$dir/bin/qemu-system-x86_64" "QEMU_MODULE_DIR=$libraries/qemu" "$dir/root/usr/bin/qemu-system-x86_64" \
	-L "$share/qemu" -L "$share/seabios"
