# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Make a Debian in a directory, without privileges if users may create namespaces. This file is sourced, never
# run; the script that sources it has a function skip REASON, which ends it with status 77.

# set_root_mode LOG: set MODE to the mode of mmdebstrap. Its other modes work without namespaces, in which
# the tests would use the network of this machine.
set_root_mode()
{
	command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
	if [ "$(id -u)" -eq 0 ]; then
		MODE=root
		unshare --mount --net true 2>"$1" || skip "namespaces cannot be created: $(cat "$1")"
	else
		# shellcheck disable=SC2034 # for the script that sources this file
		MODE=unshare
		unshare --user --map-auto --map-root-user --mount --net true 2>"$1" ||
			skip "this user cannot create namespaces: $(cat "$1")"
	fi
}

# Print a line of sources.list for each Debian suite that this machine uses.
debian_sources()
{
	# shellcheck disable=SC2016 # words of apt
	apt-get indextargets --format '$(ORIGIN) $(ARCHITECTURE) $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' | sed -n "s/^Debian $(dpkg --print-architecture) /deb /p" | grep ' main$'
}

# check_archive SOURCES TMP: the archive of the first line of SOURCES answers
check_archive()
{
	local uri suite rest
	read -r _ uri suite rest <"$1"
	[ -n "${rest:-}" ] || skip "apt has no package lists of Debian; run apt-get update"
	timeout 60 /usr/lib/apt/apt-helper download-file "${uri%/}/dists/$suite/InRelease" "$2/InRelease" \
		>"$2/log" 2>&1 || skip "the archive of Debian cannot be reached: $(tail -n 1 "$2/log")"
}
