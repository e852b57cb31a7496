#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The installation is complete and can be moved: the check installs to one directory and moves it to
# another. There the programs start without ldconfig, the unit names the daemon, and programs in C and C++
# and all installed examples are built with pkg-config alone, also with the static libraries. A CMake project finds
# the libraries there, or adds this tree, under the same names. Python imports the package. Uninstalling leaves
# nothing.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

install_to()
{
	mkdir -p "$1"
	cmake --install "$BUILD" --prefix "$1/first" >"$1/log" 2>&1 || { cat "$1/log" >&2; return 1; }
	mv "$1/first" "$1/moved"
}

check_consumer()
{
	local prefix=$1
	cat >"$work/consumer.c" <<-'END'
	#include <stdio.h>
	#include <doca_argp.h>
	#include <doca_error.h>
	#include <doca_mmap.h>
	#include <dpumap/dm.h>
	#include <dpumap/dma.h>

	int main(void)
	{
		struct doca_mmap *mmap;

		if (doca_argp_init("consumer", NULL) != DOCA_SUCCESS || doca_argp_destroy() != DOCA_SUCCESS)
			return 1;
		if (doca_mmap_create(&mmap) != DOCA_SUCCESS)
			return 1;
		puts(doca_error_get_name(doca_mmap_destroy(mmap)));
		return 0;
	}
	END
	build gcc -std=c11 || { bad "a program in C cannot be built against the installation"; return; }
	[ "$(LD_LIBRARY_PATH=$libdir "$work/consumer")" = DOCA_SUCCESS ] || bad "the program in C does not run"
	build g++ -std=c++17 -x c++ || bad "a program in C++ cannot be built against the installation"
}

write_project() # DIR LINE LIBRARY...
{
	local dir=$1 line=$2
	shift 2
	mkdir -p "$dir"
	cp "$work/${SOURCE:=consumer.c}" "$dir/"
	cat >"$dir/CMakeLists.txt" <<-END
	cmake_minimum_required(VERSION 3.22)
	project(consumer VERSION 7.8 LANGUAGES C)
	$line
	add_executable(consumer $SOURCE)
	target_compile_definitions(consumer PRIVATE DOCA_ALLOW_EXPERIMENTAL_API)
	target_link_libraries(consumer PRIVATE $*)
	END
}

# A program that needs all libraries.
write_all()
{
	cat >"$work/all.c" <<-'END'
	#include <stdio.h>
	#include <doca_error.h>
	#include <dpumap/channel.h>
	#include <dpumap/fleet.h>

	int main(void)
	{
		struct dpumap_channel *channel;
		struct dpumap_fleet *fleet;
		doca_error_t result = dpumap_channel_create(&channel);

		if (result == DOCA_SUCCESS)
			result = dpumap_channel_destroy(channel);
		if (result == DOCA_SUCCESS)
			result = dpumap_fleet_create("lab", &fleet);
		if (result == DOCA_SUCCESS)
			result = dpumap_fleet_destroy(fleet);
		puts(doca_error_get_name(result));
		return 0;
	}
	END
}

runs_alone() # PROGRAM NAME: it prints DOCA_SUCCESS and uses no shared library of dpumap
{
	[ "$("$1")" = DOCA_SUCCESS ] || bad "$2 does not run"
	! grep -q 'NEEDED.*dpumap' <<<"$(readelf -d "$1")" || bad "$2 uses shared libraries of dpumap"
}

# The static libraries: all of them with CMake and with pkg-config, and in a program that is static as a whole.
check_static()
{
	local said
	write_all
	SOURCE=all.c write_project "$work/static" "set(dpumap_USE_STATIC_LIBS ON)
		find_package(dpumap 0.1 REQUIRED COMPONENTS channel fleet)" \
		dpumap::dpumap dpumap::channel dpumap::fleet dpumap::desc
	if cmake -S "$work/static" -B "$work/static/build" -DCMAKE_PREFIX_PATH="$1" >"$work/said" 2>&1 &&
		cmake --build "$work/static/build" >>"$work/said" 2>&1; then
		runs_alone "$work/static/build/consumer" "the static program of a CMake project"
	else
		bad "a CMake project cannot use the static libraries: $(tail -n 5 "$work/said")"
	fi
	# shellcheck disable=SC2046
	if said=$(gcc -o "$work/all" "$work/all.c" -DDOCA_ALLOW_EXPERIMENTAL_API $(pkg-config --static --cflags --libs \
		dpumap-fleet | sed 's/-ldpumap[a-z_-]*/-Wl,-Bstatic & -Wl,-Bdynamic/g') 2>&1); then
		runs_alone "$work/all" "the static program of pkg-config"
	else
		bad "pkg-config --static does not find what the static libraries need: $said"
	fi
	# The linker warns of functions that need the shared libc.
	# shellcheck disable=SC2046
	if said=$(gcc -static -DDOCA_ALLOW_EXPERIMENTAL_API -o "$work/alone" "$work/consumer.c" $(pkg-config --static --cflags --libs dpumap) 2>&1); then
		runs_alone "$work/alone" "a program that is static as a whole"
	else
		bad "a program cannot be static as a whole: $said"
	fi
}

