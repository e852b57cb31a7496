# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Common part of the static checks. A check defines these functions and ends with `main "$@"`:
#   run_check     check the tree $TREE (with the build folder $BUILD), and report each violation with `bad`
#   plant DIR N   put the violation number N, from 1 to $PLANTS, into the copy of the tree in DIR
# `--self-test` fails unless the unchanged copy passes and every planted violation is found.

set -euo pipefail

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$TREE/build
PLANTS=1
WRONG=0
# The folders with files of the project.
SOURCE_DIRS=(include src emu dpu host tests examples man completion scripts cmake packaging docs .ci .github)

usage()
{
	echo "usage: ${0##*/} [--tree DIR] [--build DIR] [--self-test]"
}

bad()
{
	WRONG=$((WRONG + 1))
	printf '%s\n' "$*" >&2
}

# files PATTERN...: print the files of the tree whose names match a pattern, relative to the tree
files()
{
	local pattern names=()
	for pattern in "$@"; do
		names+=(-o -name "$pattern")
	done
	(cd "$TREE" && find "${SOURCE_DIRS[@]}" -type f \( "${names[@]:1}" \) 2>/dev/null | LC_ALL=C sort)
}

# Print the C code of a file without its comments.
code()
{
	gcc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null
}

# edit FILE SED: edit a file for `plant`, and fail if that changes nothing
edit()
{
	sed -i.before "$2" "$1"
	! cmp -s "$1" "$1.before" || { echo "plant: \"$2\" does not change $1" >&2; exit 1; }
	rm "$1.before"
}

copy_tree()
{
	local entry
	for entry in "${SOURCE_DIRS[@]}"; do
		[ ! -e "$TREE/$entry" ] || cp -a "$TREE/$entry" "$1/"
	done
	find "$TREE" -maxdepth 1 -type f -exec cp -a {} "$1/" \;
	[ ! -d "$TREE/LICENSES" ] || cp -a "$TREE/LICENSES" "$1/"
}

# Create the tree for the self-test. A check that needs minutes for the whole tree creates a smaller one.
make_scratch()
{
	copy_tree "$1"
}

passes()
{
	bash "$0" --tree "$1" --build "$BUILD" >"$1.log" 2>&1
}

# try_plant SCRATCH N: plant violation N, and create SCRATCH/N.found if the check finds it
try_plant()
{
	mkdir "$1/$2"
	cp -a "$1/0/." "$1/$2"
	plant "$1/$2" "$2"
	passes "$1/$2" || touch "$1/$2.found"
	rm -rf "${1:?}/$2"
}

# The checks wait more than they compute, so several run at once.
PLANTS_AT_ONCE=4
self_test()
{
	local scratch n failed=0
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-plant.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$scratch'" EXIT
	mkdir "$scratch/0"
	make_scratch "$scratch/0"
	if ! passes "$scratch/0"; then
		echo "the unchanged copy does not pass:" >&2
		cat "$scratch/0.log" >&2
		exit 1
	fi
	for ((n = 1; n <= PLANTS; n++)); do
		while [ "$(jobs -rp | wc -l)" -ge "$PLANTS_AT_ONCE" ]; do
			wait -n || true
		done
		try_plant "$scratch" "$n" &
	done
	wait
	for ((n = 1; n <= PLANTS; n++)); do
		if [ -e "$scratch/$n.found" ]; then
			tail -n 1 "$scratch/$n.log"
		else
			echo "planted violation $n of ${0##*/} is not found" >&2
			failed=1
		fi
	done
	return "$failed"
}

main()
{
	local self=no
	while [ $# -gt 0 ]; do
		case $1 in
		--tree) TREE=$2; shift ;;
		--build) BUILD=$2; shift ;;
		--self-test) self=yes ;;
		-h | --help) usage; exit 0 ;;
		*) usage >&2; exit 2 ;;
		esac
		shift
	done
	if [ "$self" = yes ]; then
		self_test
		return
	fi
	run_check
	[ "$WRONG" -eq 0 ] || { echo "${0##*/}: $WRONG violations" >&2; exit 1; }
}
