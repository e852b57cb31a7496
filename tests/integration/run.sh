#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# run.sh EMU RUN-OPTION... -- PROGRAM ARGUMENT...
# One test on an emulator of its own, whose sockets need a short path: not below the build directory.
set -eu

emu=$1
shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$emu" run --dir "$dir/emu" "$@"
