/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A command while it is executed: its attributes, and the answer that it prepares. */
#ifndef EMU_CMD_H
#define EMU_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/ipc/proto.h"
#include "emu/server/uverbs/abi.h"
#include "emu/server/uverbs/file.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

#define EMU_MAX_ATTRS 32
/* Most commands have few attributes: these are read together with the header. */
#define EMU_FEW_ATTRS 8

struct emu_out {
	unsigned int attr;
	size_t len;
	void *data;
};

struct emu_cmd {
	struct emu_chan *chan;
	struct emu_file *file;
	const struct emu_method *method;
	const uint8_t *head; /* the header and attributes, as far as they are here */
	size_t head_len;
	uint64_t uattrs; /* the client's array */
	uint16_t object_id, method_id, num_attrs;
	struct ib_uverbs_attr attr[EMU_MAX_ATTRS];
	unsigned int nattrs;
	struct emu_out out[EMU_MAX_ATTRS];
	unsigned int nouts;
	int fd;		  /* to pass to the client, or -1 */
	uint64_t fd_addr; /* where its number goes, and how wide it is */
	uint32_t fd_width;
	const struct emu_uobj *created;
	unsigned int created_attr;
	const char *
		answer; /* of a question that the error answers, which then is no failure; or NULL */
	bool again;	/* it was sent again after EMU_REPLY_LET_SEND */
	uint64_t mapped; /* where the process has mapped what EMU_REPLY_MAP wanted, or 0 */
	/* EMU_REPLY_ENGINE, _LET_SEND or _MAP: what the process does first, to send the command again. */
	uint32_t first;
	uint32_t first_qpn;
	struct emu_map first_map;
	uint64_t unmap, unmap_len; /* what the process unmaps when the command has succeeded */
	uint8_t fetched[sizeof(struct ib_uverbs_ioctl_hdr) +
			EMU_FEW_ATTRS * sizeof(struct ib_uverbs_attr)];
};

/* How many commands were executed, and how many of them failed. An error that answers a question, such
 * as whether a GID is in use, is not a failure. */
struct emu_cmd_counts {
	uint64_t done, failed;
};

extern struct emu_cmd_counts emu_cmd_counts;

/* Read and check the header, which is at `uhdr` in the client. The rules are uverbs_ioctl.c's. */
int emu_cmd_read_header(struct emu_cmd *c, uint64_t uhdr);
/* Read the attributes and check them against c->method. */
int emu_cmd_read_attrs(struct emu_cmd *c);
/* Write the prepared outputs to the client. */
int emu_cmd_write_outs(struct emu_cmd *c);
void emu_cmd_free_outs(struct emu_cmd *c);

/* The command that is executed: the method's own, or the one in its payload. */
const struct emu_command *emu_cmd_command(const struct emu_cmd *c);

/* The attribute, or NULL if the caller omitted it. */
const struct ib_uverbs_attr *emu_attr(const struct emu_cmd *c, uint16_t id);
size_t emu_attr_len(const struct emu_cmd *c, uint16_t id);
/* An input of at most 8 bytes (zero-extended), or `def` if it was omitted. */
uint64_t emu_attr_u64(const struct emu_cmd *c, uint16_t id, uint64_t def);
/*
 * The number of a descriptor, which the library writes in 4 or in 8 bytes, or as a descriptor of no
 * length. INT64_MIN if the attribute is longer than that.
 */
int64_t emu_attr_fd(const struct emu_cmd *c, uint16_t id);
/*
 * Copy an input to a struct. The rest of a longer input must be zeros (-EOPNOTSUPP); a shorter
 * input is zero-filled.
 */
int emu_attr_in(const struct emu_cmd *c, uint16_t id, void *buf, size_t len);
/* Copy a whole input of any length; the caller frees it. */
int emu_attr_in_dup(const struct emu_cmd *c, uint16_t id, uint8_t **buf, size_t *len);
/* The object that an attribute names (its type was checked), or NULL if omitted. */
void *emu_attr_obj(const struct emu_cmd *c, uint16_t id);
/* What the driver knows of its part; it does not look behind it. */
int emu_attr_in_known(const struct emu_cmd *c, uint16_t id, void *buf, size_t len);
/* An object that the payload names. Returns -ENOENT if it does not exist, and -EINVAL if it is of another type. */
int emu_cmd_obj(const struct emu_cmd *c, uint32_t handle, enum emu_type type, void *obj);
/* The driver's part of the answer, which needs room. */
int emu_attr_out_driver(struct emu_cmd *c, const void *buf, size_t len);
/*
 * Prepare an output: copied now, written when the command has succeeded. An omitted attribute is
 * not an error.
 */
int emu_attr_out(struct emu_cmd *c, uint16_t id, const void *buf, size_t len);
int emu_attr_out_u32(struct emu_cmd *c, uint16_t id, uint32_t v);
int emu_attr_out_u64(struct emu_cmd *c, uint16_t id, uint64_t v);
/* Announce the new object's handle. */
void emu_attr_new(struct emu_cmd *c, uint16_t id, const struct emu_uobj *o);
/* Pass descriptor `fd` (consumed) to the client and its number to attribute `id`. */
int emu_cmd_give_fd(struct emu_cmd *c, uint16_t id, int fd);

#endif
