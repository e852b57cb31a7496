/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Export descriptors: the bytes that an exporter of a memory map sends to an importer.
 *
 * docs/wire-format.md specifies the layout. The codec is freestanding: it needs only memcpy,
 * memset and strlen, allocates no memory and has no state.
 *
 * Thread safety of all functions: callable from any thread. Different threads may use different
 * values and buffers at once.
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

#define DPUMAP_DESC_MAX_SIZE	    512u /* of any descriptor, including extensions */
#define DPUMAP_DESC_PCI_SIZE	    80u	 /* of a PCI export without extensions */
#define DPUMAP_DESC_RDMA_SIZE	    68u	 /* of an RDMA export without extensions */
#define DPUMAP_DESC_UMEM_SIZE	    100u /* of a umem export without extensions */
#define DPUMAP_DESC_ACCESS_KEY_SIZE 32u	 /* an mlx5 cross-function access key */
#define DPUMAP_DESC_TOKEN_SIZE	    32u	 /* maximum length of the token of a umem */
#define DPUMAP_DESC_GID_SIZE	    16u

/*
 * Importers of the kinds: functions of the same card (PCI), peers with a connected queue pair
 * (RDMA), and processes with the device context of the exporter (umem).
 */
#define DPUMAP_DESC_KIND_PCI  1u
#define DPUMAP_DESC_KIND_RDMA 2u
#define DPUMAP_DESC_KIND_UMEM 3u

/* Source of the exported memory. */
#define DPUMAP_DESC_SOURCE_MEMORY	 1u
#define DPUMAP_DESC_SOURCE_DEVICE_MEMORY 2u
#define DPUMAP_DESC_SOURCE_DMABUF	 3u

/*
 * Access permissions, with the values of enum doca_access_flag. A descriptor has at most one
 * PCI_READ_* bit. A PCI export has exactly one of them. An RDMA export has at least one RDMA_*
 * bit.
 */
#define DPUMAP_DESC_ACCESS_LOCAL_READ_WRITE	(1u << 0)
#define DPUMAP_DESC_ACCESS_RDMA_READ		(1u << 1)
#define DPUMAP_DESC_ACCESS_RDMA_WRITE		(1u << 2)
#define DPUMAP_DESC_ACCESS_RDMA_ATOMIC		(1u << 3)
#define DPUMAP_DESC_ACCESS_PCI_READ_ONLY	(1u << 4)
#define DPUMAP_DESC_ACCESS_PCI_READ_WRITE	(1u << 5)
#define DPUMAP_DESC_ACCESS_PCI_RELAXED_ORDERING (1u << 6)
#define DPUMAP_DESC_ACCESS_ALL			0x7fu

/* Not an enum, because its width would depend on the compiler. The values never change. */
typedef int32_t dpumap_desc_status_t;

