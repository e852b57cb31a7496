/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/buffer.h"

#include <errno.h>
#include <fcntl.h>

#include "emu/server/mm/dmabuf.h"
#include "emu/server/uverbs/export.h"
#include "emu/server/uverbs/queue.h"

/* A buffer as attributes name it. */
struct named {
	struct emu_buffer_desc desc;
	bool is_named;
};

static bool is_dmabuf(const struct named *n)
{
	return n->is_named && n->desc.type == EMU_BUFFER_DMABUF;
}

static int read_desc(const struct emu_cmd *c, uint16_t attr, struct named *n)
{
	n->is_named = emu_attr(c, attr) != NULL;
	return n->is_named ? emu_attr_in(c, attr, &n->desc, sizeof(n->desc)) : 0;
}

/* uverbs_create_cq_get_buffer_desc() */
static int read_parts(const struct emu_cmd *c, uint16_t parts, struct named *n)
{
	const uint16_t va = parts, length = parts + 1, fd = parts + 2, offset = parts + 3;
	const bool is_va = emu_attr(c, va), is_fd = emu_attr(c, fd),
		   has_length = emu_attr(c, length), has_offset = emu_attr(c, offset);

	if (!is_va && !is_fd)
		return has_length || has_offset ? -EINVAL : 0;
	if (!has_length || (!is_va && !has_offset))
		return -ENOENT;
	if (n->is_named || (is_va && (is_fd || has_offset)))
		return -EINVAL;
	n->is_named = true;
	n->desc = (struct emu_buffer_desc){
		.type = is_va ? EMU_BUFFER_VA : EMU_BUFFER_DMABUF,
		.fd = is_fd ? (int32_t)emu_attr_fd(c, fd) : -1,
		.addr = emu_attr_u64(c, is_va ? va : offset, 0),
		.length = emu_attr_u64(c, length, 0),
	};
	return 0;
}

/* A dma-buf of memory of a device cannot be pinned, and one that may shrink cannot be mapped. */
static int check_dmabuf(const struct emu_cmd *c, const struct emu_buffer_desc *d)
{
	struct emu_dmabuf file;
	struct emu_export *x;
	int err = emu_export_find(c->chan->pid, d->fd, &x), seals;

	if (err != -ENOENT)
		return err ? err : -EOPNOTSUPP;
	err = emu_dmabuf_open(c->chan->pid, d->fd, d->addr, d->length, &file);
	if (err)
		return err;
	seals = fcntl(file.fd, F_GET_SEALS);
	emu_dmabuf_close(&file);
	return seals < 0 || !(seals & F_SEAL_SHRINK) || seals & F_SEAL_WRITE ? -EINVAL : 0;
}

static int check(const struct emu_cmd *c, const struct named *n, uint64_t need)
{
	if (!n->is_named)
		return 0;
	if (n->desc.flags || n->desc.type > EMU_BUFFER_VA || n->desc.length < need)
		return -EINVAL;
	return is_dmabuf(n) ? check_dmabuf(c, &n->desc) : 0;
}

/* Ask the process to map them, or find them where it has. */
static int map(struct emu_cmd *c, const struct named *ring, const struct named *dbr,
	       uint64_t *ring_at, uint64_t *dbr_at, struct emu_mapped *mapped)
{
	const struct emu_map m = {
		.ring_fd = is_dmabuf(ring) ? ring->desc.fd : -1,
		.dbr_fd = is_dmabuf(dbr) ? dbr->desc.fd : -1,
		.ring_offset = ring->desc.addr,
		.ring_len = ring->desc.length,
		.dbr_offset = dbr->desc.addr,
	};
	const uint64_t ring_len = emu_map_ring_len(&m);

	if (!c->mapped) {
		c->first = EMU_REPLY_MAP;
		c->first_map = m;
		return -EAGAIN;
	}
	if (is_dmabuf(ring))
		*ring_at = c->mapped + m.ring_offset % EMU_PAGE;
	if (is_dmabuf(dbr))
		*dbr_at = c->mapped + ring_len + m.dbr_offset % EMU_PAGE;
	*mapped = (struct emu_mapped){c->mapped, emu_map_len(&m)};
	return 0;
}

int emu_take_buffers(struct emu_cmd *c, const struct emu_buffer_attrs *attrs, uint64_t need,
		     uint64_t *ring_at, uint64_t *dbr_at, struct emu_mapped *mapped)
{
	struct named ring = {0}, dbr = {0};
	int err = need ? read_desc(c, attrs->ring, &ring) : 0; /* a queue pair can have no ring */

	*mapped = (struct emu_mapped){0};
	if (!err && attrs->parts)
		err = read_parts(c, attrs->parts, &ring);
	if (!err)
		err = read_desc(c, attrs->dbr, &dbr);
	if (!err)
		err = check(c, &ring, need);
	if (!err)
		err = check(c, &dbr, EMU_DBR_BYTES);
	if (err)
		return err;
	if (ring.is_named)
		*ring_at = ring.desc.addr;
	if (dbr.is_named)
		*dbr_at = dbr.desc.addr;
	return is_dmabuf(&ring) || is_dmabuf(&dbr) ? map(c, &ring, &dbr, ring_at, dbr_at, mapped)
						   : 0;
}

void emu_let_unmap(struct emu_cmd *c, const struct emu_mapped *mapped)
{
	c->unmap = mapped->addr;
	c->unmap_len = mapped->len;
}
