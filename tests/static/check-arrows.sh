#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Who may call whom (docs/architecture.md): verbs in src/device alone, but for the bridge, whose
# public header shows verbs objects and which hands a protection domain through; the codec freestanding, the
# emulator alone in its room, the programs on the public headers, nothing that knows the emulator.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# The rooms whose headers a room may include.
may_include()
{
	case $1 in
	public) echo "public" ;;
	desc) echo "desc public-desc" ;;
	core) echo "core device desc log public public-desc" ;;
	device) echo "device log public public-desc" ;;
	log) echo "log public" ;;
	argp) echo "argp log public" ;;
	channel) echo "channel common public public-desc" ;;
	common) echo "common public public-desc" ;;
	dpu) echo "dpu channel common public public-desc" ;;
	host) echo "host channel common public public-desc" ;;
	emu) echo "emu" ;;
	esac
}

room_of()
{
	case $1 in
	include/dpumap/desc.h) echo public-desc ;;
	include/*) echo public ;;
	src/*/*) local room=${1#src/}; echo "${room%%/*}" ;;
	dpu/*) echo dpu ;;
	host/*) echo host ;;
	tests/*) echo tests ;;
	esac
}

# The file of the tree that an #include in FILE of <NAME> or "NAME" means; nothing for a system
# header.
included_file()
{
	local file=$1 form=$2 name=$3 candidates candidate
	candidates=("include/$name" "src/$name")
	[ "$form" = '<' ] || candidates=("$(dirname "$file")/$name" "${candidates[@]}" "$name")
	for candidate in "${candidates[@]}"; do
		if [ -f "$TREE/$candidate" ]; then
			realpath --relative-to="$TREE" "$TREE/$candidate"
			return
		fi
	done
	# A bare name found through an include directory: any room's folder may be on the path.
	[ "$form" = '<' ] || (cd "$TREE" && find src dpu host -path "*/$name" -print -quit)
}

check_includes()
{
	local file=$1 room=$2 form name target allowed
	allowed=" $(may_include "$room") "
	[ "$room" != public-desc ] || allowed=" public-desc "
	while read -r form name; do
		case $room:$name in
		desc:stdint.h | desc:stddef.h | desc:string.h | desc:stdbool.h) continue ;;
		public-desc:stdint.h | public-desc:stddef.h | public-desc:stdbool.h) continue ;;
		device:infiniband/*) continue ;;
		public:infiniband/verbs.h) [ "$file" != "$BRIDGE_HEADER" ] || continue ;;&
		*:infiniband/*) bad "$file: includes <$name>: verbs belong to src/device"; continue ;;
		esac
		target=$(included_file "$file" "$form" "$name")
		if [ -z "$target" ]; then
			case $room in
			desc | public-desc) bad "$file: includes <$name>: the codec is freestanding" ;;
			esac
			continue
		fi
		case $allowed in
		*" $(room_of "$target") "*) ;;
		*) bad "$file: includes $target: $room may not look there" ;;
		esac
	done < <(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\([<"]\)\([^>"]*\)[>"].*/\1 \2/p' \
		"$TREE/$file")
}

BRIDGE_HEADER=include/doca_rdma_bridge.h
BRIDGE=src/core/rdma_bridge.c

# The verbs names that a file outside src/device may have: a protection domain, in the bridge
may_name()
{
	case $1 in
	"$BRIDGE_HEADER" | "$BRIDGE") echo ibv_pd ;;
	esac
}

check_words()
{
	local file=$1 room=$2 hit allowed
	allowed=$(may_name "$file")
	if [ "$room" != device ]; then
		hit=$(code "$TREE/$file" | grep -oE '\b(ibv|mlx5dv)_[a-z0-9_]+[[:space:]]*\(' | head -n 1 || true)
		[ -z "$hit" ] || bad "$file: calls $hit): verbs are called in src/device alone"
	fi
	case $room in
	argp | core | log | desc | dpu | host | channel | common | public | public-desc)
		hit=$(code "$TREE/$file" | grep -oE '\b(ibv|mlx5dv)_[a-z0-9_]+' |
			grep -vxF "${allowed:-none}" | head -n 1 || true)
		[ -z "$hit" ] || bad "$file: names $hit: verbs belong to src/device"
		;;
	esac
	if [ "$room" != emu ]; then
		# A kind of representor of the interface has that name.
		hit=$(code "$TREE/$file" | sed 's/filter_emulated//gI' | grep -oiE '(dpumap[-_]emu|emulat)[a-z_]*' | head -n 1 || true)
		[ -z "$hit" ] || bad "$file: knows the emulator ($hit)"
	fi
}

run_check()
{
	local file room seen=0
	for file in $(files '*.c' '*.h'); do
		room=$(room_of "$file")
		case $room in
		tests | "") continue ;;
		esac
		seen=$((seen + 1))
		check_includes "$file" "$room"
		check_words "$file" "$room"
	done
	[ "$seen" -gt 0 ] || bad "no source file found in $TREE"
}

PLANTS=10
plant()
{
	local dir=$1
	case $2 in
	1) printf 'int dpumap_x(void *pd)\n{\n\treturn ibv_dealloc_pd(pd);\n}\n' >"$dir/src/core/planted.c" ;;
	2) printf '#include <stdio.h>\n' >"$dir/src/desc/planted.c" ;;
	3) printf '#include <dpumap/dm.h>\n' >"$dir/src/emu/planted.c" ;;
	4) printf '#include "core/planted.h"\n' >"$dir/host/planted.c"; : >"$dir/src/core/planted.h" ;;
	5) printf '#include <infiniband/verbs.h>\n' >"$dir/include/dpumap/planted.h" ;;
	6) printf 'const char *x = "DPUMAP_EMU_DIR";\n' >"$dir/src/device/planted.c" ;;
	7) printf '#include "../core/planted.h"\n' >"$dir/src/device/planted.c"; : >"$dir/src/core/planted.h" ;;
	8) printf 'struct ibv_pd *x;\n' >"$dir/src/core/planted.c" ;;
	9) printf 'struct ibv_mr *x;\n' >>"$dir/src/core/rdma_bridge.c" ;;
	10) sed -i 's|infiniband/verbs.h|infiniband/mlx5dv.h|' "$dir/include/doca_rdma_bridge.h" ;;
	esac
}

main "$@"
