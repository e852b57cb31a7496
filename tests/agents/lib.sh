# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What the tests of the two programs share: an emulated card, dpumapd on it, and expectations.
set -euo pipefail

: "${DPUMAP_BIN:?where the programs are}"
PATH=$DPUMAP_BIN:$PATH

# Short, because the paths of sockets are.
work=$(mktemp -d /tmp/dpumap-agents.XXXXXX)
files=$work/files
mkdir "$files"
socket=$work/socket
log=$work/dpumapd.log
unset DPUMAP_LOG_LEVEL XDG_RUNTIME_DIR
export PYTHONDONTWRITEBYTECODE=1
export DPUMAP_EMU_DIR=$work/emu
agent=
failures=0

end_agent()
{
	[ -n "$agent" ] || return 0
	kill -KILL -- "-$agent" 2>/dev/null || true
	wait "$agent" 2>/dev/null || true
	agent=
}

clean_up()
{
	local status=$?
	end_agent
	dpumap-emu stop >/dev/null 2>&1 || true
	[ "$status" -eq 0 ] || [ ! -f "$log" ] || tail -n 200 "$log" | sed 's/^/  log: /' >&2
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# Background jobs get process groups of their own and the usual signals, as from a terminal.
set -m

fail()
{
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

finish()
{
	[ "$failures" -eq 0 ] || { echo "$failures expectations failed" >&2; exit 1; }
}

# start_emulator OPTION...
start_emulator()
{
	dpumap-emu start --dir "$DPUMAP_EMU_DIR" "$@" >/dev/null
}

# Neither hangs for ever: what should be refused may run if it is not.
on_dpu() { timeout -k 5 60 dpumap-emu run --as dpu -- "$@"; }

# dpumapd OPTION...: serves $socket until end_agent or stop_agent
start_agent()
{
	mkfifo "$work/ready"
	dpumap-emu run --as dpu -- dpumapd --listen "$socket" "$@" >"$work/ready" 2>"$log" &
	agent=$!
	if ! timeout 30 grep -q '^dpumapd: ready on ' "$work/ready"; then
		echo "dpumapd does not get ready" >&2
		exit 1
	fi
	rm -f "$work/ready"
}

# start_configured FILE [COMMAND...]: dpumapd with this configuration, run by the command; the port
# of its TCP socket becomes part of $address
start_configured()
{
	local conf=$1
	shift
	mkfifo "$work/ready"
	dpumap-emu run --as dpu -- "$@" dpumapd --config "$conf" >"$work/ready" 2>"$log" &
	agent=$!
	if ! timeout 30 sed -n '/^dpumapd: ready on /{s///;p;q}' "$work/ready" >"$work/address" ||
			[ ! -s "$work/address" ]; then
		echo "dpumapd does not get ready" >&2
		exit 1
	fi
	# shellcheck disable=SC2034
	address=$(cat "$work/address")
	rm -f "$work/ready"
}

# The process of dpumapd, which has the emulator's name where that runs it for another processor.
daemon_pid() { pgrep -g "$agent" -x 'dpumapd|qemu-.*'; }

# Memory of its own, in KiB, and descriptors
size_of() { awk '$1 == "RssAnon:" { print $2 }' "/proc/$1/status"; }
descriptors_of() { find "/proc/$1/fd" -mindepth 1 | wc -l; }

# A sanitizer keeps what was freed, an emulator of the processor what it translated.
grows_by_nature()
{
	[[ $(cat "/proc/$1/comm") == qemu-* ]] || grep -q __asan_init "$(command -v dpumapd)"
}

# expect_no_growth PID COMMAND...: what brought dpumapd to its size and is done again does not need
# more than 512 KiB more. On a busy machine the first time may not have been its busiest moment; what
# leaks, leaks each time.
expect_no_growth()
{
	local pid=$1 before now
	shift
	if grows_by_nature "$pid"; then
		"$@"
		echo '[  SKIPPED ] growth'
		return
	fi
	for _ in 1 2 3; do
		before=$(size_of "$pid")
		"$@"
		now=$(size_of "$pid")
		echo "dpumapd: $before KiB of its own, then $now"
		[ "$now" -gt $((before + 512)) ] || return 0
	done
	fail "dpumapd grows each time"
}

# Asks dpumapd to stop, and expects it to end well.
stop_agent()
{
	local status=0
	kill -TERM -- "-$agent"
	wait "$agent" || status=$?
	agent=
	[ "$status" -eq 0 ] || fail "dpumapd ended with $status after SIGTERM"
	[ ! -e "$socket" ] || fail "dpumapd left its socket"
}

# host ARGUMENT...: the tool on the host's function; never hangs
host()
{
	timeout -k 5 120 dpumap-emu run --as host -- dpumap --connect "$socket" "$@"
}

# expect STATUS PATTERN COMMAND...: the exit status, and one line on stderr that matches
expect()
{
	local wanted=$1 pattern=$2 status=0 lines
	shift 2
	"$@" >"$work/stdout" 2>"$work/stderr" || status=$?
	[ "$status" -eq "$wanted" ] || fail "$*: status $status instead of $wanted: $(cat "$work/stderr")"
	lines=$(wc -l <"$work/stderr")
	[ "$lines" -eq 1 ] || fail "$*: $lines lines instead of one: $(cat "$work/stderr")"
	grep -qE -- "$pattern" "$work/stderr" ||
		fail "$*: no \"$pattern\" in: $(cat "$work/stderr")"
}

# Nothing is in $files, hidden ones included.
expect_no_files()
{
	local found
	found=$(find "$files" -mindepth 1 -printf '%P ')
	[ -z "$found" ] || fail "files were left behind: $found"
}

# The live objects of the emulated device. The first copies may be what a client still tears down.
objects()
{
	dpumap-emu status | grep -vE '^(profile|nodes|cards|functions|clients|commands|command_errors|copies|bytes|errors) '
}

# expect_objects WHEN WANTED: within a few seconds, as the server notices the death of a client late
expect_objects()
{
	local found=
	for _ in $(seq 50); do
		found=$(objects)
		[ "$found" != "$2" ] || return 0
		sleep 0.1
	done
	fail "$1: objects [${found//$'\n'/, }] instead of [${2//$'\n'/, }]"
}

# await COMMAND...: until it succeeds, for 30 s
await()
{
	for _ in $(seq 300); do
		"$@" && return 0
		sleep 0.1
	done
	fail "in vain: $*"
}
