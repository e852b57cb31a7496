# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# This file is sourced, never run.

# instructions LOG FUNCTIONS NUMBER COMMAND...: print the instructions that the command executes in FUNCTIONS and
# in what they call, divided by NUMBER. Where COMMAND contains the word "valgrind", valgrind runs the measured
# program. LOG gets the output of the command. FUNCTIONS is a pattern of callgrind.
instructions()
{
	local log=$1 functions=$2 number=$3 word command=() counts=$1.callgrind
	shift 3
	for word in "$@"; do
		command+=("$word")
		[ "$word" != valgrind ] || command+=(-q --tool=callgrind --collect-atstart=no
			"--toggle-collect=$functions" "--callgrind-out-file=$counts")
	done
	"${command[@]}" >"$log" 2>&1 || cat "$log" >&2
	awk -v n="$number" '$1 == "totals:" { printf "%.0f", $2 / n }' "$counts"
	rm "$counts"
}
