/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The methods and the legacy write() commands of the files that have no objects of their own. */
#ifndef EMU_SERVER_UVERBS_HANDLERS_H
#define EMU_SERVER_UVERBS_HANDLERS_H

#include "emu/server/uverbs/method.h"

struct emu_cmd;
struct emu_qp_obj;

/* Contexts: GET_CONTEXT, QUERY_CONTEXT, and the clock page. */
extern const struct emu_method emu_methods_context[];

/* Queries of the device, its port and its GIDs. */
extern const struct emu_method emu_methods_device[];
int emu_write_query_device(struct emu_cmd *c);
int emu_write_query_device_ex(struct emu_cmd *c);

/* Attaching queue pairs to multicast groups. */
int emu_write_attach_mcast(struct emu_cmd *c);
int emu_write_detach_mcast(struct emu_cmd *c);
/* Detach a queue pair that is being destroyed. */
void emu_mcast_leave(struct emu_qp_obj *qp);

/*
 * ADVISE_MR: prefetching pages of on-demand regions. An engine copies through the kernel, which
 * loads missing pages, so every copy may fault; advice only makes that happen earlier. The errors
 * are the driver's (drivers/infiniband/hw/mlx5/mr.c and odp.c).
 */
extern const struct emu_method emu_methods_odp[];

/* INVOKE_WRITE: the legacy write() commands, carried by the ioctl. */
struct emu_write_command {
	struct emu_command command;
	uint32_t number;
	uint16_t in, out; /* least sizes of the core structs */
	int (*handler)(struct emu_cmd *c);
};

/* Ends with a row without a handler. */
extern const struct emu_write_command emu_write_commands[];
extern const struct emu_method emu_methods_write[];

/* Changes of a completion queue: its size, and the moderation of its events. */
int emu_write_resize_cq(struct emu_cmd *c);
int emu_write_modify_cq(struct emu_cmd *c);

#endif
