#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# scripts/coverage: what the tests must reach is demanded, counts below 0 are left out, and whatever
# else gcov says that gcovr does not know is a failure.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

PLANTS=4

# coverage SED: scripts/coverage with what gcov says edited
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
		bad "\"$1\" is not refused with \"$2\": $(tail -n 20 "$tree/log")"
	fi
}

accepted()
{
	coverage "$1" || bad "\"$1\" is refused: $(tail -n 20 "$tree/log")"
}

# built FLAG...: the scratch program's counts of one run
built()
{
	rm -rf "$tree/build/coverage"
	mkdir -p "$tree/build/coverage"
	(cd "$tree/build/coverage" &&
		gcc --coverage "$@" -o program "$tree/src/desc/program.c" && ./program)
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
	refused '$ abranch  1 took 1' "can't read .*took 1"
	refused '$ asomething else' "can't read .*something else"
	built -DUNREACHED
	refused '' '98 % wanted'
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
