/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/server/mm/user_copy.h"

#define ATTR_DATA_OFFSET offsetof(struct ib_uverbs_attr, data)

struct emu_cmd_counts emu_cmd_counts;

#define NSPECS (sizeof(((struct emu_method *)0)->attr) / sizeof(struct emu_attr_spec))

static const struct emu_attr_spec *find_spec(const struct emu_method *m, uint16_t id)
{
	for (size_t i = 0; i < NSPECS && m->attr[i].kind; i++)
		if (m->attr[i].id == id)
			return &m->attr[i];
	return NULL;
}

const struct ib_uverbs_attr *emu_attr(const struct emu_cmd *c, uint16_t id)
{
	for (unsigned int i = 0; i < c->nattrs; i++)
		if (c->attr[i].attr_id == id)
			return &c->attr[i];
	return NULL;
}

size_t emu_attr_len(const struct emu_cmd *c, uint16_t id)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);

	return a ? a->len : 0;
}

static int copy_attr(const struct emu_cmd *c, const struct ib_uverbs_attr *a, void *buf, size_t len)
{
	if (a->len > sizeof(a->data))
		return emu_copy_from(c->chan->pid, buf, a->data, len);
	memcpy(buf, &a->data, len);
	return 0;
}

uint64_t emu_attr_u64(const struct emu_cmd *c, uint16_t id, uint64_t def)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);
	uint64_t v = 0;

	if (!a)
		return def;
	memcpy(&v, &a->data, a->len < sizeof(v) ? a->len : sizeof(v));
	return v;
}

const struct emu_command *emu_cmd_command(const struct emu_cmd *c)
{
	const struct emu_command *inner = c->method->payload ? c->method->payload(c) : NULL;

	return inner ? inner : &c->method->command;
}

int64_t emu_attr_fd(const struct emu_cmd *c, uint16_t id)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);

	if (a->len > sizeof(a->data))
		return INT64_MIN;
	return a->len == sizeof(int32_t) ? (int32_t)a->data : a->data_s64;
}

int emu_attr_in_dup(const struct emu_cmd *c, uint16_t id, uint8_t **buf, size_t *len)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);
	int err;

	*len = a ? a->len : 0;
	*buf = calloc(1, *len + 1);
	if (!*buf)
		return -ENOMEM;
	err = a ? copy_attr(c, a, *buf, a->len) : 0;
	if (err)
		free(*buf);
	return err;
}

int emu_attr_in(const struct emu_cmd *c, uint16_t id, void *buf, size_t len)
{
	uint8_t *all;
	size_t n;
	int err;

	err = emu_attr_in_dup(c, id, &all, &n);
	if (err)
		return err;
	memset(buf, 0, len);
	memcpy(buf, all, n < len ? n : len);
	for (size_t i = len; i < n && !err; i++)
		if (all[i])
			err = -EOPNOTSUPP;
	free(all);
	return err;
}

int emu_attr_in_known(const struct emu_cmd *c, uint16_t id, void *buf, size_t len)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);

	memset(buf, 0, len);
	return a ? copy_attr(c, a, buf, a->len < len ? a->len : len) : 0;
}

void *emu_attr_obj(const struct emu_cmd *c, uint16_t id)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);

	return a ? emu_uobj_get(c->file, (uint32_t)a->data, EMU_T_NONE) : NULL;
}

int emu_cmd_obj(const struct emu_cmd *c, uint32_t handle, enum emu_type type, void *obj)
{
	struct emu_uobj *o = emu_uobj_get(c->file, handle, EMU_T_NONE);

	if (!o)
		return -ENOENT;
	if (o->type != type)
		return -EINVAL;
	memcpy(obj, &o, sizeof(void *));
	return 0;
}

static int add_out(struct emu_cmd *c, const struct ib_uverbs_attr *a, const void *buf, size_t len)
{
	struct emu_out *o = &c->out[c->nouts];

	o->data = malloc(len + 1);
	if (!o->data)
		return -ENOMEM;
	memcpy(o->data, buf, len);
	o->len = len;
	o->attr = (unsigned int)(a - c->attr);
	c->nouts++;
	return 0;
}

int emu_attr_out(struct emu_cmd *c, uint16_t id, const void *buf, size_t len)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);

	return a ? add_out(c, a, buf, len < a->len ? len : a->len) : 0;
}

