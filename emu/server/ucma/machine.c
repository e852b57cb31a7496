/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/ucma/machine.h"

#include <string.h>

#include "emu/server/card/topology.h"
#include "emu/server/cm/link.h"
#include "emu/server/ucma/connect.h"

static struct emu_cma_machine machines[EMU_MAX_FUNCS];
static unsigned int nmachines;

static uint64_t guid(void *ctx, const struct emu_func *port)
{
	(void)ctx;
	return port->node_guid;
}

struct emu_cma_machine *emu_cma_machine_of(const char *role)
{
	static const struct emu_cm_ops ops = {
		.listens = emu_cma_listens,
		.event = emu_cma_event,
		.guid = guid,
	};
	struct emu_cma_machine *m;

	for (unsigned int i = 0; i < nmachines; i++)
		if (!strcmp(machines[i].role, role))
			return &machines[i];
	if (nmachines == EMU_MAX_FUNCS)
		return NULL;
	m = &machines[nmachines];
	m->cm = emu_cm_link_create(role, &ops, m);
	if (!m->cm)
		return NULL;
	m->role = role;
	nmachines++;
	return m;
}

struct emu_cma_machine *emu_cma_machine_next(const struct emu_cma_machine *m)
{
	size_t i = m ? (size_t)(m - machines) + 1 : 0;

	return i < nmachines ? &machines[i] : NULL;
}
