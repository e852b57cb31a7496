#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# SPIN finds no error in the models of the emulator's protocols without locks (emu, *.pml). With
# --self-test it must find one in each mutant: a wait, a barrier or a second look is removed. With --long it also
# makes the runs that take longer; docs/proofs.md has their figures.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec /usr/bin/python3 "$here/models.py" "$@" "$here/../.."
