/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/dm.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/server/card/segments.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/export.h"

#define LINE	 64u
#define LOG_LINE 6u

static uint64_t rounded(uint64_t len)
{
	return (len + LINE - 1) / LINE * LINE;
}

static uint32_t pages(uint64_t len)
{
	return (uint32_t)((rounded(len) + EMU_PAGE - 1) / EMU_PAGE);
}

static int64_t take_pages(struct emu_card *card, const struct emu_dm_range *in, uint32_t n)
{
	const uint32_t end = in->end < card->dm_npages ? in->end : card->dm_npages;
	uint32_t first = in->first, run = 0;

	while (run < n && first + run < end) {
		if (card->dm_pages[first + run]) {
			first += run + 1;
			run = 0;
		} else {
			run++;
		}
	}
	if (run < n)
		return -1;
	memset(card->dm_pages + first, 1, n);
	return first;
}

/* Clear new memory: its last owner's data must not leak. */
static int wipe(uint64_t offset, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, emu_segments.dm_fd,
		       (off_t)offset);

	if (p == MAP_FAILED)
		return -errno;
	memset(p, 0, len);
	munmap(p, len);
	return 0;
}

static int check_request(const struct emu_card *card, uint64_t len, uint64_t log_align)
{
	if (!card->profile->max_dm_size)
		return -EOPNOTSUPP;
	if (!len || (log_align > LOG_LINE && log_align - LOG_LINE > EMU_LOG_MAX_DM_ALIGN))
		return -EINVAL;
	if (len > card->profile->max_dm_size ||
	    rounded(len) + card->dm_withheld > card->profile->max_dm_size - card->dm_used)
		return -ENOMEM;
	return 0;
}

int emu_dm_undo(struct emu_uobj *o)
{
	struct emu_card *card = o->file->func->card;
	struct emu_dm *dm = (struct emu_dm *)o;

	emu_export_revoke(dm->export);
	memset(card->dm_pages + dm->offset % EMU_DM_STRIDE / EMU_PAGE, 0, dm->npages);
	card->dm_used -= rounded(dm->length);
	emu_topology.count.dm_bytes -= dm->length;
	return 0;
}

int emu_dm_take(struct emu_dm *dm, const struct emu_dm_range *in, uint64_t len, uint64_t log_align)
{
	struct emu_card *card = dm->obj.file->func->card;
	int64_t first;
	int err = check_request(card, len, log_align);

	if (err)
		return err;
	first = take_pages(card, in, pages(len));
	if (first < 0)
		return -ENOMEM;
	dm->length = len;
	dm->npages = pages(len);
	dm->offset = EMU_DM_OF_CARD(card->index) + (uint64_t)first * EMU_PAGE;
	card->dm_used += rounded(len);
	emu_topology.count.dm_bytes += len;
	err = wipe(dm->offset, (size_t)dm->npages * EMU_PAGE);
	if (err)
		emu_dm_undo(&dm->obj);
	return err;
}

static int dm_alloc(struct emu_cmd *c)
{
	static const struct emu_dm_range anywhere = {0, UINT32_MAX};
	uint64_t type = emu_attr_u64(c, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, MLX5_IB_UAPI_DM_TYPE_MEMIC);
	uint64_t len = emu_attr_u64(c, UVERBS_ATTR_ALLOC_DM_LENGTH, 0);
	struct emu_dm *dm;
	uint16_t index;
	int err;

	if (type != MLX5_IB_UAPI_DM_TYPE_MEMIC)
		return -EOPNOTSUPP;
	dm = emu_uobj_new(c->file, EMU_T_DM, sizeof(*dm), emu_dm_undo);
	if (!dm)
		return -ENOMEM;
	err = emu_dm_take(dm, &anywhere, len, emu_attr_u64(c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0));
	if (err) {
		emu_uobj_free(&dm->obj);
		return err;
	}
	emu_attr_new(c, UVERBS_ATTR_ALLOC_DM_HANDLE, &dm->obj);
	index = (uint16_t)dm->obj.handle;
	err = emu_attr_out_u64(c, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 0);
	if (!err)
		err = emu_attr_out(c, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &index, sizeof(index));
	return err;
}

static int dm_free(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, UVERBS_ATTR_FREE_DM_HANDLE));
}

static int dm_query(struct emu_cmd *c)
{
	const struct emu_dm *dm = emu_attr_obj(c, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
	uint16_t index = (uint16_t)dm->obj.handle;
	int err;

	err = emu_attr_out_u64(c, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, 0);
	if (!err)
		err = emu_attr_out(c, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &index, sizeof(index));
	return err ? err : emu_attr_out_u64(c, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, dm->length);
}

/*
 * Operations on addresses act on the bus, which shared memory cannot emulate: the card supports
 * none.
 */
static int dm_map_op_addr(struct emu_cmd *c)
{
	(void)c;
	return -EOPNOTSUPP;
}

static const struct emu_field alloc_fields[] = {
	EMU_IN("length", UVERBS_ATTR_ALLOC_DM_LENGTH, 8, EMU_DECIMAL),
	EMU_IN("log_align", UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, EMU_DECIMAL),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_dm[] = {
	{
		.command.name = "dm.create",
		.command.fields = alloc_fields,
		.object = UVERBS_OBJECT_DM,
		.method = UVERBS_METHOD_DM_ALLOC,
		.handler = dm_alloc,
		.attr = {{UVERBS_ATTR_ALLOC_DM_HANDLE, EMU_A_NEW, true, 0},
			 {UVERBS_ATTR_ALLOC_DM_LENGTH, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_ALLOC_DM_ALIGNMENT, EMU_A_VALUE, true, 4},
			 {MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, EMU_A_RESULT, true, 8},
			 {MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, EMU_A_RESULT, false, 2},
			 {MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, EMU_A_VALUE, false, 8}},
	},
	{
		.command.name = "dm.destroy",
		.object = UVERBS_OBJECT_DM,
		.method = UVERBS_METHOD_DM_FREE,
		.handler = dm_free,
		.attr = {{UVERBS_ATTR_FREE_DM_HANDLE, EMU_A_OBJ, true, EMU_T_DM}},
	},
	{
		.command.name = "dm.query",
		.object = UVERBS_OBJECT_DM,
		.method = MLX5_IB_METHOD_DM_QUERY,
		.handler = dm_query,
		.attr = {{MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, EMU_A_OBJ, true, EMU_T_DM},
			 {MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, EMU_A_RESULT, true, 8},
			 {MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, EMU_A_RESULT, true, 2},
			 {MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, EMU_A_RESULT, true, 8}},
	},
	{
		.command.name = "dm.map-op",
		.object = UVERBS_OBJECT_DM,
		.method = MLX5_IB_METHOD_DM_MAP_OP_ADDR,
		.handler = dm_map_op_addr,
		.attr = {{MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, EMU_A_OBJ, true, EMU_T_DM},
			 {MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, EMU_A_VALUE, true, 1},
			 {MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, EMU_A_RESULT, true, 8},
			 {MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, EMU_A_RESULT, true, 2}},
	},
	{.handler = NULL},
};