# Of all that is below DESTDIR, only the file of another project is left, and its directory.
check_uninstall()
{
	local root=$work/root other=/opt/d/include/dpumap/of-another.h
	DESTDIR=$root cmake --install "$BUILD" --prefix /opt/d >"$work/said" 2>&1 || bad "the build cannot be installed"
	# The manifest in the build directory is that of the last installation, which may be one of another check.
	mkdir "$work/manifest" "$(dirname "$(find "$root" -name libdpumap.a)")/dpumap-doca/__pycache__"
	(cd "$root" && find . -not -type d -printf '%P\n') | sed 's|^|/|' >"$work/manifest/install_manifest.txt"
	touch "$root$other"
	DESTDIR=$root cmake -DBUILD="$work/manifest" -P "$TREE/cmake/uninstall.cmake" >"$work/said" 2>&1 ||
		bad "uninstalling fails: $(tail -n 3 "$work/said")"
	[ "$(cd "$root" && find . \( -not -type d -o -name '*dpumap*' \) -printf '/%P ')" = "${other%/*} $other " ] ||
		bad "uninstalling leaves $(cd "$root" && find . \( -not -type d -o -name '*dpumap*' \))"
	! cmake -DBUILD="$work/manifest" -P "$TREE/cmake/uninstall.cmake" >"$work/said" 2>&1 ||
		bad "uninstalling a second time succeeds"
	grep -q '^uninstall:' <<<"$(cmake --build "$BUILD" --target help)" || bad "the build has no target uninstall"
}

