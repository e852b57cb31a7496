/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/ipc/rdma_cm.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/pci.h"

#define PATH_BYTES 512
#define TEXT_BYTES 1024 /* resource has 741 */

static const char *directory;

/* A file that does not have its name yet. */
struct draft {
	char path[PATH_BYTES], new[PATH_BYTES];
	FILE *out;
};

/* Mostly the directory exists, or only the last one is missing. */
static bool has_dir(char *path)
{
	char *last = strrchr(path, '/');
	bool exists;

	*last = '\0';
	exists = !mkdir(path, 0755) || errno == EEXIST;
	*last = '/';
	return exists;
}

static int make_dirs(char *path)
{
	if (has_dir(path))
		return 0;
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

static int path_of(const struct emu_func *f, const char *file, char path[static PATH_BYTES])
{
	if (snprintf(path, PATH_BYTES, "%s/%s/sysfs/%s", directory, f->role, file) >= PATH_BYTES)
		return -ENAMETOOLONG;
	return 0;
}

/* The path of a new file, in a directory that exists. */
static int path_for(const struct emu_func *f, const char *file, char path[static PATH_BYTES])
{
	int err = path_of(f, file, path);

	return err ? err : make_dirs(path);
}

/* A file under a name that no program looks for becomes the file. */
static int replace(const char *new, const char *path)
{
	int err = rename(new, path) ? -errno : 0;

	unlink(new); /* rename() of two names of one file does nothing */
	return err;
}

static int begin(const struct emu_func *f, const char *file, struct draft *d)
{
	int err = path_for(f, file, d->path);

	if (!err)
		err = path_of(f, ".new", d->new);
	if (err)
		return err;
	d->out = fopen(d->new, "we");
	return d->out ? 0 : -errno;
}

static int finish(const struct draft *d)
{
	int err = ferror(d->out) ? -EIO : 0;

	if (fclose(d->out) && !err)
		err = -errno;
	if (!err)
		return replace(d->new, d->path);
	unlink(d->new);
	return err;
}

int emu_sysfs_put(const struct emu_func *f, const char *file, const char *fmt, ...)
{
	struct draft d;
	va_list ap;
	int err;

	err = begin(f, file, &d);
	if (err)
		return err;
	va_start(ap, fmt);
	vfprintf(d.out, fmt, ap);
	va_end(ap);
	fputc('\n', d.out);
	return finish(&d);
}

void emu_sysfs_line(struct emu_sysfs_dir *d, const char *name, const char *fmt, ...)
{
	char file[PATH_BYTES], text[TEXT_BYTES];
	va_list ap;

	if (d->err)
		return;
	snprintf(file, sizeof(file), "%s/%s", d->path, name);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	d->err = emu_sysfs_put(d->f, file, "%s", text);
}

int emu_sysfs_put_bytes(const struct emu_func *f, const char *file, const void *bytes, size_t len)
{
	struct draft d;
	int err;

	err = begin(f, file, &d);
	if (err)
		return err;
	(void)fwrite(bytes, 1, len, d.out); /* finish() sees a failure */
	return finish(&d);
}

int emu_sysfs_overwrite(const struct emu_func *f, const char *file, uint64_t number)
{
	char path[PATH_BYTES], text[32];
	int err = path_of(f, file, path), fd, n;

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)number);
	err = pwrite(fd, text, (size_t)n, 0) == n ? 0 : -EIO;
	close(fd);
	return err;
}

int emu_sysfs_link(const struct emu_func *f, const char *file, const char *target)
{
	char path[PATH_BYTES];
	int err = path_for(f, file, path);

	if (err)
		return err;
	return symlink(target, path) && errno != EEXIST ? -errno : 0;
}

int emu_sysfs_same(const struct emu_func *f, const char *file, const char *as)
{
	char path[PATH_BYTES], new[PATH_BYTES], old[PATH_BYTES];
	int err;

	err = path_for(f, file, path);
	if (!err)
		err = path_of(f, ".new", new);
	if (!err)
		err = path_of(f, as, old);
	if (err)
		return err;
	if (!link(old, path)) /* as a rule it does not exist yet */
		return 0;
	return link(old, new) ? -errno : replace(new, path);
}

