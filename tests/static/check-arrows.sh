#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Who may call whom (docs/architecture.md): verbs in src/device alone, but for the bridge, whose
# public header shows verbs objects and which hands a protection domain through, and the doctor, which
# looks at the device without believing the library; the codec freestanding, the
# emulator alone in its room, the programs on the public headers, nothing that knows the emulator.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

SOURCE_DIRS=(include src dpu host)

run_check()
{
	local line said
	said=$(python3 "$(dirname "${BASH_SOURCE[0]}")/arrows.py" "$TREE") || bad "arrows.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

PLANTS=11
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
	11) printf '#include "device/hca.h"\n' >"$dir/src/doctor/planted.c" ;;
	10) sed -i 's|infiniband/verbs.h|infiniband/mlx5dv.h|' "$dir/include/doca_rdma_bridge.h" ;;
	esac
}

main "$@"