int emu_attr_out_driver(struct emu_cmd *c, const void *buf, size_t len)
{
	return emu_attr(c, UVERBS_ATTR_UHW_OUT) ? emu_attr_out(c, UVERBS_ATTR_UHW_OUT, buf, len)
						: -EFAULT;
}

int emu_attr_out_u32(struct emu_cmd *c, uint16_t id, uint32_t v)
{
	return emu_attr_out(c, id, &v, sizeof(v));
}

int emu_attr_out_u64(struct emu_cmd *c, uint16_t id, uint64_t v)
{
	return emu_attr_out(c, id, &v, sizeof(v));
}

void emu_attr_new(struct emu_cmd *c, uint16_t id, const struct emu_uobj *o)
{
	struct ib_uverbs_attr *a = (struct ib_uverbs_attr *)emu_attr(c, id);

	a->data = o->handle;
	c->created = o;
	c->created_attr = (unsigned int)(a - c->attr);
}

static int check_obj(const struct emu_cmd *c, const struct emu_attr_spec *s,
		     const struct ib_uverbs_attr *a)
{
	if (a->len || a->data > UINT32_MAX)
		return -EINVAL;
	if (!emu_uobj_get(c->file, (uint32_t)a->data, EMU_T_NONE))
		return -ENOENT;
	return emu_uobj_get(c->file, (uint32_t)a->data, s->min) ? 0 : -EINVAL;
}

/* Bytes that this kernel does not know must be zero. */
static int check_struct(const struct emu_cmd *c, const struct emu_attr_spec *s,
			const struct ib_uverbs_attr *a)
{
	uint8_t bytes[EMU_PAGE];
	size_t len = a->len < sizeof(bytes) ? a->len : sizeof(bytes);
	int err = copy_attr(c, a, bytes, len);

	for (size_t i = s->min; i < len && !err; i++)
		if (bytes[i])
			err = -EOPNOTSUPP;
	return err || a->len >= s->min ? err : -EINVAL;
}

static int check_enum(const struct emu_attr_spec *s, const struct ib_uverbs_attr *a)
{
	if (a->attr_data.enum_data.elem_id >= s->min)
		return -EOPNOTSUPP;
	return a->attr_data.enum_data.reserved || a->len ? -EINVAL : 0;
}

static int check_attr(const struct emu_cmd *c, unsigned int i)
{
	const struct ib_uverbs_attr *a = &c->attr[i];
	const struct emu_attr_spec *s = find_spec(c->method, a->attr_id);

	if (!s)
		return a->flags & UVERBS_ATTR_F_MANDATORY ? -EPROTONOSUPPORT : 0;
	for (unsigned int j = 0; j < i; j++)
		if (c->attr[j].attr_id == a->attr_id)
			return -EINVAL;
	if (s->kind == EMU_A_ENUM)
		return check_enum(s, a);
	if (a->attr_data.reserved)
		return -EINVAL;
	switch (s->kind) {
	case EMU_A_IN:
	case EMU_A_OUT:
		return a->len < s->min ? -EINVAL : 0;
	case EMU_A_VALUE:
	case EMU_A_RESULT:
		return a->len != s->min ? -EINVAL : 0;
	case EMU_A_STRUCT:
		return check_struct(c, s, a);
	case EMU_A_FLAGS:
		return a->len < sizeof(uint32_t) || a->len > sizeof(uint64_t) ? -EINVAL : 0;
	case EMU_A_OBJ:
		return check_obj(c, s, a);
	default:
		return a->len ? -EINVAL : 0;
	}
}

static int check_attrs(const struct emu_cmd *c)
{
	int err;

	for (unsigned int i = 0; i < c->nattrs; i++) {
		err = check_attr(c, i);
		if (err)
			return err;
	}
	for (size_t j = 0; j < NSPECS && c->method->attr[j].kind; j++)
		if (c->method->attr[j].mandatory && !emu_attr(c, c->method->attr[j].id))
			return -EINVAL;
	return 0;
}

/* The pieces of the answer and their addresses, written in one call. */
struct answer {
	struct iovec from[EMU_MAX_ATTRS + 1];
	struct iovec to[EMU_MAX_ATTRS + 1];
	unsigned int n;
};

