#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The command lines: help for people, status 2 and a reason for what makes no sense.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"

# wrong PATTERN COMMAND...: refused as usage, with the reason in the first line
wrong()
{
	local pattern=$1 status=0
	shift
	"$@" >"$work/stdout" 2>"$work/stderr" || status=$?
	[ "$status" -eq 2 ] || fail "$*: status $status"
	head -n 1 "$work/stderr" | grep -qE -- "$pattern" ||
		fail "$*: no \"$pattern\" in: $(cat "$work/stderr")"
	[ ! -s "$work/stdout" ] || fail "$*: wrote to stdout"
}

for program in dpumap dpumapd; do
	"$program" --help >"$work/stdout" || fail "$program --help"
	grep -q 'Exit codes: 0' "$work/stdout" || fail "$program --help: no exit codes"
	"$program" --version | grep -qE "^$program [0-9]+\.[0-9]+\.[0-9]+$" ||
		fail "$program --version"
	wrong 'unrecognized option' "$program" --none
done

wrong 'a command is missing' dpumap
wrong '"frobnicate" is no command' dpumap frobnicate
wrong 'cp wants FILE :NAME or :NAME FILE or FILE NAME OUTFILE' dpumap cp a
wrong 'one of the two is an export, written :NAME' dpumap cp a b
wrong 'one of the two is an export, written :NAME' dpumap cp :a :b
wrong 'too many arguments for cp' dpumap cp a b c d
wrong 'list wants no arguments' dpumap list a
wrong 'too many arguments for info' dpumap info a b
wrong 'info wants no arguments with --descriptor' dpumap info --descriptor x y
wrong "unrecognized option '--offset'" dpumap list --offset 1
wrong '--offset is a number of bytes, not "-1"' dpumap read a b --offset=-1
wrong '--length is a number of bytes, not "1X"' dpumap read a b --length 1X
wrong '--timeout is 1 to 3600 seconds' dpumap list --timeout 0
wrong 'desc wants one of show, check' dpumap desc
wrong 'desc show wants FILE' dpumap desc show
wrong 'desc wants one of show, check, not "print"' dpumap desc print x
wrong 'too many arguments for desc show' dpumap desc show a b c
wrong "unrecognized option '--show-secret'" dpumap info a --show-secret
wrong '--sparse is for a file that is written' dpumap cp a :b --sparse
wrong '--sparse is for a FILE' dpumap read a --sparse
wrong '--json is about a FILE' dpumap read a --json
wrong '--file-offset is for a file that is read' dpumap cp :b a --file-offset 1
wrong 'pairs of hexadecimal digits' dpumap fill a 123
wrong 'pairs of hexadecimal digits' dpumap fill a 0x
wrong '--size is at least 1' dpumap bench a --size 0
wrong '--count is at most 1000000' dpumap bench a --count 1000001
wrong '--count is 1 to' dpumap watch --count 0
wrong 'say for whom: --dpu NAME or --host NAME' dpumap pki issue
wrong 'say for whom' dpumap pki issue --dpu a --host b
wrong '--san is for --dpu' dpumap pki issue --host a --san b
wrong '--san is a DNS name or an address' dpumap pki issue --dpu a --san 'b,DNS:c'
wrong 'a name is 1 to 63 of' dpumap pki issue --dpu ../a
wrong 'the name ca is' dpumap pki issue --host ca
wrong '--key-type is p256 or ed25519' dpumap pki init --key-type rsa
wrong '--days is 1 to 36500, not "0"' dpumap pki init --days 0
wrong 'pki revoke wants NAME' dpumap pki revoke
wrong '--connect: .*a path can have' dpumap --connect "$(printf '%0200d' 0)" list
wrong '--connect: tls:host is no address' dpumap list --connect tls:host

# Every command explains itself, shortly: one screen.
mapfile -t commands < <(dpumap --help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\( [a-z]\{4,\}\)\{0,1\}\) .*/\1/p')
[ "${#commands[@]}" -gt 15 ] || fail "--help tells of ${#commands[@]} commands"
for command in "${commands[@]}"; do
	# shellcheck disable=SC2086 # some are two words
	dpumap $command --help >"$work/stdout" || fail "$command --help"
	[ "$(wc -l <"$work/stdout")" -le 24 ] || fail "$command --help: more than a screen"
done
grep -q '^  pki revoke NAME ' <(dpumap pki --help) || fail "pki --help"

daemon() { timeout 20 dpumapd --listen "$socket" "$@"; }
wrong 'nothing to export' daemon
wrong 'an export needs a name' daemon --export kind=dm,size=4K
wrong 'it needs a kind' daemon --export name=a,size=4K
wrong 'it needs a size' daemon --export name=a,kind=dm
wrong 'an export has no "colour' daemon --export name=a,kind=dm,size=4K,colour=red
wrong 'an export has size=... once' daemon --export name=a,kind=dm,size=4K,size=8K
wrong '"name" is not KEY=VALUE' daemon --export name,kind=dm,size=4K
wrong 'kind is dm, dram, file or dmabuf' daemon --export name=a,kind=tape,size=4K
wrong 'size is a number' daemon --export name=a,kind=dm,size=0
wrong 'size is a number' daemon --export name=a,kind=dm,size=4Q
wrong 'main memory has no size "max"' daemon --export name=a,kind=dram,size=max
wrong 'perm is rw or ro' daemon --export name=a,kind=dm,size=4K,perm=wo
wrong 'align is a power of two, not "0"' daemon --export name=a,kind=dm,size=4K,align=0
wrong 'align is a power of two, not "96"' daemon --export name=a,kind=dm,size=4K,align=96
wrong 'align is a power of two, not "x"' daemon --export name=a,align=x,kind=dm,size=4K
wrong 'only kind dm has an align' daemon --export name=a,kind=dram,size=4K,align=4K
wrong 'pages is usual, huge or the size of huge pages, not "big"' daemon --export name=a,kind=dram,size=4K,pages=big
wrong 'only kind dram has pages' daemon --export name=a,kind=dm,size=4K,pages=huge
wrong 'only kind dram has pages' daemon --export name=a,kind=dm,size=4K,node=0
wrong 'node is a number' daemon --export name=a,kind=dram,size=4K,node=x
wrong 'huge pages cannot be had on' daemon --export name=a,kind=dram,size=4K,node=0,pages=huge
wrong '"a/b" is no name' daemon --export name=a/b,kind=dm,size=4K
wrong 'two exports called a' daemon -e name=a,kind=dm,size=4K -e name=a,kind=dram,size=4K
wrong '--allow-uid is a number' daemon -e name=a,kind=dm,size=4K --allow-uid root
wrong '--max-clients cannot be 0' daemon -e name=a,kind=dm,size=4K --max-clients 0
wrong 'no argument "x" is known' daemon -e name=a,kind=dm,size=4K x
expect_no_files
finish