#define DPUMAP_DESC_OK		     0
#define DPUMAP_DESC_ERR_NULL	     (-1)  /* a required pointer is NULL */
#define DPUMAP_DESC_ERR_BUFFER	     (-2)  /* output buffer too small */
#define DPUMAP_DESC_ERR_TOO_SHORT    (-3)  /* fewer bytes than a header */
#define DPUMAP_DESC_ERR_TOO_LONG     (-4)  /* longer than any descriptor */
#define DPUMAP_DESC_ERR_MAGIC	     (-5)  /* not a descriptor */
#define DPUMAP_DESC_ERR_VERSION	     (-6)  /* major version unknown */
#define DPUMAP_DESC_ERR_TRUNCATED    (-7)  /* fewer bytes than the total length states */
#define DPUMAP_DESC_ERR_TRAILING     (-8)  /* more bytes than the total length states */
#define DPUMAP_DESC_ERR_CHECKSUM     (-9)  /* CRC-32C differs */
#define DPUMAP_DESC_ERR_KIND	     (-10) /* kind unknown */
#define DPUMAP_DESC_ERR_BODY	     (-11) /* total length too small for the fields of the kind */
#define DPUMAP_DESC_ERR_SOURCE	     (-12) /* source unknown */
#define DPUMAP_DESC_ERR_VHCA_ID	     (-13) /* vhca_id is the reserved 0xffff */
#define DPUMAP_DESC_ERR_ACCESS_BITS  (-14) /* undefined access bits */
#define DPUMAP_DESC_ERR_ACCESS_BOTH  (-15) /* PCI read-only and PCI read-write together */
#define DPUMAP_DESC_ERR_ACCESS_NONE  (-16) /* no permission for importers of the kind */
#define DPUMAP_DESC_ERR_DEVICE_GUID  (-17) /* device GUID is 0 */
#define DPUMAP_DESC_ERR_MKEY	     (-18) /* mkey is 0 */
#define DPUMAP_DESC_ERR_LEN	     (-19) /* range is empty */
#define DPUMAP_DESC_ERR_RANGE	     (-20) /* address + length does not fit in 64 bits */
#define DPUMAP_DESC_ERR_ACCESS_KEY   (-21) /* access key of a PCI export is all zero */
#define DPUMAP_DESC_ERR_LINK_LAYER   (-22) /* link layer unknown */
#define DPUMAP_DESC_ERR_LID	     (-23) /* LID is not valid for the port */
#define DPUMAP_DESC_ERR_GID	     (-24) /* GID is not valid for the port */
#define DPUMAP_DESC_ERR_START	     (-25) /* start + length does not fit in 64 bits */
#define DPUMAP_DESC_ERR_PDN	     (-26) /* protection domain number above 24 bits */
#define DPUMAP_DESC_ERR_UMEM_FORM    (-27) /* form of a umem token unknown */
#define DPUMAP_DESC_ERR_TOKEN_LEN    (-28) /* length of a umem token wrong */
#define DPUMAP_DESC_ERR_TOKEN	     (-29) /* bytes after a umem token are not zero */
#define DPUMAP_DESC_ERR_TLV	     (-30) /* extension does not fit */
#define DPUMAP_DESC_ERR_TLV_NUMBER   (-31) /* extension number is 0 */
#define DPUMAP_DESC_ERR_TLV_REPEATED (-32) /* extension occurs twice */
#define DPUMAP_DESC_ERR_TLV_ORDER    (-33) /* extensions not in ascending order */
#define DPUMAP_DESC_ERR_TLV_CRITICAL (-34) /* critical extension unknown */
#define DPUMAP_DESC_ERR_OP	     (-35) /* no operation, or an undefined one */
#define DPUMAP_DESC_ERR_DENIED	     (-36) /* operation not permitted by the descriptor */
#define DPUMAP_DESC_ERR_ALIGNMENT    (-37) /* atomic without 8 bytes at a multiple of 8 */
#define DPUMAP_DESC_ERR_OUTSIDE	     (-38) /* outside the described memory */

/* Form of a umem token: the handle of the kernel (4 bytes), or an export of libmlx5. */
#define DPUMAP_DESC_UMEM_HANDLE	 1u
#define DPUMAP_DESC_UMEM_LIBMLX5 2u

/* Link layer of the port of the exporter, with the values of ibv_port_attr.link_layer. */
#define DPUMAP_DESC_LINK_UNTOLD	    0u
#define DPUMAP_DESC_LINK_INFINIBAND 1u
#define DPUMAP_DESC_LINK_ETHERNET   2u

/* Fields of an RDMA export: the port of the exporter. */
struct dpumap_desc_port {
	uint16_t link_layer;
	uint16_t lid;			   /* InfiniBand only; 0 if there is none */
	uint8_t gid[DPUMAP_DESC_GID_SIZE]; /* network order; zero without link layer */
};

/* Fields of a umem export. */
struct dpumap_desc_umem {
	uint64_t start;	    /* first byte as registered: address or dma-buf offset */
	uint32_t pd_handle; /* kernel handle of a protection domain of the context */
	uint32_t pdn;	    /* number of this protection domain on the device */
	uint16_t form;
	uint16_t token_len;
	uint8_t token[DPUMAP_DESC_TOKEN_SIZE]; /* zero after token_len bytes */
};

struct dpumap_desc {
	uint16_t kind;
	uint16_t source;
	uint32_t access;
	uint64_t device_guid; /* sys_image_guid as a number: be64toh() of the value of verbs */
	uint16_t vhca_id;     /* of the exporting function */
	uint32_t mkey;	      /* rkey of the exporter, including its low byte; id of a umem */
	uint64_t addr;	      /* address of the first byte in the exporter */
	uint64_t len;	      /* in bytes */
	union {		      /* by kind */
		uint8_t access_key[DPUMAP_DESC_ACCESS_KEY_SIZE]; /* PCI; secret */
		struct dpumap_desc_port port;			 /* RDMA */
		struct dpumap_desc_umem umem;
	};
};

/* Operations on the memory; a mask. */
#define DPUMAP_DESC_OP_READ   (1u << 0)
#define DPUMAP_DESC_OP_WRITE  (1u << 1)
#define DPUMAP_DESC_OP_ATOMIC (1u << 2)
#define DPUMAP_DESC_OP_ALL    7u

