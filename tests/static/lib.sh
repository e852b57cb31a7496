# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Frame of the static checks. A check defines
#   run_check           checks the tree $TREE (with the build folder $BUILD), complains by `bad`
#   plant DIR           puts a violation into the copy of the tree in DIR; may be called as
#                       `plant DIR N` with N counting up to PLANTS, each a violation of its own
# and ends with `main "$@"`. `--self-test` demands that the untouched copy passes and that each
# planted violation is found.

set -euo pipefail

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$TREE/build
PLANTS=1
WRONG=0
# Folders that hold files of ours.
SOURCE_DIRS=(include src dpu host tests examples man completion scripts cmake packaging docs .ci .github)

usage()
{
	echo "usage: ${0##*/} [--tree DIR] [--build DIR] [--self-test]"
}

bad()
{
	WRONG=$((WRONG + 1))
	printf '%s\n' "$*" >&2
}

# files PATTERN...: the files of the tree with such names, relative to it
files()
{
	local pattern names=()
	for pattern in "$@"; do
		names+=(-o -name "$pattern")
	done
	(cd "$TREE" && find "${SOURCE_DIRS[@]}" -type f \( "${names[@]:1}" \) 2>/dev/null | LC_ALL=C sort)
}

# The C code of a file without its comments.
code()
{
	gcc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null
}

# edit FILE SED: a change that must change something, for `plant`
edit()
{
	sed -i.before "$2" "$1"
	! cmp -s "$1" "$1.before" || { echo "nothing to plant in $1" >&2; exit 1; }
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

# A scratch tree for the self-test; checks that need minutes for the whole tree replace this by a
# small tree of their own.
make_scratch()
{
	copy_tree "$1"
}

passes()
{
	bash "$0" --tree "$1" --build "$BUILD" >"$1.log" 2>&1
}

self_test()
{
	local scratch n failed=0
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-plant.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$scratch'" EXIT
	mkdir "$scratch/0"
	make_scratch "$scratch/0"
	if ! passes "$scratch/0"; then
		echo "the untouched copy does not pass:" >&2
		cat "$scratch/0.log" >&2
		exit 1
	fi
	for ((n = 1; n <= PLANTS; n++)); do
		mkdir "$scratch/$n"
		cp -a "$scratch/0/." "$scratch/$n"
		plant "$scratch/$n" "$n"
		if passes "$scratch/$n"; then
			echo "planted violation $n of ${0##*/} is not found" >&2
			failed=1
		else
			tail -n 1 "$scratch/$n.log"
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
	[ "$WRONG" -eq 0 ] || { echo "${0##*/}: $WRONG wrong" >&2; exit 1; }
}
