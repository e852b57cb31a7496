#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What decoding means: Frama-C's WP proves the contracts of meaning.c, of an access that is permitted and of
# fields that are accepted. CVC4 is the prover.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/../static/lib.sh"

PROVED=check_range,check_source,check_access,dpumap_desc_size,dpumap_desc_check,permit_of,ops_of
PROVED+=,dpumap_desc_get_window,dpumap_desc_window_check,dpumap_desc_check_access,read_from,take,get_fields

run_check()
{
	local home log
	home=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-wp.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$home'" EXIT
	log=$home/log
	HOME=$home why3 config detect >"$log" 2>&1 || { cat "$log" >&2; bad "why3 finds no prover"; return; }
	(cd "$TREE" && HOME=$home frama-c -c11 -machdep x86_64 \
		-cpp-extra-args="-U__GNUC__ -U__x86_64__ -Iinclude -Isrc" tests/proof/meaning.c \
		-wp -wp-fct "$PROVED" -wp-prop=-definition -wp-prover cvc4 -wp-timeout "${SECONDS_EACH:-60}" -wp-par "$(nproc)") \
		>"$log" 2>&1 || true
	sed -n 's/^\[wp\] \(Proved goals:.*\)/\1/p' "$log"
	grep -qE '^\[wp\] Proved goals: +([0-9]+) / \1$' "$log" || { grep -v Valid "$log" >&2; bad "not proved"; }
}

PLANTS=4
plant()
{
	local desc=$1/src/desc
	case $2 in
	1) edit "$1/include/dpumap/desc.h" 's/if (offset > w->len || /if (/' ;;
	2) edit "$desc/check.c" 's/if (len > UINT64_MAX - addr)/if (len > UINT64_MAX - addr + 1)/' ;;
	3) edit "$desc/access.c" 's/w->len = d->len;/w->len = d->len + 1;/' ;;
	4) edit "$desc/decode.c" 's/return dpumap_desc_check(d);/return dpumap_desc_check(d), DPUMAP_DESC_OK;/' ;;
	esac
}

# What is not provable is not worth more time.
case " $* " in
*" --self-test "*) export SECONDS_EACH=5 ;;
esac

main "$@"
