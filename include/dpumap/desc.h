/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Export descriptors: the bytes that carry a memory map from its exporter to an importer.
 *
 * The layout is specified in docs/wire-format.md. The codec is freestanding: it needs memcpy and
 * memset, allocates nothing and keeps no state.
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
#define DPUMAP_DESC_PCI_SIZE	    88u	 /* of a PCI export without extensions */
#define DPUMAP_DESC_RDMA_SIZE	    56u	 /* of an RDMA export without extensions */
#define DPUMAP_DESC_UMEM_SIZE	    108u /* of a umem export without extensions */
#define DPUMAP_DESC_ACCESS_KEY_SIZE 32u	 /* an mlx5 cross-function access key */

#define DPUMAP_DESC_TOKEN_SIZE	    32u /* room for what names a umem */

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
#define DPUMAP_DESC_ERR_TOO_SHORT    (-2)  /* fewer bytes than a header */
#define DPUMAP_DESC_ERR_TOO_LONG     (-3)  /* more bytes than any descriptor has */
#define DPUMAP_DESC_ERR_MAGIC	     (-4)  /* not a descriptor */
#define DPUMAP_DESC_ERR_VERSION	     (-5)  /* major version unknown */
#define DPUMAP_DESC_ERR_TRUNCATED    (-6)  /* fewer bytes than the total length says */
#define DPUMAP_DESC_ERR_TRAILING     (-7)  /* more bytes than the total length says */
#define DPUMAP_DESC_ERR_CHECKSUM     (-8)  /* CRC-32C differs */
#define DPUMAP_DESC_ERR_KIND	     (-9)  /* kind unknown */
#define DPUMAP_DESC_ERR_BODY	     (-10) /* total length too small for the fields of the kind */
#define DPUMAP_DESC_ERR_RESERVED     (-11) /* reserved bytes are not zero */
#define DPUMAP_DESC_ERR_SOURCE	     (-12) /* source unknown */
#define DPUMAP_DESC_ERR_ACCESS_BITS  (-13) /* undefined access bits */
#define DPUMAP_DESC_ERR_ACCESS_BOTH  (-14) /* PCI read-only and PCI read-write together */
#define DPUMAP_DESC_ERR_ACCESS_NONE  (-15) /* nothing is permitted to the importers of the kind */
#define DPUMAP_DESC_ERR_DEVICE_GUID  (-16) /* device GUID is 0 */
#define DPUMAP_DESC_ERR_VHCA_ID	     (-17) /* vhca_id is the reserved 0xffff */
#define DPUMAP_DESC_ERR_MKEY	     (-18) /* mkey is 0 */
#define DPUMAP_DESC_ERR_LEN	     (-19) /* range is empty */
#define DPUMAP_DESC_ERR_RANGE	     (-20) /* address + length does not fit in 64 bits */
#define DPUMAP_DESC_ERR_ACCESS_KEY   (-21) /* access key of a PCI export is all zero */
#define DPUMAP_DESC_ERR_TLV	     (-22) /* extension malformed */
#define DPUMAP_DESC_ERR_TLV_ORDER    (-23) /* extensions not in ascending order */
#define DPUMAP_DESC_ERR_TLV_REPEATED (-24) /* extension occurs twice */
#define DPUMAP_DESC_ERR_TLV_CRITICAL (-25) /* critical extension unknown */
#define DPUMAP_DESC_ERR_BUFFER	     (-26) /* output buffer too small */
#define DPUMAP_DESC_ERR_KEY_UNUSED   (-27) /* access key given to a kind that has none */
#define DPUMAP_DESC_ERR_PDN	     (-28) /* protection domain number above 24 bits */
#define DPUMAP_DESC_ERR_UMEM_FORM    (-29) /* form of a umem's token unknown */
#define DPUMAP_DESC_ERR_UMEM_TOKEN   (-30) /* token's length wrong, or bytes beyond it not zero */
#define DPUMAP_DESC_ERR_UMEM_UNUSED  (-31) /* fields of a umem given to another kind */

/* What the token of a umem is: the kernel's handle (4 bytes), or what libmlx5 exports. */
#define DPUMAP_DESC_UMEM_HANDLE	 1u
#define DPUMAP_DESC_UMEM_LIBMLX5 2u

/* What a umem export has in addition; all zero in every other kind. */
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
	uint8_t access_key[DPUMAP_DESC_ACCESS_KEY_SIZE]; /* secret; all zero but in a PCI export */
	struct dpumap_desc_umem umem;
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
 *         DPUMAP_DESC_ERR_RANGE when addr + len exceeds 2^64 - 1,
 *         DPUMAP_DESC_ERR_ACCESS_KEY for a PCI export with an access key of zeros,
 *         DPUMAP_DESC_ERR_KEY_UNUSED for another kind with any other,
 *         and of the fields of a umem DPUMAP_DESC_ERR_UMEM_UNUSED in another kind,
 *         DPUMAP_DESC_ERR_RANGE when start + len exceeds 2^64 - 1,
 *         DPUMAP_DESC_ERR_PDN for a number above 24 bits, DPUMAP_DESC_ERR_UMEM_FORM for an
 *         undefined form, DPUMAP_DESC_ERR_UMEM_TOKEN for a length that the form does not have or
 *         a byte beyond it
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
 *         DPUMAP_DESC_ERR_RESERVED when reserved bytes are not zero,
 *         DPUMAP_DESC_ERR_TLV, DPUMAP_DESC_ERR_TLV_REPEATED, DPUMAP_DESC_ERR_TLV_ORDER or
 *         DPUMAP_DESC_ERR_TLV_CRITICAL for an extension that cannot be skipped, and for values that
 *         no descriptor may have those of dpumap_desc_encoded_size()
 */
dpumap_desc_status_t dpumap_desc_decode(const void *buf, size_t len, struct dpumap_desc *d);

/**
 * Overwrite values with zeros in a way that the compiler may not drop.
 *
 * @param d the values; NULL does nothing
 */
void dpumap_desc_wipe(struct dpumap_desc *d);

/**
 * The name of a status, for example "DPUMAP_DESC_ERR_MAGIC".
 *
 * @param status any number
 * @return a static string, never NULL: "DPUMAP_DESC_ERR_UNKNOWN" for a number that is no status
 */
const char *dpumap_desc_status_name(dpumap_desc_status_t status);

/**
 * A phrase for a log line, lower case, without a full stop. The wording is not an interface.
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
