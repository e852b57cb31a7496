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
wrong 'cp wants FILE NAME OUTFILE' dpumap cp a b
wrong 'too many arguments for cp' dpumap cp a b c d
wrong 'list wants no arguments' dpumap list a
wrong 'info wants NAME' dpumap info a b
wrong 'info wants no arguments' dpumap info --descriptor x y
wrong 'put takes no --length' dpumap put a b --length 1
wrong 'list takes no --offset' dpumap list --offset 1
wrong '--offset is a number of bytes, not "-1"' dpumap get a b --offset=-1
wrong '--length is a number of bytes, not "1X"' dpumap get a b --length 1X
wrong '--timeout is 1 to 3600 seconds' dpumap list --timeout 0
wrong 'desc wants show or check, and FILE' dpumap desc show
wrong 'desc wants show or check, and FILE, not "print"' dpumap desc print x
wrong 'too many arguments for desc' dpumap desc show a b c
wrong 'list takes no --json' dpumap list --json
wrong 'info takes no --show-secret' dpumap info a --show-secret
wrong 'the path of a socket is shorter' dpumap --connect "$(printf '%0200d' 0)" list

daemon() { timeout 20 dpumapd --listen "$socket" "$@"; }
wrong 'nothing to export' daemon
wrong 'an export needs name=' daemon --export kind=dm,size=4K
wrong 'an export needs kind=' daemon --export name=a,size=4K
wrong 'an export needs size=' daemon --export name=a,kind=dm
wrong 'an export has no "colour' daemon --export name=a,kind=dm,size=4K,colour=red
wrong 'an export has size=... once' daemon --export name=a,kind=dm,size=4K,size=8K
wrong 'an export has name=... once' daemon --export name,kind=dm,size=4K
wrong 'kind is dm or dram' daemon --export name=a,kind=tape,size=4K
wrong 'size is a number' daemon --export name=a,kind=dm,size=0
wrong 'size is a number' daemon --export name=a,kind=dm,size=4Q
wrong 'main memory has no size "max"' daemon --export name=a,kind=dram,size=max
wrong 'perm is rw or ro' daemon --export name=a,kind=dm,size=4K,perm=wo
wrong 'align is a power of two, not "0"' daemon --export name=a,kind=dm,size=4K,align=0
wrong 'align is a power of two, not "96"' daemon --export name=a,kind=dm,size=4K,align=96
wrong 'align is a power of two, not "x"' daemon --export name=a,align=x,kind=dm,size=4K
wrong 'only kind dm has an align' daemon --export name=a,kind=dram,size=4K,align=4K
wrong 'pages is usual or huge, not "big"' daemon --export name=a,kind=dram,size=4K,pages=big
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
