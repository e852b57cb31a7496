#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# usage: within.sh SECONDS COMMAND...
# Run the command in place of this shell. If the time is up, print its processes, the running dpumapd and
# dpumap-emu processes, and the free memory and disk space; then kill the command and its children.
set -euo pipefail

seconds=$1
shift

# tree PID: print the process and all its descendants.
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
	printf '   %s did not end within %d s; its processes, before they are killed:\n' "$2" "$seconds"
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
