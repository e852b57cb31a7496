/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Export descriptors: the bytes that carry a memory map from its exporter to an importer.
 *
 * The layout is specified in docs/wire-format.md. The codec is freestanding: it needs memcpy,
 * memset and strlen, allocates nothing and keeps no state.
 *
 * Thread safety of all functions: callable from any thread, for different values and buffers at
 * once.
 */
#ifndef DPUMAP_DESC_H
#define DPUMAP_DESC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define DPUMAP_DESC_MAX_SIZE	    512u /* of any descriptor, extensions included */
#define DPUMAP_DESC_PCI_SIZE	    80u	 /* of a PCI export without extensions */
#define DPUMAP_DESC_RDMA_SIZE	    68u	 /* of an RDMA export without extensions */
#define DPUMAP_DESC_UMEM_SIZE	    100u /* of a umem export without extensions */
#define DPUMAP_DESC_ACCESS_KEY_SIZE 32u	 /* an mlx5 cross-function access key */
#define DPUMAP_DESC_TOKEN_SIZE	    32u	 /* room for what names a umem */
#define DPUMAP_DESC_GID_SIZE	    16u

/*
 * Who may import: functions of the same card, peers with a connected queue pair, or processes that
 * hold the exporter's own device context.
 */
#define DPUMAP_DESC_KIND_PCI  1u
#define DPUMAP_DESC_KIND_RDMA 2u
#define DPUMAP_DESC_KIND_UMEM 3u

/* What the exported bytes are made of. */
#define DPUMAP_DESC_SOURCE_MEMORY	 1u
#define DPUMAP_DESC_SOURCE_DEVICE_MEMORY 2u
#define DPUMAP_DESC_SOURCE_DMABUF	 3u

/*
 * Access rights; the values of enum doca_access_flag. At most one of PCI_READ_*; a PCI export has
 * one of them, an RDMA export at least one of RDMA_*.
 */
#define DPUMAP_DESC_ACCESS_LOCAL_READ_WRITE	(1u << 0)
#define DPUMAP_DESC_ACCESS_RDMA_READ		(1u << 1)
#define DPUMAP_DESC_ACCESS_RDMA_WRITE		(1u << 2)
#define DPUMAP_DESC_ACCESS_RDMA_ATOMIC		(1u << 3)
#define DPUMAP_DESC_ACCESS_PCI_READ_ONLY	(1u << 4)
#define DPUMAP_DESC_ACCESS_PCI_READ_WRITE	(1u << 5)
#define DPUMAP_DESC_ACCESS_PCI_RELAXED_ORDERING (1u << 6)
#define DPUMAP_DESC_ACCESS_ALL			0x7fu

/* Not an enum: the width must not depend on the compiler. Values never change meaning. */
typedef int32_t dpumap_desc_status_t;

