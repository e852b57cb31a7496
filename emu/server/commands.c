/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/commands.h"

#include <string.h>

#include "base/array.h"
#include "emu/server/admin/fault.h"
#include "emu/server/devx/methods.h"
#include "emu/server/firmware/commands.h"
#include "emu/server/firmware/firmware.h"
#include "emu/server/uverbs/ah.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/dm.h"
#include "emu/server/uverbs/dmah.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/export.h"
#include "emu/server/uverbs/handlers.h"
#include "emu/server/uverbs/mr.h"
#include "emu/server/uverbs/mw.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/srq.h"
#include "emu/server/uverbs/uar.h"
#include "emu/server/uverbs/xrc.h"

#define COLUMNS 78

static const struct emu_method *const tables[] = {
	emu_methods_context,  emu_methods_device, emu_methods_write,  emu_methods_pd,
	emu_methods_mr,	      emu_methods_odp,	  emu_methods_mw,     emu_methods_dm,
	emu_methods_events,   emu_methods_uar,	  emu_methods_cq,     emu_methods_qp,
	emu_methods_srq,      emu_methods_xrc,	  emu_methods_ah,     emu_methods_devx,
	emu_methods_function, emu_methods_dmah,	  emu_methods_export,
};

#define NTABLES ARRAY_SIZE(tables)

const struct emu_method *emu_method_find(uint16_t object, uint16_t method)
{
	for (size_t i = 0; i < NTABLES; i++)
		for (const struct emu_method *m = tables[i]; m->handler; m++)
			if (m->object == object && m->method == method)
				return m;
	return NULL;
}

/* Call `visit` with each name, until it returns true. */
static bool visit_names(bool (*visit)(const char *name, void *arg), void *arg)
{
	for (size_t i = 0; i < NTABLES; i++)
		for (const struct emu_method *m = tables[i]; m->handler; m++)
			if (m->command.name && visit(m->command.name, arg))
				return true;
	for (const struct emu_write_command *w = emu_write_commands; w->handler; w++)
		if (visit(w->command.name, arg))
			return true;
	for (const struct emu_firmware_command *f = emu_firmware_commands; f->handler; f++)
		if (f->command.name && visit(f->command.name, arg))
			return true;
	return visit(EMU_NAME_MMAP, arg);
}

static bool matches(const char *name, void *pattern)
{
	return emu_fault_matches(pattern, name);
}

bool emu_command_known(const char *pattern)
{
	return visit_names(matches, (void *)(uintptr_t)pattern);
}

/* Names in lines; the two queries of a GID, for example, have one name. */
struct list {
	FILE *out;
	const char *last;
	size_t column;
};

static bool print(const char *name, void *arg)
{
	struct list *l = arg;

	if (!strcmp(name, l->last))
		return false;
	if (!l->column || l->column + 1 + strlen(name) > COLUMNS)
		l->column = (size_t)fprintf(l->out, l->column ? "\n    %s" : "    %s", name);
	else
		l->column += (size_t)fprintf(l->out, " %s", name);
	l->last = name;
	return false;
}

void emu_command_names(FILE *out)
{
	struct list l = {out, "", 0};

	visit_names(print, &l);
	fputc('\n', out);
}
