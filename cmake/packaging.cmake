# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Debian packages by cpack, one for each component of the installation. scripts/package builds with
# Debian's flags and directories and runs cpack.

set(DPUMAP_PACKAGE_MAINTAINER "" CACHE STRING
	"Maintainer of the packages: name and mail address of the person who builds and publishes them")
set(DPUMAP_PACKAGE_RELEASE 1 CACHE STRING "Debian revision of this version")
set(DPUMAP_PACKAGING_DIR ${PROJECT_SOURCE_DIR}/packaging)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dpumap)
set(CPACK_PACKAGE_VENDOR "the dpumap authors")
set(CPACK_PACKAGE_CONTACT ${DPUMAP_PACKAGE_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
	OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${DPUMAP_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_SOURCE dpumap)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
	set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
	set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()

set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has one

# deb_package(COMPONENT NAME SECTION SUMMARY DESCRIPTION DEPENDS)
macro(deb_package component name section summary description depends)
	string(TOUPPER ${component} upper)
	list(APPEND CPACK_COMPONENTS_ALL ${component})
	set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
	set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
	set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${description}")
	set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
endmacro()

set(lib libdpumap${DPUMAP_SOVERSION})
set(channel libdpumap-channel${DPUMAP_SOVERSION})
set(fleet libdpumap-fleet${DPUMAP_SOVERSION})
set(same "(= ${PROJECT_VERSION}-${DPUMAP_PACKAGE_RELEASE})")
set(about "dpumap shares memory between a BlueField DPU and its host. It needs
nothing but upstream rdma-core.\n.")

deb_package(libdpumap ${lib} libs "memory shared between a BlueField DPU and its host"
"${about}
This package contains the library: memory maps, device memory, and copies
by the DMA engine of the card."
	"")
# It loads this one for servers and clients of doca_comch on other machines.
set(CPACK_DEBIAN_LIBDPUMAP_PACKAGE_SUGGESTS ${channel})
set(CPACK_DEBIAN_LIBDPUMAP_PACKAGE_CONTROL_EXTRA ${DPUMAP_PACKAGING_DIR}/deb/triggers)

# A package of its own: libdpumap needs neither TLS nor CBOR, and the versions of the two may diverge.
deb_package(libdpumap-channel ${channel} libs
	"connection from host agents to the agent on a BlueField DPU"
"${about}
This package contains the library for host agents, which request exported
memory from dpumapd over TLS or a Unix socket."
	"${lib} ${same}")
set(CPACK_DEBIAN_LIBDPUMAP-CHANNEL_PACKAGE_CONTROL_EXTRA ${DPUMAP_PACKAGING_DIR}/deb/triggers)

# A package of its own: only this library needs libcurl, and only a machine in a fleet needs the library.
deb_package(libdpumap-fleet ${fleet} libs
	"exports of many BlueField DPUs, found by name in etcd"
"${about}
This package contains the library for fleets: dpumapd publishes its exports
in an etcd cluster, and hosts find them by name."
	"${channel} ${same}")
set(CPACK_DEBIAN_LIBDPUMAP-FLEET_PACKAGE_CONTROL_EXTRA ${DPUMAP_PACKAGING_DIR}/deb/triggers)

deb_package(dev libdpumap-dev libdevel
	"memory shared between a BlueField DPU and its host (development)"
"${about}
This package contains headers, manual pages and examples. The headers for
DOCA programs are in a directory of their own, so they never shadow an SDK."
	"${lib} ${same}, ${channel} ${same}, ${fleet} ${same}, libibverbs-dev, librdmacm-dev, libcbor-dev, libssl-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "dpumap-emu, dpumap-host")

deb_package(dpu dpumap-dpu net "agent that exports the memory of a BlueField DPU to hosts"
"${about}
This package contains dpumapd, a systemd service on the DPU. It owns the
exported memory and decides which clients may import it."
	"${lib} ${same}, systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_DPU_PACKAGE_SUGGESTS ${fleet})
set(CPACK_DEBIAN_DPU_PACKAGE_CONTROL_EXTRA
	${DPUMAP_PACKAGING_DIR}/deb/dpumap-dpu/postinst
	${DPUMAP_PACKAGING_DIR}/deb/dpumap-dpu/prerm
	${DPUMAP_PACKAGING_DIR}/deb/dpumap-dpu/postrm)

deb_package(host dpumap-host net "tool for memory that a BlueField DPU exports to its host"
"${about}
This package contains dpumap, which lists the memory that a DPU exports,
imports it, and copies from and to it."
	"${lib} ${same}")
set(CPACK_DEBIAN_HOST_PACKAGE_SUGGESTS "bash-completion, ${fleet}")

deb_package(emu dpumap-emu utils "emulated BlueField for programs that use rdma-core"
"Unmodified programs that use libibverbs and libmlx5 run on emulated cards,
in one or several emulated machines, with faults on demand. They need no
hardware and no privileges."
	"")
set(CPACK_DEBIAN_EMU_PACKAGE_RECOMMENDS ibverbs-providers)
set(CPACK_DEBIAN_EMU_PACKAGE_SUGGESTS ibverbs-utils)

set(CPACK_PRE_BUILD_SCRIPTS ${DPUMAP_PACKAGING_DIR}/deb/finish.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${DPUMAP_PACKAGING_DIR}/deb/repack.cmake)
# Variables for these two scripts.
set(CPACK_DPUMAP_DIR ${DPUMAP_PACKAGING_DIR})
set(CPACK_DPUMAP_STRIP ${CMAKE_STRIP})
set(CPACK_DPUMAP_MULTIARCH_SAME ${lib} ${channel} ${fleet} libdpumap-dev)
include(CPack)
