#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The public headers, the symbol map and libdpumap.so name the same functions, and the library needs only
# rdma-core, libnuma, json-c and the C library. The codec is also a static library for firmware, which
# defines the functions that its header declares. Programs and libraries bind all symbols when they start.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# Print the functions that the header files whose names match REGEX declare
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

# Print the functions that the symbol map MAP names, without what only our own libraries look up
mapped()
{
	sed -e 's|/\*.*\*/||' -e 's/#.*//' "$TREE/$1" |
		sed -n 's/^[[:space:]]*\([a-z][a-z0-9_]*\);.*/\1/p' | grep -v '^dpumap_private_' |
		LC_ALL=C sort -u
}

# Print the functions that the library LIB exports
exported()
{
	nm -D --defined-only "$BUILD/lib/$1" | awk '$2 != "A" { print $3 }' |
		sed 's/@.*//' | grep -v '^dpumap_private_' | LC_ALL=C sort -u
}

# within WHAT A B: complain with WHAT about each name in A that is not in B
within()
{
	local name
	for name in $(LC_ALL=C comm -23 "$2" "$3"); do
		bad "$name $1"
	done
}

# check_library LIB MAP DECLARED NEEDED: check that LIB, MAP and the header files DECLARED name the same
# functions, and that LIB needs only libraries that match the pattern NEEDED
check_library()
{
	local dir lib
	dir=$(mktemp -d)
	mapped "$2" >"$dir/mapped"
	exported "$1" >"$dir/exported"
	[ -s "$3" ] || bad "no function of $1 found in the public headers"
	within "is declared but not in $2" "$3" "$dir/mapped"
	within "is in $2 but not declared" "$dir/mapped" "$3"
	within "is in $2 but not in $1" "$dir/mapped" "$dir/exported"
	within "is exported by $1 but not in $2" "$dir/exported" "$dir/mapped"
	rm -rf "$dir"
	grep -qz 'local:[[:space:]]*\*;' "$TREE/$2" || bad "$2 lacks 'local: *', so it exports all other symbols"
	for lib in $(readelf -d "$BUILD/lib/$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[[ $lib =~ ^($4|libc\.so\.6|ld-linux-.*|libasan\.so\..*|libubsan\.so\..*)$ ]] ||
			bad "$1 needs $lib"
	done
}

run_check()
{
	local dir file
	dir=$(mktemp -d)
	declared 'dpumap/desc\.h' >"$dir/codec-declared"
	declared 'dpumap/channel\.h' | grep '^dpumap_channel_' >"$dir/channel-declared"
	declared 'dpumap/fleet\.h' | grep '^dpumap_fleet_' >"$dir/fleet-declared"
	declared '.*' | LC_ALL=C comm -23 - "$dir/codec-declared" |
		LC_ALL=C comm -23 - "$dir/channel-declared" |
		LC_ALL=C comm -23 - "$dir/fleet-declared" >"$dir/declared"
	nm --defined-only "$BUILD/lib/libdpumap_desc.a" 2>/dev/null |
		awk '$2 == "T" { print $3 }' | LC_ALL=C sort -u >"$dir/codec"
	check_library libdpumap.so src/libdpumap.map "$dir/declared" \
		'libibverbs\.so\.1|librdmacm\.so\.1|libmlx5\.so\.1|libnuma\.so\.1|libjson-c\.so\.5'
	check_library libdpumap-channel.so src/channel/libdpumap-channel.map \
		"$dir/channel-declared" \
		'libdpumap\.so\.0|libcbor\.so\..*|libconfig\.so\..*|libssl\.so\.3|libcrypto\.so\.3'
	check_library libdpumap-fleet.so src/fleet/libdpumap-fleet.map "$dir/fleet-declared" \
		'libdpumap\.so\.0|libdpumap-channel\.so\.0|libcurl\.so\.4|libjson-c\.so\.5'
	[ -s "$dir/codec-declared" ] || bad "no function found in include/dpumap/desc.h"
	within "is declared but not in libdpumap_desc.a" "$dir/codec-declared" "$dir/codec"
	rm -rf "$dir"
	for file in bin/dpumap{,d,-emu} lib/libdpumap{,-channel,-fleet}.so; do
		grep -q "(FLAGS_1).*NOW" <(readelf -d "$BUILD/$file") || bad "$file binds symbols while it runs"
	done
}

PLANTS=5
plant()
{
	case $2 in
	1) printf 'int dpumap_planted(void);\n' >"$1/include/dpumap/planted.h" ;;
	2) printf 'int dpumap_planted(void);\n' >>"$1/include/dpumap/desc.h" ;;
	4) printf 'int dpumap_channel_planted(void);\n' >>"$1/include/dpumap/channel.h" ;;
	5) edit "$1/src/fleet/libdpumap-fleet.map" '/dpumap_fleet_watch;/d' ;;
	3) sed -i '0,/^[[:space:]]*doca_[a-z_]*;/{/^[[:space:]]*doca_[a-z_]*;/d}' "$1/src/libdpumap.map" ;;
	esac
}

main "$@"
