#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# scripts/coverage fails below its limits, ignores counts below 0, and fails if gcov prints any other line
# that gcovr cannot read.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

PLANTS=4

# coverage SED: run scripts/coverage, with gcov's output edited by SED
coverage()
{
	cat >"$tree/gcov" <<-END
		#!/bin/sh
		gcov "\$@" && find . -maxdepth 1 -name '*.gcov' -exec sed -i -e '$1' {} +
	END
	GCOV=$tree/gcov DPUMAP_LANE_BUILD=$tree/build bash "$tree/scripts/coverage" desc \
		>"$tree/log" 2>&1
}

refused()
{
	if coverage "$1" || ! grep -qE -- "$2" "$tree/log"; then
		bad "after \"$1\", scripts/coverage does not fail with \"$2\": $(tail -n 20 "$tree/log")"
	fi
}

accepted()
{
	coverage "$1" || bad "after \"$1\", scripts/coverage fails: $(tail -n 20 "$tree/log")"
}

# built FLAG...: build the scratch program and run it once, for its coverage counts
built()
{
	rm -rf "$tree/build/debug"
	mkdir -p "$tree/build/debug"
	(cd "$tree/build/debug" &&
		gcc --coverage "$@" -o program "$tree/src/desc/program.c" &&
		env -u GCOV_PREFIX ./program)
}

run_check()
{
	tree=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-coverage.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$tree'" EXIT
	cp -a "$TREE/scripts" "$tree/"
	mkdir -p "$tree/src/desc"
	cat >"$tree/src/desc/program.c" <<-END
		int main(int argc, char **argv)
		{
			for (int i = 0; i < 2; i++)
				argc += !argv;
		#ifdef UNREACHED
			if (argc > 1)
				return 1;
		#endif
			return argc - 1;
		}
	END
	built
	touch "$tree/gcov"
	chmod +x "$tree/gcov"
	accepted ''
	accepted '$ abranch  1 taken -1'
	accepted '$ acall    0 returned -3'
	accepted 's/^ *1:\( *1:\)/       -1:\1/'
	refused '$ abranch  1 took 1' "cannot read: .*took 1"
	refused '$ asomething else' "cannot read: .*something else"
	built -DUNREACHED
	refused '' '98 % required'
}

make_scratch()
{
	cp -a "$TREE/scripts" "$1/"
}

plant()
{
	case $2 in
	1) edit "$1/scripts/coverage" 's/ --gcov-ignore-parse-errors//' ;;
	2) edit "$1/scripts/coverage" '/-z .*unread/d' ;;
	3) edit "$1/scripts/coverage" 's/|-\[0-9\])/)/' ;;
	4) edit "$1/scripts/lib/coverage.py" 's/wrong = 1/wrong = 0/' ;;
	esac
}

main "$@"