#define DPUMAP_DESC_OK		     0
#define DPUMAP_DESC_ERR_NULL	     (-1)  /* a required pointer is NULL */
#define DPUMAP_DESC_ERR_BUFFER	     (-2)  /* output buffer too small */
#define DPUMAP_DESC_ERR_TOO_SHORT    (-3)  /* fewer bytes than a header */
#define DPUMAP_DESC_ERR_TOO_LONG     (-4)  /* more bytes than any descriptor has */
#define DPUMAP_DESC_ERR_MAGIC	     (-5)  /* not a descriptor */
#define DPUMAP_DESC_ERR_VERSION	     (-6)  /* major version unknown */
#define DPUMAP_DESC_ERR_TRUNCATED    (-7)  /* fewer bytes than the total length says */
#define DPUMAP_DESC_ERR_TRAILING     (-8)  /* more bytes than the total length says */
#define DPUMAP_DESC_ERR_CHECKSUM     (-9)  /* CRC-32C differs */
#define DPUMAP_DESC_ERR_KIND	     (-10) /* kind unknown */
#define DPUMAP_DESC_ERR_BODY	     (-11) /* total length too small for the fields of the kind */
#define DPUMAP_DESC_ERR_SOURCE	     (-12) /* source unknown */
#define DPUMAP_DESC_ERR_VHCA_ID	     (-13) /* vhca_id is the reserved 0xffff */
#define DPUMAP_DESC_ERR_ACCESS_BITS  (-14) /* undefined access bits */
#define DPUMAP_DESC_ERR_ACCESS_BOTH  (-15) /* PCI read-only and PCI read-write together */
#define DPUMAP_DESC_ERR_ACCESS_NONE  (-16) /* nothing is permitted to the importers of the kind */
#define DPUMAP_DESC_ERR_DEVICE_GUID  (-17) /* device GUID is 0 */
#define DPUMAP_DESC_ERR_MKEY	     (-18) /* mkey is 0 */
#define DPUMAP_DESC_ERR_LEN	     (-19) /* range is empty */
#define DPUMAP_DESC_ERR_RANGE	     (-20) /* address + length does not fit in 64 bits */
#define DPUMAP_DESC_ERR_ACCESS_KEY   (-21) /* access key of a PCI export is all zero */
#define DPUMAP_DESC_ERR_LINK_LAYER   (-22) /* link layer unknown */
#define DPUMAP_DESC_ERR_LID	     (-23) /* no LID that such a port can have */
#define DPUMAP_DESC_ERR_GID	     (-24) /* no GID that such a port can have */
#define DPUMAP_DESC_ERR_START	     (-25) /* start + length does not fit in 64 bits */
#define DPUMAP_DESC_ERR_PDN	     (-26) /* protection domain number above 24 bits */
#define DPUMAP_DESC_ERR_UMEM_FORM    (-27) /* form of a umem's token unknown */
#define DPUMAP_DESC_ERR_TOKEN_LEN    (-28) /* length of a umem's token wrong */
#define DPUMAP_DESC_ERR_TOKEN	     (-29) /* bytes behind a umem's token are not zero */
#define DPUMAP_DESC_ERR_TLV	     (-30) /* extension does not fit */
#define DPUMAP_DESC_ERR_TLV_NUMBER   (-31) /* extension number is 0 */
#define DPUMAP_DESC_ERR_TLV_REPEATED (-32) /* extension occurs twice */
#define DPUMAP_DESC_ERR_TLV_ORDER    (-33) /* extensions not in ascending order */
#define DPUMAP_DESC_ERR_TLV_CRITICAL (-34) /* critical extension unknown */
#define DPUMAP_DESC_ERR_OP	     (-35) /* no operation that can be checked */
#define DPUMAP_DESC_ERR_DENIED	     (-36) /* operation not permitted by the descriptor */
#define DPUMAP_DESC_ERR_ALIGNMENT    (-37) /* atomic not of 8 bytes at a multiple of 8 */
#define DPUMAP_DESC_ERR_OUTSIDE	     (-38) /* outside of the described memory */

/* What the token of a umem is: the kernel's handle (4 bytes), or what libmlx5 exports. */
#define DPUMAP_DESC_UMEM_HANDLE	 1u
#define DPUMAP_DESC_UMEM_LIBMLX5 2u

/* The port of the exporter that peers connect to; the values of enum ibv_port_attr.link_layer. */
#define DPUMAP_DESC_LINK_UNTOLD	    0u
#define DPUMAP_DESC_LINK_INFINIBAND 1u
#define DPUMAP_DESC_LINK_ETHERNET   2u

/* What an RDMA export has in addition. */
struct dpumap_desc_port {
	uint16_t link_layer;
	uint16_t lid;			   /* InfiniBand; 0 where there is none */
	uint8_t gid[DPUMAP_DESC_GID_SIZE]; /* network order; zero only if nothing is told */
};

/* What a umem export has in addition. */
struct dpumap_desc_umem {
	uint64_t start;	    /* of the first byte as it was registered: address or dma-buf offset */
	uint32_t pd_handle; /* a protection domain of the exporter's context: the kernel's handle */
	uint32_t pdn;	    /* and the device's number, which only that context finds under it */
	uint16_t form;
	uint16_t token_len;
	uint8_t token[DPUMAP_DESC_TOKEN_SIZE]; /* zero from token_len on */
};

struct dpumap_desc {
	uint16_t kind;
	uint16_t source;
	uint32_t access;
	uint64_t device_guid; /* sys_image_guid as a number, i.e. be64toh() of what verbs report */
	uint16_t vhca_id;     /* of the exporting function */
	uint32_t mkey; /* the exporter's memory key (an rkey), low byte included; umem: its id */
	uint64_t addr; /* the exporter's address of the first byte */
	uint64_t len;  /* in bytes */
	union {	       /* by kind */
		uint8_t access_key[DPUMAP_DESC_ACCESS_KEY_SIZE]; /* PCI; secret */
		struct dpumap_desc_port port;			 /* RDMA */
		struct dpumap_desc_umem umem;
	};
};

