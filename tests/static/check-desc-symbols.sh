#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The descriptor codec is freestanding. Its archive needs only the memory functions that every C
# environment provides, and helpers of the compiler. Its own symbols have the prefix dpumap_desc_, and it
# has no variables.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

NM=${NM:-nm}

# Patterns, because the names of helpers may end with a version or a width.
is_allowed()
{
	case $1 in
	memcpy | memset | memcmp | memmove | strlen) ;;
	__stack_chk_fail | __stack_chk_guard) ;;
	_savegpr[01]_* | _restgpr[01]_* | .TOC.) ;;
	__aeabi_* | __udivdi3 | __umoddi3 | __ashldi3 | __lshrdi3 | __ashrdi3) ;;
	_GLOBAL_OFFSET_TABLE_) ;;
	__asan_* | __ubsan_*) ;;
	*) return 1 ;;
	esac
}

# Print the writable symbols. Constants that only the loader writes to do not count.
variables()
{
	"$NM" -f sysv "$1" | awk -F'|' '
		$7 ~ /^(\.t?bss|\.t?data|\*COM\*)/ && $7 !~ /^\.data\.rel\.ro/ {
			sub(/ +$/, "", $1)
			print $1
		}'
}

archive_of()
{
	if [ -f "$TREE/libdpumap_desc.a" ]; then
		echo "$TREE/libdpumap_desc.a"
	else
		echo "$BUILD/lib/libdpumap_desc.a"
	fi
}

run_check()
{
	local archive symbol defined
	archive=$(archive_of)
	[ -s "$archive" ] || { bad "$archive does not exist; build the target dpumap_desc"; return; }
	defined=$("$NM" --defined-only -g "$archive" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u)
	[ -n "$defined" ] || bad "$archive defines nothing"
	for symbol in $defined; do
		case $symbol in
		dpumap_desc_* | __odr_asan* | __x86.get_pc_thunk.*) ;;
		*) bad "$archive defines $symbol, which lacks the prefix dpumap_desc_" ;;
		esac
	done
	for symbol in $("$NM" -u "$archive" | awk '$1 ~ /^[Uvw]$/ { print $2 }' | LC_ALL=C sort -u); do
		! grep -qxF "$symbol" <<<"$defined" || continue
		is_allowed "$symbol" || bad "$archive needs $symbol, but the codec must be freestanding"
	done
	for symbol in $(variables "$archive"); do
		bad "$archive defines the variable $symbol, but the codec must not keep state"
	done
}

make_scratch()
{
	cp "$(archive_of)" "$1/"
}

# plant_object DIR: the C code on standard input becomes a member of the archive
plant_object()
{
	gcc -ffreestanding -x c -c -o "$1/planted.o" -
	ar q "$1/libdpumap_desc.a" "$1/planted.o"
}

PLANTS=5
plant()
{
	case $2 in
	1) printf 'void *malloc(unsigned long);\nvoid *dpumap_desc_x(void)\n{\n\treturn malloc(1);\n}\n' |
		plant_object "$1" ;;
	2) printf 'int x(void)\n{\n\treturn 1;\n}\n' | plant_object "$1" ;;
	3) printf 'int *__errno_location(void);\nint dpumap_desc_x(void)\n{\n\treturn *__errno_location();\n}\n' |
		plant_object "$1" ;;
	4) printf 'int dpumap_desc_x(void)\n{\n\tstatic int calls;\n\n\treturn ++calls;\n}\n' |
		plant_object "$1" ;;
	5) printf 'int dpumap_desc_x = 1;\n' | plant_object "$1" ;;
	esac
}

main "$@"