/* A file that does not exist is no error. */
static int remove_file(const struct emu_func *f, const char *file)
{
	char path[PATH_BYTES];
	int err = path_of(f, file, path);

	if (err)
		return err;
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

static void put_guid(struct emu_sysfs_dir *d, const char *name, uint64_t g)
{
	emu_sysfs_line(d, name, "%04x:%04x:%04x:%04x", (unsigned int)(g >> 48) & 0xffff,
		       (unsigned int)(g >> 32) & 0xffff, (unsigned int)(g >> 16) & 0xffff,
		       (unsigned int)g & 0xffff);
}

/*
 * Programs follow a device's link to its PCI function (without it UCX takes the device for a
 * virtual one), or follow `device`.
 */
static int link_ibdev(const struct emu_func *f, const char *ib)
{
	char file[128], target[128];
	int err;

	snprintf(target, sizeof(target), "../../../%s", f->pci);
	snprintf(file, sizeof(file), "%s/device", ib);
	err = emu_sysfs_link(f, file, target);
	if (err)
		return err;
	snprintf(target, sizeof(target), "../../%s", ib);
	snprintf(file, sizeof(file), "class/infiniband/mlx5_%u", f->dev);
	return emu_sysfs_link(f, file, target);
}

/* The directory of the function's device, or a part of it. */
static struct emu_sysfs_dir ibdev_dir(const struct emu_func *f, const char *part)
{
	char ib[EMU_IBDEV_PATH];
	struct emu_sysfs_dir d = {.f = f};

	emu_func_ibdev(f, ib);
	snprintf(d.path, sizeof(d.path), "%s%s", ib, part);
	return d;
}

static void put_pkeys(struct emu_sysfs_dir *port)
{
	char name[24];

	for (unsigned int i = 0; i < port->f->card->profile->max_pkeys; i++) {
		snprintf(name, sizeof(name), "pkeys/%u", i);
		emu_sysfs_line(port, name, "0x%04x", port->f->pkey[i]);
	}
}

/* The rate is as the kernel prints it. */
int emu_sysfs_port(const struct emu_func *f)
{
	const uint32_t lanes = f->card->profile->lanes;
	struct emu_sysfs_dir port = ibdev_dir(f, "/ports/1");

	emu_sysfs_line(&port, "rate", "%u Gb/sec (%uX %s)", f->lane_speed * lanes, lanes,
		       emu_speed_name(f->lane_speed));
	emu_sysfs_line(&port, "state", f->port_down ? "1: DOWN" : "4: ACTIVE");
	emu_sysfs_line(&port, "phys_state", f->port_down ? "3: Disabled" : "5: LinkUp");
	emu_sysfs_line(&port, "lid", "0x%x", f->lid);
	emu_sysfs_line(&port, "sm_lid", "0x%x", f->sm_lid);
	put_pkeys(&port);
	return port.err;
}

/* As a rule an Ethernet port has no LIDs and no subnet manager. */
static int write_port(const struct emu_func *f)
{
	struct emu_sysfs_dir port = ibdev_dir(f, "/ports/1");

	port.err = emu_sysfs_port(f);
	emu_sysfs_line(&port, "link_layer", "Ethernet");
	emu_sysfs_line(&port, "lid_mask_count", "0");
	emu_sysfs_line(&port, "sm_sl", "0");
	emu_sysfs_line(&port, "cap_mask", "0x%08x", EMU_PORT_CAP);
	return port.err;
}

/* tc: as the drivers of the vendor's distribution show it; no class is forced. */
static int write_ibdev(const struct emu_func *f)
{
	const struct emu_profile *p = f->card->profile;
	struct emu_sysfs_dir ib = ibdev_dir(f, "");
	int err;

	emu_sysfs_line(&ib, "node_type", "1: CA");
	emu_sysfs_line(&ib, "node_desc", "MT%u %s, emulated", p->part_id, p->name);
	put_guid(&ib, "node_guid", f->node_guid);
	put_guid(&ib, "sys_image_guid", f->card->guid);
	emu_sysfs_line(&ib, "fw_ver", "%u.%u.%04u", (unsigned int)(p->fw_ver >> 32),
		       (unsigned int)(p->fw_ver >> 16) & 0xffff, (unsigned int)p->fw_ver & 0xffff);
	emu_sysfs_line(&ib, "board_id", "EMU_%s", p->pci_id);
	emu_sysfs_line(&ib, "hca_type", "MT%u", p->part_id);
	emu_sysfs_line(&ib, "hw_rev", "0");
	emu_sysfs_line(&ib, "tc/1/traffic_class", "Global tclass=0");
	err = ib.err ? ib.err : write_port(f);
	if (!err)
		err = emu_counters_create(f);
	if (!err)
		err = emu_pci_create(f);
	return err ? err : link_ibdev(f, ib.path);
}

/* libibverbs without netlink tells devices apart by the time of their directory. */
static int touch(const struct emu_func *f, const char *ib)
{
	char path[PATH_BYTES];
	int err = path_of(f, ib, path);

	if (err)
		return err;
	return utimensat(AT_FDCWD, path, NULL, 0) ? -errno : 0;
}

static int move(const struct emu_func *f, const char *from, const char *to)
{
	char old[PATH_BYTES], new[PATH_BYTES];
	int err = path_of(f, from, old);

	if (!err)
		err = path_of(f, to, new);
	if (err)
		return err;
	return rename(old, new) && errno != ENOENT ? -errno : 0;
}

int emu_sysfs_list(const struct emu_func *f, bool listed)
{
	char ib[EMU_IBDEV_PATH], link[64], verbs[64], hidden[64];
	int err;

	emu_func_ibdev(f, ib);
	snprintf(link, sizeof(link), "class/infiniband/mlx5_%u", f->dev);
	snprintf(verbs, sizeof(verbs), "class/infiniband_verbs/uverbs%u", f->dev);
	snprintf(hidden, sizeof(hidden), "class/infiniband_verbs/.uverbs%u", f->dev);
	if (!listed) {
		err = move(f, verbs, hidden);
		return err ? err : remove_file(f, link);
	}
	err = touch(f, ib);
	if (!err)
		err = link_ibdev(f, ib);
	return err ? err : move(f, hidden, verbs);
}

int emu_sysfs_create(const char *emulator, const struct emu_func *f)
{
	struct emu_sysfs_dir class = {.f = f, .path = "class"}, verbs = {.f = f};

	directory = emulator;
	emu_sysfs_line(&class, "infiniband_verbs/abi_version", "6");
	emu_sysfs_line(&class, "misc/rdma_cm/dev", "%u:%u", EMU_RDMA_CM_MAJOR, EMU_RDMA_CM_MINOR);
	emu_sysfs_line(&class, "misc/rdma_cm/abi_version", "%d", RDMA_USER_CM_ABI_VERSION);
	snprintf(verbs.path, sizeof(verbs.path), "class/infiniband_verbs/uverbs%u", f->dev);
	verbs.err = class.err;
	emu_sysfs_line(&verbs, "ibdev", "mlx5_%u", f->dev);
	emu_sysfs_line(&verbs, "dev", "231:%u", 192 + f->dev);
	emu_sysfs_line(&verbs, "abi_version", "1");
	return verbs.err ? verbs.err : write_ibdev(f);
}
