#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# run.sh EMU RUN-OPTION... -- PROGRAM ARGUMENT...
# One test on an emulator of its own, whose sockets need a short path: not below the build directory. It
# creates hundreds of files and removes them soon, which costs ext4 many times as much as a file system in
# memory: ext4 searches for inodes that were not freed lately.
set -eu

emu=$1
shift
place=${TMPDIR:-/dev/shm}
[ -w "$place" ] || place=/tmp
dir=$(mktemp -d "$place/dpumap-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$emu" run --dir "$dir/emu" "$@"
