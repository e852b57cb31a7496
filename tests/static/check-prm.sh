#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The emulator uses names for the fields of PRM structures, for syndromes and for opcodes, not plain numbers.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# Pairs: a pattern that no statement may contain, and what to write instead.
rules=(
	'emu_prm_[a-z]+\([^,;]+, *[0-9]|EMU_PRM_(BITS|FIELD|BYTE)\([^;]*[0-9]'
	'name the field in emu/prm/prm_*.h'
	'emu_prm_value [a-z_]+\[\] = \{.*\{ *[0-9]|emu_prm_range [a-z_]+\[\] = \{'
	'name the fields, and list reserved bits by EMU_PRM_RESERVED()'
	'm->(in|out)( \+ |\[)[0-9]'
	'use emu_prm_at() or emu_prm_at_const() with a named field'
	'emu_refuse\([^,;()]*, *[^Ee ]'
	'add a row to emu/server/firmware/syndrome.h'
	'emu_(get|put)(16|32|64)\([a-z_>.()-]+ \+ [0-9]'
	'name the field in emu/engine/memory/segments.h'
	'opcode *(==|!=|>=|<=|<|>) *(0x[0-9a-f]|[1-9])'
	'name the opcode in emu/prm/prm_cmd.h or emu/ipc/codes.h'
)

checked_files()
{
	files '*.c' | grep -E '^emu/(server|engine)/'
}

# Print the statements of a file, one a line. gcc reports an error for "#name" in a macro, but continues.
statements()
{
	{ code "$1" || true; } | tr -s '[:space:]' ' ' | sed 's/;/;\n/g'
}

run_check()
{
	local file i text found
	while read -r file; do
		text=$(statements "$TREE/$file")
		for ((i = 0; i < ${#rules[@]}; i += 2)); do
			found=$(grep -oE -- "${rules[i]}" <<<"$text") || continue
			bad "$file: \"$(sed -n '1s/^\(.\{0,80\}\).*/\1/p' <<<"$found")\": ${rules[i + 1]}"
		done
	done < <(checked_files)
}

make_scratch()
{
	cp -a "$TREE/emu" "$1/"
}

PLANTS=8
plant()
{
	local devx=$1/emu/server/devx
	case $2 in
	1) printf 'int f(void) { return (int)emu_prm_get(qpc,\n 0x565); }\n' >>"$devx/queue.c" ;;
	2) printf 'void f(void) { emu_prm_set(m->out, EMU_PRM_BITS(0x48, 24), n); }\n' >>"$devx/mkey.c" ;;
	3) printf 'static const struct emu_prm_value x[] = {{0x30, 1}};\n' >>"$devx/caps.c" ;;
	4) printf 'static const struct emu_prm_range x[] = {{0x40, 8}};\n' >>"$devx/mkey.c" ;;
	5) printf 'int f(void) { return emu_refuse(m, 0x2c); }\n' >>"$devx/mkey.c" ;;
	6) printf 'void f(void) { p = m->in + 0x18; }\n' >>"$devx/rmp.c" ;;
	7) printf 'void f(void) { emu_put32(p + 44, n); }\n' >>"$1/emu/engine/cq.c" ;;
	8) printf 'int f(void) { return m->opcode == 0x936; }\n' >>"$devx/devx.c" ;;
	esac
}

main "$@"
