#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Build all fuzzers as OSS-Fuzz and ClusterFuzzLite ask for: with $CC, $CFLAGS and $LIB_FUZZING_ENGINE, below $WORK.
# $OUT gets the fuzzers, the libraries that their machine lacks, the inputs that they start from, and their options.
set -euo pipefail
: "${CC:?}" "${CFLAGS?}" "${LIB_FUZZING_ENGINE:?}" "${WORK:?}" "${OUT:?}"

tree=$(cd "$(dirname "$0")/../.." && pwd)
build=$WORK/dpumap
instrument=$CFLAGS
unset CFLAGS CXXFLAGS # CMake would give them to the compilers of everything
cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DDPUMAP_TESTS=ON -DDPUMAP_FUZZ=ON \
	-DCMAKE_C_COMPILER="$CC" -DDPUMAP_FUZZ_COMPILE="$instrument" -DDPUMAP_FUZZ_LINK="$instrument $LIB_FUZZING_ENGINE" \
	-DCMAKE_BUILD_RPATH="\$ORIGIN/lib" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
ninja -C "$build" tests/fuzz/all tests/emu/fuzz/all

# What glibc and the compiler bring is everywhere.
copy_libraries() # PROGRAM
{
	local name path
	while read -r name _ path _; do
		case $name in
		linux-vdso.* | */ld-linux* | libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libgcc_s.so.* | \
			libstdc++.so.*) ;;
		*.so*) cp -Lu "$path" "$OUT/lib/" ;;
		esac
	done < <(LD_LIBRARY_PATH=$build/lib ldd "$1")
}

mkdir -p "$OUT/lib"
for source in "$tree"/tests/fuzz/fuzz_*.c "$tree"/tests/emu/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	inputs=$(find "$build/tests/fuzz/corpus" "$build/tests/emu/fuzz/corpus" -maxdepth 1 -name "$name")
	cp "$build/tests/$name" "$OUT/"
	copy_libraries "$build/tests/$name"
	(cd "$inputs" && python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" ./*)
	printf '[libfuzzer]\nmax_len = 600\n' >"$OUT/$name.options"
done
