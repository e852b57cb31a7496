#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# units.sh DIR: install the packages in DIR, which must be for this machine's architecture, in a virtual machine whose
# process 1 is systemd (tests/lab/vm), and check there what the units and the packages' scripts do (units-guest.sh).
# Exit status 77, with the reason: there is no such virtual machine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-units.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

if [ "$(dpkg --print-architecture)" != amd64 ]; then
	echo "the virtual machines need an x86-64 machine"
	exit 77
fi
# The same package with a lower version.
dpkg-deb -R "$dir"/dpumap-dpu_*.deb "$tmp/older"
sed -i 's/^Version: .*/&~older/' "$tmp/older/DEBIAN/control"
mkdir "$tmp/lab" # systemd empties /tmp when it starts
dpkg-deb --root-owner-group -Znone -b "$tmp/older" "$tmp/lab/older.deb" >/dev/null
cp "$here/units-guest.sh" "$here/../../docs/packages.md" "$dir"/{libdpumap0,dpumap-dpu,dpumap-emu,dpumap-host}_*.deb "$tmp/lab/"
status=0
"$here/../lab/vm" run --no-rxe --systemd --timeout 3000 --memory 768 --share "$tmp/lab" -- \
	bash /lab/units-guest.sh || status=$?
exit "$status"