/* What is done to the memory, as bits. */
#define DPUMAP_DESC_OP_READ   (1u << 0)
#define DPUMAP_DESC_OP_WRITE  (1u << 1)
#define DPUMAP_DESC_OP_ATOMIC (1u << 2)
#define DPUMAP_DESC_OP_ALL    7u

/*
 * What of a descriptor is needed to judge accesses: no secret, so it may be kept when the
 * descriptor is wiped. addr + len does not exceed 2^64 - 1.
 */
struct dpumap_desc_window {
	uint64_t addr;
	uint64_t len;
	uint32_t ops; /* those permitted */
};

/**
 * How many bytes dpumap_desc_encode() needs.
 *
 * @param d the values; not changed
 * @param size out: bytes; untouched on failure
 * @return DPUMAP_DESC_OK, DPUMAP_DESC_ERR_NULL for a NULL argument, and for values that no
 *         descriptor may have the first of these, in this order:
 *         DPUMAP_DESC_ERR_KIND or DPUMAP_DESC_ERR_SOURCE for an undefined number,
 *         DPUMAP_DESC_ERR_VHCA_ID for 0xffff,
 *         DPUMAP_DESC_ERR_ACCESS_BITS for an undefined access bit,
 *         DPUMAP_DESC_ERR_ACCESS_BOTH for both PCI_READ_* bits,
 *         DPUMAP_DESC_ERR_ACCESS_NONE for a PCI export without one of them and an RDMA export
 *         without an RDMA_* bit,
 *         DPUMAP_DESC_ERR_DEVICE_GUID, DPUMAP_DESC_ERR_MKEY or DPUMAP_DESC_ERR_LEN for a 0 (a
 *         umem's number may be 0),
 *         DPUMAP_DESC_ERR_RANGE when addr + len exceeds 2^64 - 1;
 *         of a PCI export DPUMAP_DESC_ERR_ACCESS_KEY for a key of zeros;
 *         of an RDMA export DPUMAP_DESC_ERR_LINK_LAYER for an undefined number,
 *         DPUMAP_DESC_ERR_LID for one above 0xbfff or without InfiniBand,
 *         DPUMAP_DESC_ERR_GID for zeros with a link layer or anything else without one;
 *         of a umem DPUMAP_DESC_ERR_START when start + len exceeds 2^64 - 1,
 *         DPUMAP_DESC_ERR_PDN for a number above 24 bits, DPUMAP_DESC_ERR_UMEM_FORM for an
 *         undefined form, DPUMAP_DESC_ERR_TOKEN_LEN for a length that the form does not have,
 *         DPUMAP_DESC_ERR_TOKEN for a byte beyond it that is not zero
 */
dpumap_desc_status_t dpumap_desc_encoded_size(const struct dpumap_desc *d, size_t *size);

/**
 * Write a descriptor. It holds the access key: the caller wipes it.
 *
 * @param d the values; not changed
 * @param buf where to, not overlapping @p d; of any alignment. Untouched on failure
 * @param buf_len bytes of room at @p buf
 * @param written out: bytes of the descriptor; untouched on failure
 * @return DPUMAP_DESC_OK, DPUMAP_DESC_ERR_NULL for a NULL argument,
 *         DPUMAP_DESC_ERR_BUFFER when the room does not suffice, and for values that no descriptor
 *         may have those of dpumap_desc_encoded_size()
 */
dpumap_desc_status_t dpumap_desc_encode(const struct dpumap_desc *d, void *buf, size_t buf_len,
					size_t *written);

/**
 * Read a descriptor. The bytes may come from anybody.
 *
 * @param buf the descriptor; of any alignment, not changed
 * @param len its bytes, no more and no less
 * @param d out: the values, not overlapping @p buf; all zero on failure. The caller wipes them with
 *        dpumap_desc_wipe()
 * @return DPUMAP_DESC_OK, DPUMAP_DESC_ERR_NULL for a NULL argument, and for bytes that are no
 *         descriptor, in the order of docs/wire-format.md, section 5:
 *         DPUMAP_DESC_ERR_TOO_SHORT, DPUMAP_DESC_ERR_TOO_LONG, DPUMAP_DESC_ERR_TRUNCATED,
 *         DPUMAP_DESC_ERR_TRAILING or DPUMAP_DESC_ERR_BODY when their number is wrong,
 *         DPUMAP_DESC_ERR_MAGIC or DPUMAP_DESC_ERR_VERSION when they are something else,
 *         DPUMAP_DESC_ERR_CHECKSUM when they are damaged,
 *         DPUMAP_DESC_ERR_TLV, DPUMAP_DESC_ERR_TLV_NUMBER, DPUMAP_DESC_ERR_TLV_REPEATED,
 *         DPUMAP_DESC_ERR_TLV_ORDER or DPUMAP_DESC_ERR_TLV_CRITICAL for an extension that cannot be
 *         skipped, and for values that no descriptor may have those of dpumap_desc_encoded_size()
 */
