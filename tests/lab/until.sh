# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
# A file to source: waiting in a virtual machine.

# until_true COMMAND...: repeat the command until it succeeds, at most 5,000 times. Tries are counted and not seconds,
# because they take longer on a busy machine, as what is waited for does.
until_true()
{
	local tries=0
	until "$@" >/dev/null 2>&1; do
		if [ $((tries += 1)) -ge 5000 ]; then
			echo "not true after $tries tries: $*" >&2
			"$@"
			return
		fi
		sleep 0.2
	done
}
