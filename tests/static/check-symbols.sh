#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The public headers, the symbol map and libdpumap.so name the same functions, and the library asks
# for rdma-core, libnuma, json-c and the C library alone. The codec is a static library of its own, for firmware: what
# its header declares is in there.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# The functions that the header files whose names match REGEX declare
declared()
{
	local dir
	dir=$(mktemp -d)
	(cd "$TREE/include" && find . -name '*.h' | sed 's|^\./\(.*\)|#include <\1>|') >"$dir/all.c"
	gcc -std=c11 -DDOCA_ALLOW_EXPERIMENTAL_API -I "$TREE/include" -fsyntax-only \
		-aux-info "$dir/all.info" "$dir/all.c"
	grep -E "^/\* $TREE/include/($1):" "$dir/all.info" | grep -F ' extern ' |
		sed -n 's/^[^(]*[ *]\([a-z0-9_]*\) (.*/\1/p' | LC_ALL=C sort -u
	rm -rf "$dir"
}

mapped()
{
	sed -e 's|/\*.*\*/||' -e 's/#.*//' "$TREE/src/libdpumap.map" |
		sed -n 's/^[[:space:]]*\([a-z][a-z0-9_]*\);.*/\1/p' | LC_ALL=C sort -u
}

exported()
{
	nm -D --defined-only "$BUILD/lib/libdpumap.so" | awk '$2 != "A" { print $3 }' |
		sed 's/@.*//' | LC_ALL=C sort -u
}

# within WHAT A B: each name of A is in B
within()
{
	local name
	for name in $(LC_ALL=C comm -23 "$2" "$3"); do
		bad "$name $1"
	done
}

run_check()
{
	local dir needed
	dir=$(mktemp -d)
	declared 'dpumap/desc\.h' >"$dir/codec-declared"
	declared '.*' | LC_ALL=C comm -23 - "$dir/codec-declared" >"$dir/declared"
	nm --defined-only "$BUILD/lib/libdpumap_desc.a" 2>/dev/null |
		awk '$2 == "T" { print $3 }' | LC_ALL=C sort -u >"$dir/codec"
	mapped >"$dir/mapped"
	exported >"$dir/exported"
	[ -s "$dir/declared" ] || bad "no function found in the public headers"
	within "is declared but not in the symbol map" "$dir/declared" "$dir/mapped"
	within "is in the symbol map but not declared" "$dir/mapped" "$dir/declared"
	within "is in the symbol map but not in the library" "$dir/mapped" "$dir/exported"
	within "is exported by the library but not in the map" "$dir/exported" "$dir/mapped"
	[ -s "$dir/codec-declared" ] || bad "no function found in include/dpumap/desc.h"
	within "is declared but not in libdpumap_desc.a" "$dir/codec-declared" "$dir/codec"
	rm -rf "$dir"
	grep -qz 'local:[[:space:]]*\*;' "$TREE/src/libdpumap.map" || bad "the symbol map has no 'local: *'"
	needed=$(readelf -d "$BUILD/lib/libdpumap.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	for lib in $needed; do
		case $lib in
		libibverbs.so.1 | libmlx5.so.1 | libnuma.so.1 | libjson-c.so.5 | libc.so.6 | ld-linux-*) ;;
		libasan.so.* | libubsan.so.*) ;;
		*) bad "libdpumap.so needs $lib" ;;
		esac
	done
}

PLANTS=3
plant()
{
	case $2 in
	1) printf 'int dpumap_planted(void);\n' >"$1/include/dpumap/planted.h" ;;
	2) printf 'int dpumap_planted(void);\n' >>"$1/include/dpumap/desc.h" ;;
	3) sed -i '0,/^[[:space:]]*doca_[a-z_]*;/{/^[[:space:]]*doca_[a-z_]*;/d}' "$1/src/libdpumap.map" ;;
	esac
}

main "$@"
