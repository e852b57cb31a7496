#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What bash offers for a command line of dpumap that is half typed.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=completion/dpumap.bash
. "$(dirname "$0")/../../completion/dpumap.bash"

# offers WANTED WORD...: in any order, when the cursor is at the end of the last word
offers()
{
	local wanted=$1 found
	shift
	COMP_LINE="dpumap $*"
	COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	_dpumap
	found=$(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort -u | xargs)
	[ "$found" = "$wanted" ] || fail "dpumap $*: offers \"$found\" instead of \"$wanted\""
}

COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
complete -p dpumap | grep -q -- '-F _dpumap dpumap' || fail "not registered"
offers "bench cp desc doca-pkgconfig-dir doctor dump fill get import info list pki read watch write" ""
offers "read" re
offers "init issue list renew revoke" pki ""
offers "check show" desc ""
offers "" pki frobnicate ""
offers "read" --timeout 3 --verbose re
offers "--sparse" read --sp
offers "--file-offset" cp --fi
offers "" list --sp
offers "--config --connect --count" watch --co
offers "--config --connect" list --co
offers "" desc show --co
offers "--show-secret" desc show --sh
offers "--key-type" pki init --ke
offers "ed25519 p256" pki init --key-type ""
offers "tls: unix:" --connect ""
offers "" bench x --size ""

offers "ed25519 p256" pki init --key-type=
offers "" list --timeout=

# Every option of --help is offered, and none that the command does not take.
for command in list info get import read write cp fill dump watch bench doctor; do
	mapfile -t told < <({ dpumap "$command" --help; dpumap --help; } |
		grep -oE -- '^ +(-., )?(    )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
	offers "$(printf '%s\n' "${told[@]}" | LC_ALL=C sort -u | xargs)" "$command" --
	for option in "${told[@]}"; do
		dpumap "$command" "$option=1" --help >/dev/null 2>"$work/stderr" || true
		! grep -q 'unrecognized option' "$work/stderr" || fail "$command has no $option"
	done
done

touch "$files/one.bin" "$files/two.bin"
cd "$files"
offers "one.bin" write x on
offers "one.bin two.bin" --cert ""
offers "two.bin" desc show t
offers "two.bin" --connect unix:t
offers "one.bin" cp o
mkdir "$files/sub"
offers "sub" pki init --dir ""

# Names: of exports from the dpumapd that is meant, of certificates from the authority that is meant.
start_emulator --cards 1
start_agent --export name=bulk,kind=dram,size=64K --export name=boot,kind=dram,size=64K \
	--export name=fast,kind=dm,size=4K
offers "boot bulk" --connect "$socket" read b
offers "boot bulk fast" -c "$socket" info ""
offers "fast" dump --connect "$socket" f
offers "boot bulk" --connect "unix:$socket" cp :b
offers "boot bulk" "--connect=unix:$socket" cp "$files/one.bin" :b
COMP_WORDBREAKS=' ' offers ":boot :bulk" --connect "$socket" cp :b
offers "boot bulk fast" --connect "$socket" cp "$files/one.bin" :
DPUMAP_CONNECT=$socket offers "fast" get f
offers "" --connect "$work/none" get f
stop_agent
dpumap pki init --dir "$work/pki" >/dev/null
dpumap pki issue --dir "$work/pki" --host web >/dev/null
dpumap pki issue --dir "$work/pki" --host db >/dev/null
dpumap pki revoke --dir "$work/pki" web >/dev/null
offers "db" pki revoke --dir "$work/pki" ""
rm -r "${files:?}"/*
expect_no_files
finish