/*
 * The part of a descriptor that is needed to check accesses. It contains no secret, so it may be
 * kept after the descriptor was wiped. addr + len does not exceed 2^64 - 1.
 */
struct dpumap_desc_window {
	uint64_t addr;
	uint64_t len;
	uint32_t ops; /* permitted operations */
};

/**
 * Get the number of bytes that dpumap_desc_encode() writes.
 *
 * The values are checked in the order of the list below; the first error is returned.
 *
 * @param d the values; not changed
 * @param size out: number of bytes; unchanged on failure
 * @return
 * - DPUMAP_DESC_OK
 * - DPUMAP_DESC_ERR_NULL: an argument is NULL
 * - DPUMAP_DESC_ERR_KIND: the kind is undefined
 * - DPUMAP_DESC_ERR_SOURCE: the source is undefined
 * - DPUMAP_DESC_ERR_VHCA_ID: the vhca_id is 0xffff
 * - DPUMAP_DESC_ERR_ACCESS_BITS: an access bit is undefined
 * - DPUMAP_DESC_ERR_ACCESS_BOTH: both PCI_READ_* bits are set
 * - DPUMAP_DESC_ERR_ACCESS_NONE: a PCI export has no PCI_READ_* bit, or an RDMA export has no
 *   RDMA_* bit
 * - DPUMAP_DESC_ERR_DEVICE_GUID: the device GUID is 0
 * - DPUMAP_DESC_ERR_MKEY: the mkey is 0, except for a umem
 * - DPUMAP_DESC_ERR_LEN: the length is 0
 * - DPUMAP_DESC_ERR_RANGE: addr + len exceeds 2^64 - 1
 * - DPUMAP_DESC_ERR_ACCESS_KEY: in a PCI export, the key is all zero
 * - DPUMAP_DESC_ERR_LINK_LAYER: in an RDMA export, the link layer is undefined
 * - DPUMAP_DESC_ERR_LID: in an RDMA export, the LID exceeds 0xbfff, or is not 0 although the link
 *   layer is not InfiniBand
 * - DPUMAP_DESC_ERR_GID: in an RDMA export, the GID is zero although there is a link layer, or is
 *   not zero although there is none
 * - DPUMAP_DESC_ERR_START: in a umem export, start + len exceeds 2^64 - 1
 * - DPUMAP_DESC_ERR_PDN: in a umem export, the protection domain number exceeds 24 bits
 * - DPUMAP_DESC_ERR_UMEM_FORM: in a umem export, the form is undefined
 * - DPUMAP_DESC_ERR_TOKEN_LEN: in a umem export, the form does not allow the length of the token
 * - DPUMAP_DESC_ERR_TOKEN: in a umem export, a byte after the token is not zero
 */
dpumap_desc_status_t dpumap_desc_encoded_size(const struct dpumap_desc *d, size_t *size);

/**
 * Encode a descriptor. A PCI descriptor contains the access key, so the caller must wipe the
 * buffer after use.
 *
 * @param d the values; not changed
 * @param buf buffer for the descriptor, of any alignment, not overlapping @p d; unchanged on
 *         failure
 * @param buf_len number of bytes at @p buf
 * @param written out: number of bytes of the descriptor; unchanged on failure
 * @return as dpumap_desc_encoded_size(), and
 * - DPUMAP_DESC_ERR_BUFFER: the buffer is too small
 */
dpumap_desc_status_t dpumap_desc_encode(const struct dpumap_desc *d, void *buf, size_t buf_len,
					size_t *written);

