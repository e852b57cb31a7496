/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Export descriptors: the bytes that carry a memory map from its exporter to an importer.
 *
 * The layout is specified in docs/wire-format.md. The codec is freestanding: it needs memcpy and
 * memset, allocates nothing, keeps no state and is safe to call from any thread.
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
#define DPUMAP_DESC_ACCESS_KEY_SIZE 32u	 /* an mlx5 cross-function access key */

/* What the descriptor describes. */
#define DPUMAP_DESC_KIND_PCI 1u

/* What the exported bytes are made of. */
#define DPUMAP_DESC_SOURCE_MEMORY	 1u
#define DPUMAP_DESC_SOURCE_DEVICE_MEMORY 2u

/* Access rights; the values of enum doca_access_flag. A PCI export has exactly one of PCI_READ_*.
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
#define DPUMAP_DESC_ERR_ACCESS_NONE  (-15) /* neither PCI read-only nor PCI read-write */
#define DPUMAP_DESC_ERR_DEVICE_GUID  (-16) /* device GUID is 0 */
#define DPUMAP_DESC_ERR_VHCA_ID	     (-17) /* vhca_id is the reserved 0xffff */
#define DPUMAP_DESC_ERR_MKEY	     (-18) /* mkey is 0 */
#define DPUMAP_DESC_ERR_LEN	     (-19) /* range is empty */
#define DPUMAP_DESC_ERR_RANGE	     (-20) /* address + length does not fit in 64 bits */
#define DPUMAP_DESC_ERR_ACCESS_KEY   (-21) /* access key is all zero */
#define DPUMAP_DESC_ERR_TLV	     (-22) /* extension malformed */
#define DPUMAP_DESC_ERR_TLV_ORDER    (-23) /* extensions not in ascending order */
#define DPUMAP_DESC_ERR_TLV_REPEATED (-24) /* extension occurs twice */
#define DPUMAP_DESC_ERR_TLV_CRITICAL (-25) /* critical extension unknown */
#define DPUMAP_DESC_ERR_BUFFER	     (-26) /* output buffer too small */

struct dpumap_desc {
	uint16_t kind;
	uint16_t source;
	uint32_t access;
	uint64_t device_guid; /* sys_image_guid as a number, i.e. be64toh() of what verbs report */
	uint16_t vhca_id;     /* of the exporting function */
	uint32_t mkey;	      /* as the exporter's device knows it, low byte included */
	uint64_t addr;	      /* the exporter's address of the first byte */
	uint64_t len;	      /* in bytes */
	uint8_t access_key[DPUMAP_DESC_ACCESS_KEY_SIZE]; /* secret */
};

/*
 * Bytes that dpumap_desc_encode() needs for d. Refuses what encoding would refuse; *size is
 * written only on success.
 */
dpumap_desc_status_t dpumap_desc_encoded_size(const struct dpumap_desc *d, size_t *size);

/*
 * Write d to buf, which must not overlap it. On failure neither buf nor *written is touched. The
 * result holds the access key: the caller wipes it.
 */
dpumap_desc_status_t dpumap_desc_encode(const struct dpumap_desc *d, void *buf, size_t buf_len,
					size_t *written);

/*
 * Read exactly len bytes into d, which must not overlap buf. The bytes may come from anybody. On
 * failure *d is all zero; on success the caller wipes it with dpumap_desc_wipe().
 */
dpumap_desc_status_t dpumap_desc_decode(const void *buf, size_t len, struct dpumap_desc *d);

/* Zero *d in a way the compiler may not drop. NULL is allowed. */
void dpumap_desc_wipe(struct dpumap_desc *d);

/* The constant's name; "DPUMAP_DESC_ERR_UNKNOWN" for a value that is none. Never NULL. */
const char *dpumap_desc_status_name(dpumap_desc_status_t status);

/* A phrase for a log line, lower case, without a full stop. Never NULL. */
const char *dpumap_desc_status_descr(dpumap_desc_status_t status);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
