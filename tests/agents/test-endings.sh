#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Either side ends in the middle of a copy: the other one neither hangs nor keeps anything.
# shellcheck source=tests/agents/lib.sh
. "$(dirname "$0")/lib.sh"

start_emulator --cards 1
idle=$(objects)
# Long enough through windows of 64 KiB to end something in its middle; takes no room on the disk.
truncate -s 8G "$work/in"

begin_copy()
{
	timeout -k 5 100 dpumap-emu run --as host -- dpumap --connect "$socket" --timeout 3 \
		cp "$work/in" fast "$files/out" >"$work/stdout" 2>"$work/stderr" &
	copy=$!
	await is_under_way
}

no_temporary_file()
{
	! find "$files" -name ".dpumap-*" | grep -q .
}

is_under_way()
{
	find "$files" -name '.dpumap-*' -size +0 | grep -q .
}

# end_copy STATUS PATTERN: what becomes of the copy by itself
end_copy()
{
	local status=0
	wait "$copy" || status=$?
	[ "$status" -eq "$1" ] || fail "the copy ended with $status instead of $1"
	[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "not one line: $(cat "$work/stderr")"
	grep -qE -- "$2" "$work/stderr" || fail "no \"$2\" in: $(cat "$work/stderr")"
	expect_no_files
}

for signal in KILL TERM; do
	start_agent --export name=fast,kind=dm,size=64K
	serving=$(objects)
	begin_copy
	if [ "$signal" = KILL ]; then
		end_agent
	else
		stop_agent
	fi
	end_copy 1 'copying between this host and fast failed|closed the connection'
	expect_objects "after dpumapd was ended by $signal" "$idle"
	# The socket of one that was killed is no obstacle to the next.
done

start_agent --export name=fast,kind=dm,size=64K
serving=$(objects)
for signal in INT TERM HUP; do
	begin_copy
	kill -"$signal" -- "-$copy"
	status=0
	wait "$copy" || status=$?
	[ "$status" -gt 128 ] || [ "$status" -eq 124 ] ||
		fail "SIG$signal: the copy ended with $status: $(cat "$work/stderr")"
	await no_temporary_file
	expect_no_files
	expect_objects "after SIG$signal" "$serving"
done

# A tool that is killed cannot tidy its directory, but the card and dpumapd forget it.
begin_copy
kill -KILL -- "-$copy"
wait "$copy" || true
rm -f "$files"/.dpumap-*
expect_objects "after SIGKILL" "$serving"
head -c 100000 /dev/urandom >"$work/small"
host cp "$work/small" fast "$files/out" >/dev/null || fail "cp after all that"
cmp "$work/small" "$files/out" || fail "cp after all that: other bytes"
rm "$files/out"
stop_agent
expect_objects "after dpumapd" "$idle"
finish