static void add_piece(struct answer *a, uint64_t to, const void *from, size_t len)
{
	a->from[a->n] = (struct iovec){.iov_base = (void *)(uintptr_t)from, .iov_len = len};
	a->to[a->n++] = (struct iovec){.iov_base = (void *)(uintptr_t)to, .iov_len = len};
}

/*
 * Write the attributes from the first changed one to the last as one piece: each piece costs as
 * much as a page.
 */
static void add_attrs(const struct emu_cmd *c, unsigned int first, unsigned int last,
		      struct answer *a)
{
	add_piece(a, c->uattrs + first * sizeof(c->attr[0]), &c->attr[first],
		  (last - first + 1) * sizeof(c->attr[0]));
}

int emu_cmd_write_outs(struct emu_cmd *c)
{
	unsigned int first = EMU_MAX_ATTRS, last = 0, i;
	struct answer a;

	a.n = 0;
	for (i = 0; i < c->nouts; i++) {
		const struct emu_out *o = &c->out[i];

		add_piece(&a, c->attr[o->attr].data, o->data, o->len);
		c->attr[o->attr].flags |= UVERBS_ATTR_F_VALID_OUTPUT;
		first = o->attr < first ? o->attr : first;
		last = o->attr > last ? o->attr : last;
	}
	if (c->created) { /* its attribute has the handle already */
		first = c->created_attr < first ? c->created_attr : first;
		last = c->created_attr > last ? c->created_attr : last;
	}
	if (first <= last)
		add_attrs(c, first, last, &a);
	return emu_copy_to_many(c->chan->pid, a.to, a.from, a.n);
}

void emu_cmd_free_outs(struct emu_cmd *c)
{
	while (c->nouts)
		free(c->out[--c->nouts].data);
}

/* Check the address of the new descriptor's number before the command has an effect. */
int emu_cmd_give_fd(struct emu_cmd *c, uint16_t id, int fd)
{
	const struct ib_uverbs_attr *a = emu_attr(c, id);
	const struct emu_attr_spec *s = find_spec(c->method, id);
	int64_t none = -1;

	c->fd_addr = a->data;
	c->fd_width = sizeof(int32_t);
	if (s->kind == EMU_A_NEWFD) {
		c->fd_addr = c->uattrs + (uint64_t)(a - c->attr) * sizeof(*a) + ATTR_DATA_OFFSET;
		c->fd_width = sizeof(int64_t);
	}
	if (emu_copy_to(c->chan->pid, c->fd_addr, &none, c->fd_width)) {
		close(fd);
		return -EFAULT;
	}
	c->fd = fd;
	return 0;
}

static int check_header(const struct ib_uverbs_ioctl_hdr *hdr)
{
	if (hdr->length > EMU_PAGE ||
	    hdr->length != sizeof(*hdr) + hdr->num_attrs * sizeof(struct ib_uverbs_attr))
		return -EINVAL;
	if (hdr->reserved1 || hdr->reserved2)
		return -EPROTONOSUPPORT;
	return hdr->driver_id != RDMA_DRIVER_MLX5 || hdr->num_attrs > EMU_MAX_ATTRS ? -EINVAL : 0;
}

int emu_cmd_read_header(struct emu_cmd *c, uint64_t uhdr)
{
	struct ib_uverbs_ioctl_hdr hdr;
	int err;

	if (c->head_len < sizeof(hdr)) {
		c->head = c->fetched;
		c->head_len = sizeof(c->fetched);
		err = emu_copy_from_upto(c->chan->pid, c->fetched, uhdr, &c->head_len, sizeof(hdr));
		if (err)
			return err;
	}
	memcpy(&hdr, c->head, sizeof(hdr));
	c->uattrs = uhdr + sizeof(hdr);
	c->object_id = hdr.object_id;
	c->method_id = hdr.method_id;
	c->num_attrs = hdr.num_attrs;
	return check_header(&hdr);
}

int emu_cmd_read_attrs(struct emu_cmd *c)
{
	size_t need = c->num_attrs * sizeof(c->attr[0]);
	int err = 0;

	if (sizeof(struct ib_uverbs_ioctl_hdr) + need <= c->head_len)
		memcpy(c->attr, c->head + sizeof(struct ib_uverbs_ioctl_hdr), need);
	else
		err = emu_copy_from(c->chan->pid, c->attr, c->uattrs, need);
	if (err)
		return err;
	c->nattrs = c->num_attrs;
	return check_attrs(c);
}
