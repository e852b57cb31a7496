/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/ipc/gid.h"
#include "emu/ipc/path_mtu.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/segments.h"

#define LOOPBACK_NET 127
#define PORT	     4791
#define ALL_HEADERS  96u /* GRH, UDP, BTH, XRCETH, AtomicETH and CRC: the kernel's iboe_get_mtu() */

/* The interfaces that have the addresses. */
static char netdevs[EMU_MAX_ENDPOINTS][IFNAMSIZ];

static const struct emu_endpoint *entry(int endpoint)
{
	return &emu_tables->endpoint[endpoint];
}

static bool exists(int endpoint)
{
	return atomic_load(&entry(endpoint)->serial);
}

int emu_endpoint_find(const struct emu_func *f, const uint8_t *addr)
{
	for (int i = 0; i < (int)EMU_MAX_ENDPOINTS; i++)
		if (exists(i) && entry(i)->func == f->index &&
		    (!addr || !memcmp(entry(i)->addr, addr, 16)))
			return i;
	return EMU_NO_ENDPOINT;
}

int emu_endpoint_of_family(const struct emu_func *f, bool ipv4)
{
	for (int i = 0; i < (int)EMU_MAX_ENDPOINTS; i++)
		if (exists(i) && entry(i)->func == f->index &&
		    emu_gid_is_ipv4(entry(i)->addr) == ipv4)
			return i;
	return EMU_NO_ENDPOINT;
}

int emu_endpoint_next(int endpoint)
{
	for (endpoint++; endpoint < (int)EMU_MAX_ENDPOINTS; endpoint++)
		if (exists(endpoint))
			return endpoint;
	return EMU_NO_ENDPOINT;
}

int emu_endpoint_by_addr(const uint8_t addr[16])
{
	for (int i = 0; i < (int)EMU_MAX_ENDPOINTS; i++)
		if (exists(i) && !memcmp(entry(i)->addr, addr, 16))
			return i;
	return EMU_NO_ENDPOINT;
}

const struct emu_func *emu_endpoint_func(int endpoint)
{
	return &emu_topology.func[entry(endpoint)->func];
}

const uint8_t *emu_endpoint_addr(int endpoint)
{
	return entry(endpoint)->addr;
}

/* Addresses of 127/8 need not be listed: all of them belong to the loopback interface. */
static void find_netdev(const uint8_t addr[16], char name[IFNAMSIZ])
{
	struct ifaddrs *all;
	uint8_t gid[16];

	snprintf(name, IFNAMSIZ, "%s", EMU_NETDEV);
	if (getifaddrs(&all))
		return;
	for (struct ifaddrs *a = all; a; a = a->ifa_next)
		if (a->ifa_addr && emu_gid_of_ip(a->ifa_addr, gid) && !memcmp(gid, addr, 16))
			snprintf(name, IFNAMSIZ, "%s", a->ifa_name);
	freeifaddrs(all);
}

const char *emu_endpoint_netdev(int endpoint)
{
	return netdevs[endpoint];
}

bool emu_endpoint_is_internal(int endpoint)
{
	const uint8_t *addr = entry(endpoint)->addr;

	return emu_tables->wire_forced && emu_gid_is_ipv4(addr) &&
	       addr[EMU_GID_IPV4] == LOOPBACK_NET;
}

void emu_endpoint_set_down(const struct emu_func *f)
{
	for (int i = 0; i < (int)EMU_MAX_ENDPOINTS; i++)
		if (exists(i) && entry(i)->func == f->index)
			atomic_store(&emu_tables->endpoint[i].down, f->port_down);
}

int emu_endpoint_publish(const struct emu_func *f, const uint8_t addr[16])
{
	struct emu_endpoint *e = emu_tables->endpoint;

	for (int i = 0; i < (int)EMU_MAX_ENDPOINTS; i++) {
		if (exists(i))
			continue;
		find_netdev(addr, netdevs[i]);
		e[i].func = f->index;
		memcpy(e[i].addr, addr, sizeof(e[i].addr));
		atomic_store_explicit(&e[i].serial, emu_new_serial(), memory_order_release);
		return i;
	}
	return -E2BIG;
}

/* --- what IP routing says --------------------------------------------------------------------- */

static socklen_t size_of(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static void set_port(struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		((struct sockaddr_in *)(void *)a)->sin_port = htons(PORT);
	else
		((struct sockaddr_in6 *)(void *)a)->sin6_port = htons(PORT);
}

/* A socket with a route to `dst`, from `src` if that is not NULL; or a negative errno. */
static int connect_to(const uint8_t *src, const uint8_t dst[16])
{
	struct sockaddr_storage from, to;
	int fd, err;

	emu_gid_to_ip(dst, &to);
	set_port(&to);
	fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (src) {
		emu_gid_to_ip(src, &from);
		if (bind(fd, (struct sockaddr *)&from, size_of(&from)))
			goto failed;
	}
	if (!connect(fd, (struct sockaddr *)&to, size_of(&to)))
		return fd;
failed:
	err = -errno;
	close(fd);
	return err;
}

/* The largest path MTU of packets that fit an interface's MTU. */
static uint8_t path_mtu(unsigned int bytes)
{
	uint8_t mtu = EMU_MTU_4096;

	while (mtu > EMU_MTU_256 && ALL_HEADERS + emu_mtu_bytes(mtu) > bytes)
		mtu--;
	return mtu;
}

int emu_endpoint_reaches(int endpoint, const uint8_t addr[16], uint8_t *mtu)
{
	const uint8_t *src = entry(endpoint)->addr;
	bool ipv4 = emu_gid_is_ipv4(src);
	socklen_t len = sizeof(int);
	int fd, bytes = 0;

	if (emu_gid_is_ipv4(addr) != ipv4)
		return -EHOSTUNREACH;
	fd = connect_to(src, addr);
	if (fd < 0)
		return fd;
	if (mtu) {
		getsockopt(fd, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_MTU : IPV6_MTU, &bytes,
			   &len);
		*mtu = bytes > 0 ? path_mtu((unsigned int)bytes) : EMU_MTU_4096;
	}
	close(fd);
	return 0;
}

int emu_endpoint_source(const uint8_t dst[16], uint8_t src[16])
{
	struct sockaddr_storage from = {0};
	socklen_t len = sizeof(from);
	int fd = connect_to(NULL, dst), err = 0;

	if (fd < 0)
		return fd;
	if (getsockname(fd, (struct sockaddr *)&from, &len))
		err = -errno;
	close(fd);
	if (!err && !emu_gid_of_ip((struct sockaddr *)&from, src))
		err = -EAFNOSUPPORT;
	return err;
}

static unsigned int mtu_of_interface(const char *name)
{
	struct ifreq r = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return UINT16_MAX;
	memcpy(r.ifr_name, name, sizeof(r.ifr_name));
	if (ioctl(fd, SIOCGIFMTU, &r))
		r.ifr_mtu = UINT16_MAX;
	close(fd);
	return (unsigned int)r.ifr_mtu;
}

uint8_t emu_port_mtu(const struct emu_func *f)
{
	uint8_t mtu = EMU_MTU_4096, own;

	for (int i = 0; i < (int)EMU_MAX_ENDPOINTS; i++) {
		if (!exists(i) || entry(i)->func != f->index)
			continue;
		own = path_mtu(mtu_of_interface(netdevs[i]));
		mtu = own < mtu ? own : mtu;
	}
	return mtu;
}
