#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Each public header compiles on its own as C11 and as C++17, included twice in one unit, without compiler
# extensions and without macros that ask the C library for more. Programs for DOCA rely on what a DOCA
# header includes: each of them compiles a program that uses nothing but that header. Functions that end an
# object return a result.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

compile()
{
	local header=$1
	shift
	printf '#include <%s>\n#include <%s>\nextern int dpumap_unit;\n' "$header" "$header" |
		"$@" -Wall -Wextra -Wundef -pedantic -Werror -I "$TREE/include" \
			-I "$TREE/emu/include" -fsyntax-only -
}

# A program that is valid C and C++ and includes nothing else.
program()
{
	printf '#include <%s>\n' "$1"
	cat <<-'END'
		int main(void)
		{
			const uint64_t value = UINT64_MAX;
			char *bytes = (char *)malloc(sizeof(value));

			assert(bytes && DOCA_VERSION_MAJOR >= 3);
			memcpy(bytes, &value, sizeof(value));
			free(bytes);
			return EXIT_SUCCESS;
		}
	END
}

build_program()
{
	local header=$1
	shift
	program "$header" | "$@" -Wall -Wextra -Werror \
		-D DOCA_ALLOW_EXPERIMENTAL_API -I "$TREE/include" -fsyntax-only -
}

check_program()
{
	local standard
	build_program "$1" gcc -std=gnu17 -Werror=implicit-function-declaration -x c || bad "$1 lacks what C programs rely on"
	for standard in c++11 c++20; do
		build_program "$1" g++ -std=$standard -x c++ || bad "$1 lacks what $standard programs rely on"
	done
}

# doca_rdma.h includes librdmacm's header if that is installed.
check_rdma_cm()
{
	local dir
	dir=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-headers.XXXXXX")
	mkdir "$dir/rdma"
	printf 'struct rdma_cm_id { int planted; };\n' >"$dir/rdma/rdma_cma.h"
	printf '#include <doca_rdma.h>\nint main(void) { struct rdma_cm_id id = {0}; return id.planted; }\n' |
		gcc -Werror -I "$dir" -I "$TREE/include" -fsyntax-only -x c - ||
		bad "doca_rdma.h does not include <rdma/rdma_cma.h>"
	rm -r "$dir"
	printf '#include <doca_rdma.h>\nint f(struct rdma_cm_id *id);\nint f(struct rdma_cm_id *id) { return !id; }\n' |
		gcc -Werror -I "$TREE/include" -fsyntax-only -x c - ||
		bad "doca_rdma.h does not declare struct rdma_cm_id"
}

# C++ programs initialize user data by the name of its first member.
check_user_data()
{
	local standard
	for standard in c++11 c++20; do
		printf '#include <doca_types.h>\nint main() { return doca_data{.ptr = nullptr}.ptr != nullptr; }\n' |
			g++ -std=$standard -Wall -Wextra -Werror -I "$TREE/include" -fsyntax-only -x c++ - ||
			bad "union doca_data is not an aggregate in $standard"
	done
}

run_check()
{
	local file header seen=0
	for file in $(cd "$TREE" && find include emu/include -name '*.h' | LC_ALL=C sort); do
		header=${file#*include/}
		seen=$((seen + 1))
		compile "$header" gcc -std=c11 -x c || bad "$file: does not compile on its own as C11"
		compile "$header" g++ -std=c++17 -x c++ || bad "$file: does not compile on its own as C++17"
	done
	for file in "$TREE"/include/doca_*.h; do
		check_program "${file##*/}"
	done
	check_rdma_cm
	check_user_data
	[ "$seen" -gt 0 ] || bad "no public header found"
	# The end of an object can fail, or the object is not one: each such function says so.
	while read -r file; do
		bad "$file: a function that ends an object returns doca_error_t"
	done < <(cd "$TREE" && grep -nE 'void dpumap_[a-z_]*_(destroy|free|close)\(' -r include/dpumap)
}

PLANTS=7
plant()
{
	case $2 in
	1) printf 'size_t dpumap_x(void);\n' >"$1/include/dpumap/planted.h" ;;
	2) printf 'struct dpumap_x;\nint dpumap_x(struct dpumap_x *class);\n' >"$1/include/dpumap/planted.h" ;;
	3) printf 'struct dpumap_x;\nvoid dpumap_x_destroy(struct dpumap_x *x);\n' >"$1/include/dpumap/planted.h" ;;
	4) edit "$1/include/doca_compat.h" '/<stdlib.h>/d' ;;
	5) edit "$1/include/doca_rdma.h" '/__has_include(/,+2d' ;;
	6) edit "$1/include/doca_common_defines.h" '/doca_compat/d' ;;
	7) edit "$1/include/doca_types.h" 's/^union doca_data {/&\n#ifdef __cplusplus\n\tdoca_data();\n#endif/' ;;
	esac
}

main "$@"