dpumap_desc_status_t dpumap_desc_decode(const void *buf, size_t len, struct dpumap_desc *d);

/**
 * The same judgement, and where: for people who look at a descriptor that is refused.
 *
 * @param buf bytes from anybody, of any alignment, not changed
 * @param len how many
 * @param offset out: of the field or extension that is wrong, as docs/wire-format.md, section 5,
 *        says; @p len itself where bytes are missing and for a descriptor that is good. Untouched
 *        with DPUMAP_DESC_ERR_NULL
 * @return DPUMAP_DESC_OK, DPUMAP_DESC_ERR_NULL for a NULL argument, and for bytes that are no
 *         descriptor what dpumap_desc_decode() returns
 */
dpumap_desc_status_t dpumap_desc_diagnose(const void *buf, size_t len, size_t *offset);

/**
 * What a decoded descriptor permits its importers, and where.
 *
 * @param d the values, as dpumap_desc_decode() gave them; not changed
 * @param w out: the window
 * @return DPUMAP_DESC_OK, DPUMAP_DESC_ERR_NULL for a NULL argument, and for values that no
 *         descriptor may have those of dpumap_desc_encoded_size(); then @p w is untouched
 */
dpumap_desc_status_t dpumap_desc_get_window(const struct dpumap_desc *d,
					    struct dpumap_desc_window *w);

/**
 * May these bytes be accessed? Says what the exporter grants; the exporting device enforces it.
 *
 * @param d the values, as dpumap_desc_decode() gave them; not changed
 * @param addr first byte as the exporter names it; any number
 * @param len bytes; any number. None may be accessed from the range's beginning up to its end
 * @param ops one or more of DPUMAP_DESC_OP_*
 * @return DPUMAP_DESC_OK, DPUMAP_DESC_ERR_NULL for NULL, for values that no descriptor may have
 *         those of dpumap_desc_encoded_size(), and then the first of these:
 *         DPUMAP_DESC_ERR_OP for no or an undefined operation,
 *         DPUMAP_DESC_ERR_DENIED for one that is not permitted,
 *         DPUMAP_DESC_ERR_ALIGNMENT for an atomic that is not of 8 bytes at a multiple of 8,
 *         DPUMAP_DESC_ERR_OUTSIDE unless all bytes are in the range
 */
dpumap_desc_status_t dpumap_desc_check_access(const struct dpumap_desc *d, uint64_t addr,
					      uint64_t len, uint32_t ops);

/**
 * The part of that check which data paths repeat: a few instructions, nothing overflows.
 *
 * @param w the window; not NULL
 * @param addr first byte
 * @param len bytes
 * @param ops of DPUMAP_DESC_OP_*
 * @return DPUMAP_DESC_OK,
 *         DPUMAP_DESC_ERR_DENIED for an operation that is not permitted,
 *         DPUMAP_DESC_ERR_OUTSIDE unless all bytes are in the window
 */
static inline dpumap_desc_status_t dpumap_desc_window_check(const struct dpumap_desc_window *w,
							    uint64_t addr, uint64_t len,
							    uint32_t ops)
{
	/* The window does not wrap, so an address below it gives an offset beyond it. */
	const uint64_t offset = addr - w->addr;

	if (ops & ~w->ops)
		return DPUMAP_DESC_ERR_DENIED;
	if (offset > w->len || len > w->len - offset)
		return DPUMAP_DESC_ERR_OUTSIDE;
	return DPUMAP_DESC_OK;
}

/**
 * Overwrite values with zeros in a way that the compiler may not drop.
 *
 * @param d the values; NULL does nothing
 */
void dpumap_desc_wipe(struct dpumap_desc *d);

/**
 * The name of a status without its prefix: "MAGIC" for DPUMAP_DESC_ERR_MAGIC.
 *
 * @param status any number
 * @return a static string, never NULL: "UNKNOWN" for a number that is no status
 */
const char *dpumap_desc_status_name(dpumap_desc_status_t status);

/**
 * A phrase for a log line, without a full stop.
 *
 * @param status any number
 * @return a static string, never NULL, also for a number that is no status
 */
const char *dpumap_desc_status_descr(dpumap_desc_status_t status);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
