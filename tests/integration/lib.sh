# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What scripts with emulators share: a directory for them, and ports for programs that find each other by
# TCP. dash reads this file too (run.sh).

# A large emulator has 4 MiB in 3,100 files.
ROOM_KIB=16384
ROOM_FILES=8192

# room DIRECTORY: end with status 77 (skipped) if an emulator does not fit
room()
{
	# shellcheck disable=SC2046 # three numbers
	set -- "$1" $(stat -f -c '%a %S %d' "$1")
	if [ $(($2 * ($3 / 512) / 2)) -lt "$ROOM_KIB" ]; then
		echo "skipped: $1 has less than $ROOM_KIB KiB free; an emulator needs them" >&2
		exit 77
	fi
	# Some file systems, such as btrfs, do not count files.
	if [ "$4" -gt 0 ] && [ "$4" -lt "$ROOM_FILES" ]; then
		echo "skipped: $1 has room for less than $ROOM_FILES files; an emulator needs them" >&2
		exit 77
	fi
}

# emulator_place: set `place`, where paths are short enough for sockets. An emulator creates hundreds of files
# and removes them soon, which costs ext4 many times as much as a file system in memory: ext4 searches for
# inodes that were not freed lately.
emulator_place()
{
	place=${TMPDIR:-/dev/shm}
	[ -w "$place" ] || place=/tmp
	room "$place"
}

# emulator_directory NAME: make and print a new directory there
emulator_directory()
{
	emulator_place
	mktemp -d "$place/dpumap-$1.XXXXXX"
}

# listens PORT: whether a program does
listens()
{
	grep -qsE "^ *[0-9]+: [0-9A-F]+:$(printf '%04X' "$1") [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6
}

# Print a port without a listener. The kernel gives none of these to others, and no other test has the number
# of this process meanwhile. Call it in $(...), which is a process of its own.
free_port()
{
	local port=$((20000 + BASHPID % 12000))
	while listens "$port"; do
		port=$((port + 1))
	done
	echo "$port"
}

# await_listener PORT PID: until the program listens; fails if it ends before
await_listener()
{
	for _ in $(seq 1200); do
		! listens "$1" || return 0
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}
