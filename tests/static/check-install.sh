#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The installation is complete. A program in C and one in C++ are built against it with pkg-config alone,
# and run.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

install_to()
{
	cmake --install "$BUILD" --prefix "$1" >"$1.log" 2>&1 || { cat "$1.log" >&2; return 1; }
}

build_consumer()
{
	local prefix=$1 flags
	shift
	flags=$(find "$prefix" -name dpumap.pc -exec dirname {} \;)
	# dpumap.pc contains the configured prefix, but this installation is in another directory.
	flags=$(PKG_CONFIG_PATH=$flags pkg-config --define-variable=includedir="$prefix/include" \
		--define-variable=libdir="$(dirname "$flags")" --cflags --libs dpumap) || return 1
	# shellcheck disable=SC2086
	"$@" -Wall -Wextra -Werror -o "$prefix/consumer" "$prefix/consumer.c" $flags
}

check_consumer()
{
	local prefix=$1 lib
	cat >"$prefix/consumer.c" <<-'END'
	#include <stdio.h>
	#include <doca_error.h>
	#include <doca_mmap.h>
	#include <dpumap/dm.h>
	#include <dpumap/dma.h>

	int main(void)
	{
		struct doca_mmap *mmap;

		if (doca_mmap_create(&mmap) != DOCA_SUCCESS)
			return 1;
		puts(doca_error_get_name(doca_mmap_destroy(mmap)));
		return 0;
	}
	END
	lib=$(dirname "$(find "$prefix" -name libdpumap.so -not -path '*/dpumap-doca/*')")
	build_consumer "$prefix" gcc -std=c11 || { bad "a program in C cannot be built against the installation"; return; }
	[ "$(LD_LIBRARY_PATH=$lib "$prefix/consumer")" = DOCA_SUCCESS ] || bad "the program in C does not run"
	build_consumer "$prefix" g++ -std=c++17 -x c++ || bad "a program in C++ cannot be built against the installation"
}

run_check()
{
	local prefix=$TREE/installed file
	if [ ! -d "$prefix" ]; then
		prefix=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-install.XXXXXX")
		# shellcheck disable=SC2064
		trap "rm -rf '$prefix' '$prefix.log'" EXIT
		install_to "$prefix" || { bad "the build in $BUILD cannot be installed"; return; }
	fi
	for file in dpumap dpumapd dpumap-emu dpumap-emu.1 dpumap-emu.h libdpumap-emu.so libdpumap.so libdpumap_desc.a dpumap.pc doca-common.pc doca-dma.pc doca-argp.pc doca-rdma.pc libdoca_common.so libdoca_dma.so doca_mmap.h doca_rdma_bridge.h desc.h arena.h parent_domain.h dm.h dma.h; do
		[ -n "$(find "$prefix" -name "$file")" ] || bad "$file is not installed"
	done
	for file in libdpumap-channel.so dpumap-channel.pc channel.h dpumap.1 dpumapd.8 dpumapd.conf.5 \
		dpumapd.service dpumapd.socket dpumap.conf dpumapd.conf; do
		[ -n "$(find "$prefix" -name "$file")" ] || bad "$file is not installed"
	done
	[ "$WRONG" -gt 0 ] || check_consumer "$prefix"
}

make_scratch()
{
	mkdir "$1/installed"
	install_to "$1/installed"
}

PLANTS=3
plant()
{
	case $2 in
	1) find "$1/installed" -name dma.h -delete ;;
	2) find "$1/installed" -name dpumap.pc -exec sed -i 's/-ldpumap/-lnothing/' {} \; ;;
	3) rm "$1/installed"/*bin/dpumapd ;;
	esac
}

main "$@"
