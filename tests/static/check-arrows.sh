#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Which room may include which: the table at the top of arrows.py. Verbs are called in src/device only,
# with two exceptions: the bridge, whose public header shows verbs objects, and the doctor, which
# examines the device without the library. The codec is freestanding, and nothing outside the
# emulator knows it. Within the rooms of ORDERED, a file includes only those below it.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE_DIRS=(include src emu dpu host)

run_check()
{
	local line said
	said=$(python3 "$(dirname "${BASH_SOURCE[0]}")/arrows.py" "$TREE") || bad "arrows.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

PLANTS=21
plant()
{
	local dir=$1
	case $2 in
	1) printf 'int dpumap_x(void *pd)\n{\n\treturn ibv_dealloc_pd(pd);\n}\n' >"$dir/src/core/planted.c" ;;
	2) printf '#include <stdio.h>\n' >"$dir/src/desc/planted.c" ;;
	3) printf '#include <dpumap/dm.h>\n' >"$dir/emu/shim/planted.c" ;;
	4) printf '#include "core/planted.h"\n' >"$dir/host/planted.c"; : >"$dir/src/core/planted.h" ;;
	5) printf '#include <infiniband/verbs.h>\n' >"$dir/include/dpumap/planted.h" ;;
	6) printf 'const char *x = "DPUMAP_EMU_DIR";\n' >"$dir/src/device/planted.c" ;;
	7) printf '#include "../core/planted.h"\n' >"$dir/src/device/planted.c"; : >"$dir/src/core/planted.h" ;;
	8) printf 'struct ibv_pd *x;\n' >"$dir/src/core/planted.c" ;;
	9) printf 'struct ibv_mr *x;\n' >>"$dir/src/rdma/bridge.c" ;;
	10) sed -i 's|infiniband/verbs.h|infiniband/mlx5dv.h|' "$dir/include/doca_rdma_bridge.h" ;;
	11) printf '#include "device/hca.h"\n' >"$dir/src/doctor/planted.c" ;;
	12) include core/dm core/mmap ;;
	13) include dma rdma ;;
	14) include core/pe rdma ;;
	15) include emu/engine emu/server/uverbs ;;
	16) mkdir "$dir/src/core/comch" && : >"$dir/src/core/comch/planted.c" ;;
	17) include emu/server/card emu/server/uverbs ;;
	18) printf '#include <rdma/rdma_cma.h>\n' >"$dir/src/rdma/planted.c" ;;
	19) printf '#include <rdma/rdma_cma.h>\n' >"$dir/dpu/planted.c" ;;
	20) include emu/engine/memory emu/engine ;;
	21) printf '#include "comch/connection/control.h"\n' >>"$dir/src/comch/connection/ready.c" ;;
	esac
}

folder()
{
	case $1 in
	emu/*) echo "$dir/$1" ;;
	*) echo "$dir/src/$1" ;;
	esac
}

# include ROOM OTHER: a file of the room includes a header of the other
include()
{
	printf '#include "%s/planted.h"\n' "$2" >"$(folder "$1")/planted.c"
	: >"$(folder "$2")/planted.h"
}

main "$@"
