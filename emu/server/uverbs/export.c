/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/server/mm/dmabuf.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/dm.h"
#include "emu/server/uverbs/mmap.h"
#include "emu/server/uverbs/mr.h"
#include "emu/server/uverbs/uar.h"

#define NAME  "memory of a device"
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static LIST_HEAD(emu_export_list, emu_export) exports = LIST_HEAD_INITIALIZER(exports);

/* Only its length and its number are of use. -1: there is none. */
static int open_anchor(uint64_t len)
{
	int fd = memfd_create(NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && !ftruncate(fd, (off_t)len) && !fcntl(fd, F_ADD_SEALS, SEALS))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* NULL: out of memory or of descriptors. */
static struct emu_export *export_new(uint64_t offset, uint64_t len)
{
	struct emu_export *x = calloc(1, sizeof(*x));
	struct stat st;

	if (!x)
		return NULL;
	x->fd = open_anchor(len);
	if (x->fd < 0 || fstat(x->fd, &st)) {
		if (x->fd >= 0)
			close(x->fd);
		free(x);
		return NULL;
	}
	x->ino = st.st_ino;
	x->offset = offset;
	x->len = len;
	LIST_INIT(&x->regions);
	LIST_INSERT_HEAD(&exports, x, link);
	return x;
}

int emu_export_find(pid_t pid, int64_t fd, struct emu_export **x)
{
	uint64_t ino;
	int err = emu_dmabuf_find(pid, fd, NAME, &ino);

	if (err)
		return err;
	LIST_FOREACH(*x, &exports, link)
	if ((*x)->ino == ino)
		return 0;
	return -ENODEV;
}

void emu_export_revoke(struct emu_export *x)
{
	if (!x)
		return;
	while (!LIST_EMPTY(&x->regions))
		emu_mr_revoke(LIST_FIRST(&x->regions));
	LIST_REMOVE(x, link);
	close(x->fd);
	free(x);
}

/* The export of what can be mapped, the same for each of its descriptors. */
static int export_of(struct emu_uobj *o, struct emu_export **x)
{
	const bool is_dm = o->type == EMU_T_DM;
	struct emu_dm *dm = (struct emu_dm *)o;
	struct emu_export **kept = is_dm ? &dm->export : &((struct emu_uar *)o)->export;

	if (!*kept)
		*kept = is_dm ? export_new(dm->offset, (uint64_t)dm->npages * EMU_PAGE)
			      : export_new(0, EMU_PAGE);
	*x = *kept;
	return *x ? 0 : -ENOMEM;
}

static int dmabuf_alloc(struct emu_cmd *c)
{
	const uint64_t place = emu_attr_u64(c, EMU_UVERBS_ATTR_ALLOC_DMABUF_PGOFF, 0);
	struct emu_uobj *o = emu_mmap_entry(c->file, place);
	struct emu_export *x;
	int err, fd;

	if (!o)
		return -EINVAL;
	err = export_of(o, &x);
	if (err)
		return err;
	fd = fcntl(x->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : emu_cmd_give_fd(c, EMU_UVERBS_ATTR_ALLOC_DMABUF_HANDLE, fd);
}

static const struct emu_field alloc_fields[] = {
	EMU_IN("offset", EMU_UVERBS_ATTR_ALLOC_DMABUF_PGOFF, 8, EMU_HEX),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_export[] = {
	{
		.command.name = "dmabuf.create",
		.command.fields = alloc_fields,
		.object = EMU_UVERBS_OBJECT_DMABUF,
		.method = EMU_UVERBS_METHOD_DMABUF_ALLOC,
		.handler = dmabuf_alloc,
		.attr = {{EMU_UVERBS_ATTR_ALLOC_DMABUF_HANDLE, EMU_A_NEWFD, true, 0},
			 {EMU_UVERBS_ATTR_ALLOC_DMABUF_PGOFF, EMU_A_VALUE, true, 8}},
	},
	{.handler = NULL},
};
