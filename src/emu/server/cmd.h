/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Commands: one row for each uverbs method with the attributes that it knows, and its handler.
 * The framing rules are those of the kernel's uverbs_ioctl.c.
 */
#ifndef EMU_CMD_H
#define EMU_CMD_H

#include "uobj.h"

#define EMU_MAX_ATTRS	 32
#define EMU_DM_MMAP_CMD	 8u /* MLX5_IB_MMAP_DEVICE_MEM */
#define EMU_ATTR_MAX_LEN 65535

enum emu_attr_kind {
	EMU_A_END, /* of a method's list */
	EMU_A_IN,  /* bytes in, at least `min` */
	EMU_A_OUT, /* bytes out */
	EMU_A_OBJ, /* handle of an object of type `min` */
	EMU_A_NEW, /* handle of the object that the command makes */
	EMU_A_FD,  /* number of a descriptor */
	EMU_A_NEWFD,
};

struct emu_attr_spec {
	uint16_t id;
	uint8_t kind;
	bool mandatory;
	uint16_t min;
};

struct emu_cmd;

struct emu_method {
	uint16_t object, method;
	int (*handler)(struct emu_cmd *c);
	struct emu_attr_spec attr[16];
};

struct emu_out {
	unsigned int attr;
	size_t len;
	void *data;
};

struct emu_cmd {
	struct emu_chan *chan;
	struct emu_file *file;
	const struct emu_method *method;
	const uint8_t *head; /* what the client sent of its header and attributes */
	size_t head_len;
	uint64_t uattrs; /* the client's array */
	struct ib_uverbs_attr attr[EMU_MAX_ATTRS];
	unsigned int nattrs;
	struct emu_out out[EMU_MAX_ATTRS];
	unsigned int nouts;
	int fd;		  /* to hand to the client, or -1 */
	uint64_t fd_addr; /* where its number goes, and how wide */
	uint32_t fd_width;
	const struct emu_uobj *created;
	unsigned int created_attr;
	bool need_engine; /* the process must start its engine, then ask again */
};

/* The attribute, or NULL if the caller left it out. */
const struct ib_uverbs_attr *emu_attr(const struct emu_cmd *c, uint16_t id);
/* An input of at most 8 bytes (zero-extended), or `def` if it was left out. */
uint64_t emu_attr_u64(const struct emu_cmd *c, uint16_t id, uint64_t def);
/* Copy an input to a struct: a longer one must end in zeros (-EOPNOTSUPP), a shorter one is
 * zero-filled. */
int emu_attr_in(const struct emu_cmd *c, uint16_t id, void *buf, size_t len);
/* Copy a whole input of any length: malloc'ed, with its length. */
int emu_attr_in_dup(const struct emu_cmd *c, uint16_t id, uint8_t **buf, size_t *len);
/* The object that an attribute names (its type was checked), or NULL if left out. */
void *emu_attr_obj(const struct emu_cmd *c, uint16_t id);
/* Prepare an output (copied now, written when the command succeeded). An absent attribute is no
 * error. */
int emu_attr_out(struct emu_cmd *c, uint16_t id, const void *buf, size_t len);
int emu_attr_out_u32(struct emu_cmd *c, uint16_t id, uint32_t v);
int emu_attr_out_u64(struct emu_cmd *c, uint16_t id, uint64_t v);
/* Announce the new object's handle. */
void emu_attr_new(struct emu_cmd *c, uint16_t id, const struct emu_uobj *o);
/* Hand descriptor `fd` (consumed) to the client and its number to attribute `id`. */
int emu_cmd_give_fd(struct emu_cmd *c, uint16_t id, int fd);
size_t emu_attr_len(const struct emu_cmd *c, uint16_t id);

/* Execute the ioctl whose header is at `hdr` in the client. Returns 0 or a negative errno. */
int emu_ioctl(struct emu_cmd *c, uint64_t hdr);

/* The byte offset by which a client maps an object's pages. */
uint64_t emu_mmap_offset(uint32_t cmd, uint32_t index);

extern const struct emu_method emu_methods_device[], emu_methods_mr[], emu_methods_dm[],
	emu_methods_queue[], emu_methods_devx[], emu_methods_mw[], emu_methods_odp[],
	emu_methods_srq[], emu_methods_ah[];

/* INVOKE_WRITE: the legacy commands. */
int emu_invoke_write(struct emu_cmd *c);
int emu_write_query_device(struct emu_cmd *c);
int emu_write_query_device_ex(struct emu_cmd *c);
int emu_write_alloc_pd(struct emu_cmd *c);
int emu_write_reg_mr(struct emu_cmd *c);
int emu_write_rereg_mr(struct emu_cmd *c);
int emu_write_alloc_mw(struct emu_cmd *c);
int emu_write_comp_channel(struct emu_cmd *c);
int emu_write_modify_qp(struct emu_cmd *c);
int emu_write_query_qp(struct emu_cmd *c);
int emu_write_modify_srq(struct emu_cmd *c);
int emu_write_query_srq(struct emu_cmd *c);
int emu_write_open_xrcd(struct emu_cmd *c);
int emu_write_open_qp(struct emu_cmd *c);
int emu_write_create_ah(struct emu_cmd *c);
int emu_write_resize_cq(struct emu_cmd *c);
int emu_write_modify_cq(struct emu_cmd *c);

/* Shared between command rooms. */
/* Hold the dma-buf that an attribute names, whose bytes [offset, offset + len) must exist. */
int emu_dmabuf_open(const struct emu_cmd *c, uint16_t id, uint64_t offset, uint64_t len,
		    struct emu_dmabuf *d);
#define EMU_MAC_BYTES 6
/* The MAC address of the neighbour with this GID; -ETIMEDOUT if there is none. */
int emu_resolve(const uint8_t dgid[16], uint8_t mac[EMU_MAC_BYTES]);
/* Before a queue pair goes: what was posted is sent, if that does not take long. */
void emu_let_send(const struct emu_cmd *c, const struct emu_qp *q);
/* Rings begin at a line that the firmware can address: 0, or -EINVAL. */
int emu_check_ring(uint64_t addr);
/* Lock a queue's memory; what was locked before an error stays in `pins`. */
int emu_pin_queue(const struct emu_cmd *c, uint64_t ring, uint64_t len, uint64_t dbr,
		  struct emu_queue_pins *pins);
/* Is it a doorbell page of this file? */
bool emu_has_uar(const struct emu_file *f, uint64_t page);
/* The slot of the calling process's engine; without one the shim starts it and asks again. */
int emu_engine_of(struct emu_cmd *c, uint32_t *slot);
/* The async file that an attribute names, or else the first one of the command file. */
struct emu_events *emu_async_of(const struct emu_cmd *c, uint16_t attr);
/* Make an event file and hand it to the client; `*e` (if not NULL) is the server's end. */
int emu_give_events(struct emu_cmd *c, enum emu_events_kind kind, uint16_t attr,
		    struct emu_events **e);
/* The event file behind a client's descriptor number, or NULL. */
struct emu_events *emu_events_find(const struct emu_cmd *c, int64_t fd, enum emu_events_kind kind);
/*
 * What an mmap of a command file means: returns the segment's descriptor (the server's) and the
 * offset in it, or a negative errno.
 */
int emu_mmap(struct emu_file *f, uint64_t offset, uint64_t len, uint64_t *off);
/* Of a QP that was seen in state `from`; -EINVAL if it is not in that state any more. */
int emu_qp_set_state(struct emu_qp *q, uint32_t from, uint32_t to);
void emu_query_device_fill(const struct emu_func *f, struct ib_uverbs_query_device_resp *r);

#endif
