/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/dmah.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "emu/server/card/topology.h"
#include "emu/server/uverbs/cmd.h"

#define MEM_TYPES 2u   /* volatile and persistent memory */
#define PH_MASK	  0x3u /* PCIe has two bits */

/* The processor must exist, and the process may run there. */
static int check_cpu(const struct emu_cmd *c)
{
	const uint64_t cpu = emu_attr_u64(c, EMU_UVERBS_ATTR_ALLOC_DMAH_CPU_ID, 0);
	cpu_set_t allowed;

	if (!emu_attr(c, EMU_UVERBS_ATTR_ALLOC_DMAH_CPU_ID))
		return 0;
	if (cpu >= (uint64_t)sysconf(_SC_NPROCESSORS_CONF) || cpu >= CPU_SETSIZE)
		return -EINVAL;
	return sched_getaffinity(c->chan->pid, sizeof(allowed), &allowed) ||
			       CPU_ISSET(cpu, &allowed)
		       ? 0
		       : -EPERM;
}

/* mlx5_ib_alloc_dmah(): there is a hint, and its target has both parts or none. */
static int check_request(const struct emu_cmd *c)
{
	const bool has_cpu = emu_attr(c, EMU_UVERBS_ATTR_ALLOC_DMAH_CPU_ID);
	const bool has_type = emu_attr(c, EMU_UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE);
	int err = check_cpu(c);

	if (err)
		return err;
	if (!emu_attr(c, EMU_UVERBS_ATTR_ALLOC_DMAH_PH) ||
	    emu_attr_u64(c, EMU_UVERBS_ATTR_ALLOC_DMAH_PH, 0) & ~(uint64_t)PH_MASK)
		return -EINVAL;
	return has_cpu != has_type ? -EINVAL : 0;
}

static int dmah_alloc(struct emu_cmd *c)
{
	struct emu_dmah *d;
	int err;

	if (!c->file->func->card->profile->tph)
		return -EOPNOTSUPP;
	err = check_request(c);
	if (err)
		return err;
	d = emu_uobj_new(c->file, EMU_T_DMAH, sizeof(*d), NULL);
	if (!d)
		return -ENOMEM;
	emu_attr_new(c, EMU_UVERBS_ATTR_ALLOC_DMAH_HANDLE, &d->obj);
	return 0;
}

static int dmah_free(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, EMU_UVERBS_ATTR_FREE_DMA_HANDLE));
}

static const struct emu_field alloc_fields[] = {
	EMU_IN("cpu", EMU_UVERBS_ATTR_ALLOC_DMAH_CPU_ID, 4, EMU_DECIMAL),
	EMU_IN("ph", EMU_UVERBS_ATTR_ALLOC_DMAH_PH, 1, EMU_DECIMAL),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_dmah[] = {
	{
		.command.name = "dmah.create",
		.command.fields = alloc_fields,
		.object = EMU_UVERBS_OBJECT_DMAH,
		.method = EMU_UVERBS_METHOD_DMAH_ALLOC,
		.handler = dmah_alloc,
		.attr = {{EMU_UVERBS_ATTR_ALLOC_DMAH_HANDLE, EMU_A_NEW, true, 0},
			 {EMU_UVERBS_ATTR_ALLOC_DMAH_CPU_ID, EMU_A_VALUE, false, 4},
			 {EMU_UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, EMU_A_ENUM, false, MEM_TYPES},
			 {EMU_UVERBS_ATTR_ALLOC_DMAH_PH, EMU_A_VALUE, false, 1}},
	},
	{
		.command.name = "dmah.destroy",
		.object = EMU_UVERBS_OBJECT_DMAH,
		.method = EMU_UVERBS_METHOD_DMAH_FREE,
		.handler = dmah_free,
		.attr = {{EMU_UVERBS_ATTR_FREE_DMA_HANDLE, EMU_A_OBJ, true, EMU_T_DMAH}},
	},
	{.handler = NULL},
};
