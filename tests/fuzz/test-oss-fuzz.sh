#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The fuzzers as packaging/oss-fuzz/build.sh delivers them: each runs on all of its inputs without the build directory.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-oss-fuzz.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
instrument="-O1 -gline-tables-only -fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer"

mkdir "$tmp/work" "$tmp/made"
CC=clang CFLAGS=$instrument LIB_FUZZING_ENGINE=-fsanitize=fuzzer WORK=$tmp/work OUT=$tmp/made \
	"$root/packaging/oss-fuzz/build.sh" >"$tmp/log" 2>&1 || { cat "$tmp/log" && exit 1; }
mv "$tmp/made" "$tmp/out"
rm -r "$tmp/work"

num=0
for source in "$root"/tests/fuzz/fuzz_*.c "$root"/tests/emu/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	python3 -m zipfile -e "$tmp/out/${name}_seed_corpus.zip" "$tmp/inputs/$name"
	"$tmp/out/$name" -runs=0 "$tmp/inputs/$name" >"$tmp/log" 2>&1 || { cat "$tmp/log" && exit 1; }
	# Instrumented code reports new coverage while it reads its inputs.
	grep -q 'INITED cov: [1-9]' "$tmp/log" || { echo "$name covers nothing:" && cat "$tmp/log" && exit 1; }
	num=$((num + 1))
done
echo "$num fuzzers"
