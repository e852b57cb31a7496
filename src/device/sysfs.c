/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/log.h"

/* In a pattern, x matches a hexadecimal digit, any other character itself. */
static bool matches(const char *text, const char *pattern)
{
	for (; *pattern; text++, pattern++)
		if (*pattern == 'x' ? !isxdigit((unsigned char)*text) : *text != *pattern)
			return false;
	return !*text;
}

doca_error_t dpumap_pci_addr_parse(const char *text, char addr[DPUMAP_PCI_ADDR_SIZE])
{
	const char *domain;

	if (matches(text, "xxxx:xx:xx.x"))
		domain = "";
	else if (matches(text, "xx:xx.x"))
		domain = "0000:";
	else
		return DOCA_ERROR_INVALID_VALUE;
	snprintf(addr, DPUMAP_PCI_ADDR_SIZE, "%s%s", domain, text);
	for (char *c = addr; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return DOCA_SUCCESS;
}

/* A sub-function is below its parent function, so the last PCI address in the path counts. */
static bool find_in_path(char *path, char addr[DPUMAP_PCI_ADDR_SIZE])
{
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		if (matches(slash + 1, "xxxx:xx:xx.x"))
			return dpumap_pci_addr_parse(slash + 1, addr) == DOCA_SUCCESS;
		*slash = '\0';
	}
	return false;
}

/* For trees without symbolic links: the uevent file has the address too. */
static bool find_in_uevent(const char *ibdev_path, char addr[DPUMAP_PCI_ADDR_SIZE])
{
	static const char key[] = "PCI_SLOT_NAME=";
	char path[PATH_MAX];
	char line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/device/uevent", ibdev_path);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, key, sizeof(key) - 1))
			found = dpumap_pci_addr_parse(line + sizeof(key) - 1, addr) == DOCA_SUCCESS;
	}
	fclose(f);
	return found;
}

bool dpumap_sysfs_is_on_bus(const char *ibdev_path)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/device", ibdev_path);
	return !access(path, F_OK);
}

doca_error_t dpumap_sysfs_pci_addr(const char *ibdev_path, char addr[DPUMAP_PCI_ADDR_SIZE])
{
	char path[PATH_MAX];
	char *real;
	bool found = false;

	snprintf(path, sizeof(path), "%s/device", ibdev_path);
	real = realpath(path, NULL);
	if (real)
		found = find_in_path(real, addr);
	free(real);
	if (!found && !find_in_uevent(ibdev_path, addr))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "%s has no PCI address", path);
	return DOCA_SUCCESS;
}

static bool parse_sf(const char *name, uint32_t *index)
{
	char end;

	return sscanf(name, "mlx5_core.sf.%" SCNu32 "%c", index, &end) == 1;
}

doca_error_t dpumap_sysfs_func(const char *ibdev_path, struct dpumap_func *func)
{
	struct dpumap_func found = {.type = DPUMAP_FUNC_PF};
	char path[PATH_MAX];
	const char *name;
	char *real;

	snprintf(path, sizeof(path), "%s/device", ibdev_path);
	real = realpath(path, NULL);
	if (!real)
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "reading %s failed: %s", path,
				   strerror(errno));
	name = strrchr(real, '/');
	if (name && parse_sf(name + 1, &found.sf_index))
		found.type = DPUMAP_FUNC_SF;
	free(real);
	snprintf(path, sizeof(path), "%s/device/physfn", ibdev_path);
	if (found.type == DPUMAP_FUNC_PF && !access(path, F_OK))
		found.type = DPUMAP_FUNC_VF;
	*func = found;
	return DOCA_SUCCESS;
}

static bool read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(line, (int)size, f) != NULL;
	fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok && *line;
}

static bool first_entry(const char *path, char *name, size_t size)
{
	DIR *dir = opendir(path);
	bool found = false;
	struct dirent *entry;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || len >= size)
			continue;
		memcpy(name, entry->d_name, len + 1);
		found = true;
	}
	closedir(dir);
	return found;
}

doca_error_t dpumap_sysfs_iface(const char *ibdev_path, char *name, size_t size)
{
	char path[PATH_MAX];

	/* The port names its interface; otherwise the function lists it. */
	snprintf(path, sizeof(path), "%s/ports/1/gid_attrs/ndevs/0", ibdev_path);
	if (read_line(path, name, size))
		return DOCA_SUCCESS;
	snprintf(path, sizeof(path), "%s/device/net", ibdev_path);
	if (first_entry(path, name, size))
		return DOCA_SUCCESS;
	return dpumap_fail_info(DOCA_ERROR_NOT_FOUND, "%s has no network interface", ibdev_path);
}

/* "pf0", and since Linux 5.11 "c1pf0" with the number of the controller. */
static bool is_host_port(const char *name)
{
	unsigned int number;
	char end;

	return sscanf(name, "pf%u%c", &number, &end) == 1 ||
	       sscanf(name, "c%*upf%u%c", &number, &end) == 1;
}

static bool represents_host(const char *dir, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 32];
	char port[64];

	snprintf(path, sizeof(path), "%s/%s/phys_port_name", dir, name);
	return read_line(path, port, sizeof(port)) && is_host_port(port);
}

doca_error_t dpumap_sysfs_rep_iface(const char *ibdev_path, char *name, size_t size)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/device/net", ibdev_path);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		found = strlen(entry->d_name) < size && represents_host(path, entry->d_name);
		if (found)
			memcpy(name, entry->d_name, strlen(entry->d_name) + 1);
	}
	if (dir)
		closedir(dir);
	if (!found)
		return dpumap_fail_info(DOCA_ERROR_NOT_FOUND,
					"%s does not have an interface for the host", path);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_sysfs_mac(const char *ibdev_path, uint8_t mac[DPUMAP_MAC_SIZE])
{
	char path[PATH_MAX];
	char line[64] = "";
	char name[256];
	doca_error_t result;

	result = dpumap_sysfs_iface(ibdev_path, name, sizeof(name));
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_sysfs_is_on_bus(ibdev_path))
		snprintf(path, sizeof(path), "%s/device/net/%s/address", ibdev_path, name);
	else
		snprintf(path, sizeof(path), "/sys/class/net/%s/address", name);
	if (!read_line(path, line, sizeof(line)) || !matches(line, "xx:xx:xx:xx:xx:xx"))
		return dpumap_fail_info(DOCA_ERROR_NOT_FOUND, "%s has no MAC address", path);
	for (int i = 0; i < DPUMAP_MAC_SIZE; i++)
		mac[i] = (uint8_t)strtoul(line + 3 * i, NULL, 16);
	return DOCA_SUCCESS;
}
