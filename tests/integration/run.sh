#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# run.sh EMU RUN-OPTION... -- PROGRAM ARGUMENT...
# One test on an emulator of its own.
set -eu
# shellcheck source=tests/integration/lib.sh
. "${0%/*}/lib.sh"

emu=$1
shift
emulator_place
dir=$(mktemp -d "$place/dpumap-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$emu" run --dir "$dir/emu" "$@"