/**
 * Decode a descriptor. The bytes may come from an untrusted source. The checks are made in the
 * order of docs/wire-format.md, section 5.
 *
 * @param buf the descriptor, of any alignment; not changed
 * @param len exact number of bytes of the descriptor
 * @param d out: the values, not overlapping @p buf; all zero on failure. The caller wipes them
 *         with dpumap_desc_wipe()
 * @return
 * - DPUMAP_DESC_OK
 * - DPUMAP_DESC_ERR_NULL: an argument is NULL
 * - DPUMAP_DESC_ERR_TOO_SHORT: there are fewer bytes than a header
 * - DPUMAP_DESC_ERR_TOO_LONG: there are longer than any descriptor
 * - DPUMAP_DESC_ERR_MAGIC: the bytes are not a descriptor
 * - DPUMAP_DESC_ERR_VERSION: the major version is unknown
 * - DPUMAP_DESC_ERR_TRUNCATED: there are fewer bytes than the total length states
 * - DPUMAP_DESC_ERR_TRAILING: there are more bytes than the total length states
 * - DPUMAP_DESC_ERR_CHECKSUM: the checksum is wrong
 * - DPUMAP_DESC_ERR_BODY: the total length is too small for the kind
 * - DPUMAP_DESC_ERR_TLV: an extension does not fit
 * - DPUMAP_DESC_ERR_TLV_NUMBER: an extension has the number 0
 * - DPUMAP_DESC_ERR_TLV_REPEATED: an extension occurs twice
 * - DPUMAP_DESC_ERR_TLV_ORDER: the extensions are not in ascending order
 * - DPUMAP_DESC_ERR_TLV_CRITICAL: a critical extension is unknown
 *
 * For invalid values, the function returns the errors of dpumap_desc_encoded_size().
 */
dpumap_desc_status_t dpumap_desc_decode(const void *buf, size_t len, struct dpumap_desc *d);

/**
 * Check a descriptor like dpumap_desc_decode() and find the position of the error.
 *
 * @param buf the bytes, of any alignment; not changed
 * @param len number of bytes
 * @param offset out: offset of the wrong field or extension, as defined in docs/wire-format.md,
 *         section 5; @p len if bytes are missing or the descriptor is valid. Unchanged for
 *         DPUMAP_DESC_ERR_NULL
 * @return as dpumap_desc_decode()
 */
dpumap_desc_status_t dpumap_desc_diagnose(const void *buf, size_t len, size_t *offset);

/**
 * Get the range and the operations that a decoded descriptor permits.
 *
 * @param d the values of dpumap_desc_decode(); not changed
 * @param w out: the window; unchanged on failure
 * @return as dpumap_desc_encoded_size()
 */
dpumap_desc_status_t dpumap_desc_get_window(const struct dpumap_desc *d,
					    struct dpumap_desc_window *w);

/**
 * Check whether a descriptor permits an access. The result describes what the exporter grants; the
 * exporting device enforces it. The checks are made in the order of the list below.
 *
 * @param d the values of dpumap_desc_decode(); not changed
 * @param addr first byte, an address of the exporter; any number
 * @param len number of bytes; any number. An access of 0 bytes is permitted anywhere from the
 *         start of the range to its end
 * @param ops one or more of DPUMAP_DESC_OP_*
 * @return
 * - DPUMAP_DESC_OK
 * - DPUMAP_DESC_ERR_NULL: the descriptor is NULL
 * - DPUMAP_DESC_ERR_OP: no operation is given, or an operation is undefined
 * - DPUMAP_DESC_ERR_DENIED: an operation is not permitted
 * - DPUMAP_DESC_ERR_ALIGNMENT: an atomic operation does not have 8 bytes at a multiple of 8
 * - DPUMAP_DESC_ERR_OUTSIDE: a byte is not in the range
 *
 * For invalid values, the function returns the errors of dpumap_desc_encoded_size(), before
 * DPUMAP_DESC_ERR_OP.
 */
dpumap_desc_status_t dpumap_desc_check_access(const struct dpumap_desc *d, uint64_t addr,
					      uint64_t len, uint32_t ops);

/**
 * Check an access against a window. This is the fast part of dpumap_desc_check_access() for data
 * paths; no arithmetic overflows.
 *
 * @param w the window; not NULL
 * @param addr first byte, an address of the exporter
 * @param len number of bytes
 * @param ops one or more of DPUMAP_DESC_OP_*
 * @return
 * - DPUMAP_DESC_OK
 * - DPUMAP_DESC_ERR_DENIED: an operation is not permitted
 * - DPUMAP_DESC_ERR_OUTSIDE: a byte is not in the window
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
 * Overwrite values with zeros. The compiler cannot remove this write.
 *
 * @param d the values; NULL does nothing
 */
void dpumap_desc_wipe(struct dpumap_desc *d);

/**
 * Get the name of a status without its prefix, for example "MAGIC" for DPUMAP_DESC_ERR_MAGIC.
 *
 * @param status any number
 * @return a static string, never NULL: "UNKNOWN" for an unknown number
 */
const char *dpumap_desc_status_name(dpumap_desc_status_t status);

/**
 * Get a phrase for log messages, without a full stop.
 *
 * @param status any number
 * @return a static string, never NULL, also for an unknown number
 */
const char *dpumap_desc_status_descr(dpumap_desc_status_t status);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
