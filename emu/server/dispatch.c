/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/serve.h"

#include <errno.h>

#include "emu/ipc/firmware.h"
#include "emu/server/admin/fault.h"
#include "emu/server/admin/trace.h"
#include "emu/server/commands.h"

/* Before GET_CONTEXT a file accepts only that and the probe of INVOKE_WRITE. */
static bool context_missing(const struct emu_cmd *c)
{
	if (c->method->object == EMU_OBJECT_FUNCTION)
		return false;
	return !c->file->has_context && !(c->method->object == UVERBS_OBJECT_DEVICE &&
					  (c->method->method == UVERBS_METHOD_GET_CONTEXT ||
					   c->method->method == UVERBS_METHOD_INVOKE_WRITE));
}

static int load(struct emu_cmd *c, uint64_t uhdr)
{
	int err = emu_cmd_read_header(c, uhdr);

	if (err)
		return err;
	c->method = emu_method_find(c->object_id, c->method_id);
	if (!c->method)
		return -EPROTONOSUPPORT;
	err = emu_cmd_read_attrs(c);
	return !err && context_missing(c) ? -EINVAL : err;
}

static int execute(struct emu_cmd *c)
{
	int err = emu_fault_command(c), copied;

	if (!err)
		err = c->method->handler(c);
	if (err == -EPROTONOSUPPORT)
		err = -EINVAL; /* means "no such method" to the library, so no handler may return it */
	if (!err || err == -EREMOTEIO) {
		copied = emu_cmd_write_outs(c);
		if (copied && !err)
			err = copied;
	}
	if (err && c->created)
		emu_uobj_destroy((struct emu_uobj *)c->created);
	return err;
}

int emu_ioctl(struct emu_cmd *c, uint64_t uhdr)
{
	int err = load(c, uhdr);

	if (err)
		return err;
	emu_trace_begin(c);
	err = execute(c);
	if (c->first) { /* the client sends it again */
		emu_fault_uncount();
	} else {
		emu_cmd_counts.done++;
		emu_cmd_counts.failed += err && !c->answer;
	}
	emu_trace_end(c, err);
	emu_cmd_free_outs(c);
	return err;
}
