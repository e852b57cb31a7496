#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# usage: within.sh SECONDS COMMAND...: runs the command, in place of this shell. If it takes longer,
# says what its processes and our daemons do and how the machine is, and kills it with its children.
set -euo pipefail

seconds=$1
shift

# tree PID: itself, its children, theirs, ...
tree()
{
	local child
	echo "$1"
	for child in $(pgrep -P "$1"); do
		tree "$child"
	done
}

report()
{
	printf '   %s has not ended after %d s: here is what runs, then it is killed\n' "$2" "$seconds"
	ps --forest -o pid,ppid,stat,wchan:24,etimes,rss,args -p "$(tree "$1" | tr '\n' ,)$$" \
		-C dpumap-emu -C dpumapd | cut -c1-200
	free -m
	df -h / "${TMPDIR:-/tmp}"
}

watch()
{
	local victim
	timeout "$seconds" tail --pid="$1" -s 0.2 -f /dev/null && return
	report "$1" "${2##*/}"
	for victim in $(tree "$1"); do
		[ "$victim" -eq "$BASHPID" ] || kill -KILL "$victim" 2>/dev/null || true
	done
}

watch $$ "$*" &
exec "$@"