# What a project that adds this tree must not notice: variables, directory properties, targets, tests, flags,
# installed files. Its own target may be called uninstall.
check_added() # HOW LINE STATIC TARGET
{
	local dir=$work/added-$1 found
	write_project "$dir" "get_cmake_property(before VARIABLES)
		$2
		get_cmake_property(noticed VARIABLES)
		list(REMOVE_ITEM noticed \${before})
		foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_OPTIONS LINK_LIBRARIES INCLUDE_DIRECTORIES TESTS)
			get_property(value DIRECTORY PROPERTY \${property})
			if(value)
				list(APPEND noticed \"\${property}=\${value}\")
			endif()
		endforeach()
		list(JOIN noticed \"\\n\" noticed)
		file(WRITE \${CMAKE_BINARY_DIR}/noticed \"\${noticed}\\n\")
		enable_testing()
		add_test(NAME own COMMAND true)
		add_custom_target(uninstall)
		install(FILES consumer.c DESTINATION share)
		add_executable(firmware consumer.c)
		target_link_libraries(firmware PRIVATE dpumap::desc)
		get_target_property(library dpumap::dpumap ALIASED_TARGET)
		add_custom_target(\"dpumap-is-\${library}\")" dpumap::dpumap dpumap::desc
	cmake -S "$dir" -B "$dir/build" -G Ninja -Ddpumap_USE_STATIC_LIBS="$3" >"$work/said" 2>&1 ||
		{ bad "a CMake project cannot add this tree by $1: $(tail -n 5 "$work/said")"; return; }
	grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$dir/build/CMakeCache.txt" ||
		bad "this tree sets the build type of a project that adds it"
	cmake --build "$dir/build" --target help >"$work/said"
	! grep -qE 'dpumapd|test_|dpumap_cli' "$work/said" || bad "a project that adds this tree gets its programs or tests"
	grep -q "^dpumap-is-$4:" "$work/said" || bad "dpumap::dpumap is not $4 with dpumap_USE_STATIC_LIBS=$3"
	# cmake's own modules set the others.
	found=$(grep -viE '^(_*dpumap|__pkg_config_[a-z]*_dpumap|pkgcfg_lib_dpumap|fetchcontent_)' "$dir/build/noticed" |
		grep -vE '^(PKG_CONFIG_|CMAKE_INSTALL_|FIND_PACKAGE_MESSAGE_|_GNUInstallDirs|__cmake|before$|prefix_result$)' || true)
	[ -z "$found" ] || bad "a project that adds this tree by $1 gets ${found//$'\n'/, }"
	[ "$(ctest --test-dir "$dir/build" -N | tail -n 1)" = "Total Tests: 1" ] ||
		bad "a project that adds this tree gets its tests"
	ninja -C "$dir/build" -t commands firmware consumer | grep -E -- "-c $dir/consumer|-o (firmware|consumer) " >"$work/said"
	[ "$(wc -l <"$work/said")" -eq 4 ] || bad "this is not how firmware and consumer are built: $(cat "$work/said")"
	! grep -E -- '-W(all|extra|error)|-z,|_GNU_SOURCE|-ffreestanding|-f[sp]' "$work/said" ||
		bad "this tree changes how a project that adds it is built"
	DESTDIR=$dir/root cmake --install "$dir/build" --prefix /p >"$work/said" 2>&1 ||
		bad "a project that adds this tree by $1 cannot be installed: $(tail -n 3 "$work/said")"
	found=$(cd "$dir/root" && find . -type f)
	[ "$found" = ./p/share/consumer.c ] || bad "a project that adds this tree by $1 installs ${found//$'\n'/, }"
}

check_cmake()
{
	write_project "$work/found" "find_package(dpumap 0.1 REQUIRED COMPONENTS channel fleet)" \
		dpumap::dpumap dpumap::channel dpumap::fleet dpumap::desc
	if cmake -S "$work/found" -B "$work/found/build" -DCMAKE_PREFIX_PATH="$1" >"$work/said" 2>&1 &&
		cmake --build "$work/found/build" >>"$work/said" 2>&1; then
		[ "$("$work/found/build/consumer")" = DOCA_SUCCESS ] || bad "the program of a CMake project does not run"
	else
		bad "a CMake project cannot use the installation: $(tail -n 5 "$work/said")"
	fi
	# The tree is not built again, which would take long, and a scratch copy has none.
	[ -f "$TREE/CMakeLists.txt" ] || return 0
	check_added add_subdirectory "add_subdirectory($TREE dpumap)" OFF dpumap
	check_added FetchContent "include(FetchContent)
		FetchContent_Declare(dpumap SOURCE_DIR $TREE)
		FetchContent_MakeAvailable(dpumap)" ON dpumap_static
	check_uninstall
}

build()
{
	# shellcheck disable=SC2046
	"$@" -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API -o "$work/consumer" "$work/consumer.c" $(pkg-config --cflags --libs dpumap)
}

# Build each example as its first comment says, and the DOCA programs as docs/tutorial.md says.
check_examples()
{
	local source line program examples
	examples=$(dirname "$(dirname "$(find "$1" -name bridge.c)")")
	for source in "$examples"/*/*.c; do
		line=$(sed -n 's/^ \* Build: cc //p' "$source")
		[ -z "$line" ] || builds "$source" "$line"
	done
	for program in devices dpu_exports host_exports local_copy; do
		builds "$examples/doca/$program.c" "-DDOCA_ALLOW_EXPERIMENTAL_API $program.c common.c copy.c
			\$(PKG_CONFIG_PATH=$("$1/bin/dpumap" doca-pkgconfig-dir) pkg-config --cflags --libs doca-dma doca-argp)"
	done
	for source in "$examples"/*; do
		case " $built " in
		*" ${source##*/} "*) ;;
		*) bad "no comment in $source says how to build it" ;;
		esac
	done
}

builds()
{
	local dir
	dir=$(dirname "$1")
	built="$built ${dir##*/}"
	(cd "$dir" && eval "cc -Wall -Wextra -Werror ${2//$'\n'/ } -o '$work/example'") ||
		bad "the example $1 cannot be built: cc $2"
}

# "%Y" is the directory of the unit. systemd-analyze checks that the daemon exists.
check_unit()
{
	local unit said
	unit=$(find "$1" -name dpumapd.service)
	[ -n "$(sed -n "s|^ExecStart=\(.*/dpumapd --config /etc/dpumap/dpumapd.conf\)$|\1|p" "$unit")" ] ||
		bad "dpumapd.service does not use /etc/dpumap/dpumapd.conf"
	command -v systemd-analyze >/dev/null || return 0
	said=$(systemd-analyze verify --man=no "$unit" 2>&1) || bad "dpumapd.service is not valid: $said"
}

check_programs()
{
	local program
	for program in bin/dpumap sbin/dpumapd bin/dpumap-emu; do
		env -u LD_LIBRARY_PATH "$1/$program" --version >"$work/said" 2>&1 ||
			bad "$program does not start: $(cat "$work/said")"
	done
}

# The Python package, from its directory below the prefix, with the installed library.
check_python()
{
	local dir said
	dir=$(dirname "$(find "$1" -path '*-packages/dpumap' -type d)")
	said=$(PYTHONPATH=$dir LD_LIBRARY_PATH=$libdir PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '
import importlib.metadata, pathlib, dpumap
assert dpumap.__file__.startswith("'"$dir"'"), dpumap.__file__
assert pathlib.Path(dpumap.__file__).with_name("py.typed").exists(), "py.typed is missing"
assert dpumap.library_version() == importlib.metadata.version("dpumap")
(plugin,) = [one for one in importlib.metadata.entry_points(group="pytest11") if one.name == "dpumap"]
plugin.load()' 2>&1) || bad "the Python package cannot be used: ${said##*$'\n'}"
}

run_check()
{
	local prefix=$TREE/installed/moved check file work libdir built=
	work=$(mktemp -d "${TMPDIR:-/tmp}/dpumap-install.XXXXXX")
	# shellcheck disable=SC2064
	trap "rm -rf '$work'" EXIT
	if [ ! -d "$prefix" ]; then
		prefix=$work/moved
		install_to "$work" || { bad "the build in $BUILD cannot be installed"; return; }
	fi
	for file in dpumap dpumapd dpumap-emu dpumap-emu.1 dpumap-emu.h dpumap-emu.pc libdpumap-emu.so libdpumap.so libdpumap_desc.a libdpumap.a dpumap.pc doca.pc doca-common.pc doca-dma.pc doca-argp.pc doca-rdma.pc doca-comch.pc doca-aes-gcm.pc doca-erasure-coding.pc doca-sha.pc libdoca_common.so libdoca_dma.so libdoca_comch.so libdoca_aes_gcm.so libdoca_erasure_coding.so libdoca_sha.so doca_mmap.h doca_rdma_bridge.h desc.h arena.h parent_domain.h dm.h dma.h; do
		[ -n "$(find "$prefix" -name "$file")" ] || bad "$file is not installed"
	done
	for file in libdpumap-channel.so libdpumap-channel.a libdpumap-fleet.a dpumap-channel.pc channel.h dpumap.1 dpumapd.8 dpumapd.conf.5 \
		dpumapd.service dpumapd.socket dpumap.conf dpumapd.conf; do
		[ -n "$(find "$prefix" -name "$file")" ] || bad "$file is not installed"
	done
	[ "$WRONG" -eq 0 ] || return 0
	libdir=$(dirname "$(find "$prefix" -name libdpumap.so -not -path '*/dpumap-doca/*')")
	export PKG_CONFIG_PATH=$libdir/pkgconfig
	# The first group with a violation is the last one: the planted ones take their time.
	for check in programs unit consumer python cmake static examples; do
		"check_$check" "$prefix"
		[ "$WRONG" -eq 0 ] || return 0
	done
}

make_scratch()
{
	install_to "$1/installed"
}

PLANTS=11
plant()
{
	local moved=$1/installed/moved
	case $2 in
	1) find "$moved" -name dma.h -delete ;;
	2) find "$moved" -name dpumap.pc -exec sed -i 's/-ldpumap/-lnothing/' {} \; ;;
	3) rm "$moved"/*bin/dpumapd ;;
	4) edit "$(find "$moved" -name dpumap.pc)" 's|^prefix=.*|prefix=/usr/local|' ;;
	5) edit "$(find "$moved" -name dpumapd.service)" 's|^ExecStart=%Y/[./]*|ExecStart=/nowhere/|' ;;
	6) edit "$(find "$moved" -name bridge.c)" 's/ libibverbs)/)/' ;;
	7) find "$moved" -name dpumap-shared-targets.cmake -exec sed -i 's/dpumap::channel/dpumap::other/' {} \; ;;
	8) find "$moved" -name dpumap-config.cmake -delete ;;
	9) find "$moved" -name _ffi.py -delete ;;
	10) edit "$(find "$moved" -name dpumap.pc)" 's/ -ljson-c//' ;;
	11) edit "$(find "$moved" -name dpumap-static-targets.cmake)" 's/PkgConfig::DPUMAP_CURL/m/' ;;
	esac
}

main "$@"
