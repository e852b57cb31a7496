/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * For check-round-trip.sh: each function decodes the bytes of a descriptor of one kind and encodes the values. It
 * returns 0 if the bytes differ. 1 means that they are equal or that the descriptor is refused.
 *
 * The checksum may be any function of its bytes, and the check of values any function of these values: both are
 * functions without a body, whose arguments are all bytes and all values.
 */
#include "desc/check.h"
#include "desc/cursor.h"
#include "desc/layout.h"

#define CONST		 __attribute__((const))
#define WORDS_OF_KEY(at) load_u64(at), load_u64((at) + 8), load_u64((at) + 16), load_u64((at) + 24)
#define COMMON_OF(d)                                                                               \
	(d)->kind, (d)->source, (d)->access, (d)->device_guid, (d)->vhca_id, (d)->mkey, (d)->addr, \
		(d)->len

CONST uint32_t any_checksum(size_t len, uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3,
			    uint64_t w4, uint64_t w5, uint64_t w6, uint64_t w7, uint64_t w8,
			    uint64_t w9, uint64_t w10, uint32_t last);
CONST dpumap_desc_status_t any_pci(uint16_t kind, uint16_t source, uint32_t access, uint64_t guid,
				   uint16_t vhca_id, uint32_t mkey, uint64_t addr, uint64_t len,
				   uint64_t k0, uint64_t k1, uint64_t k2, uint64_t k3);
CONST dpumap_desc_status_t any_rdma(uint16_t kind, uint16_t source, uint32_t access, uint64_t guid,
				    uint16_t vhca_id, uint32_t mkey, uint64_t addr, uint64_t len,
				    uint16_t link_layer, uint16_t lid, uint64_t g0, uint64_t g1);
CONST dpumap_desc_status_t any_umem(uint16_t kind, uint16_t source, uint32_t access, uint64_t guid,
				    uint16_t vhca_id, uint32_t mkey, uint64_t addr, uint64_t len,
				    uint64_t start, uint32_t pd_handle, uint32_t pdn, uint16_t form,
				    uint16_t token_len, uint64_t t0, uint64_t t1, uint64_t t2,
				    uint64_t t3);

/* The sizes without the first CRC_END bytes are 60, 72 and 92; the last 4 bytes are an argument in any case. */
static inline uint32_t checksum(const uint8_t *b, size_t len)
{
	return any_checksum(len, load_u64(b), load_u64(b + 8), load_u64(b + 16), load_u64(b + 24),
			    load_u64(b + 32), load_u64(b + 40), load_u64(b + 48),
			    len < 64 ? 0 : load_u64(b + 56), len < 72 ? 0 : load_u64(b + 64),
			    len < 80 ? 0 : load_u64(b + 72), len < 88 ? 0 : load_u64(b + 80),
			    load_u32(b + len - 4));
}

static inline dpumap_desc_status_t check(const struct dpumap_desc *d)
{
	const struct dpumap_desc_umem *u = &d->umem;

	if (d->kind == DPUMAP_DESC_KIND_PCI)
		return any_pci(COMMON_OF(d), WORDS_OF_KEY(d->access_key));
	if (d->kind == DPUMAP_DESC_KIND_RDMA)
		return any_rdma(COMMON_OF(d), d->port.link_layer, d->port.lid,
				load_u64(d->port.gid), load_u64(d->port.gid + 8));
	return any_umem(COMMON_OF(d), u->start, u->pd_handle, u->pdn, u->form, u->token_len,
			WORDS_OF_KEY(u->token));
}

#define dpumap_desc_checksum(buf, len) checksum((buf) + CRC_END, (len)-CRC_END)
#define dpumap_desc_check	       check
#define dpumap_desc_wipe(d)	       ((void)(d))
#include "desc/decode.c"
#include "desc/encode.c"

/* The branches begin with the kind, so that the compiler knows it in all that follows. */
static inline int is_accepted(const uint8_t *buf, uint16_t kind, size_t size, struct dpumap_desc *d)
{
	return load_u16(buf + KIND_OFFSET) == kind && buf[MINOR_OFFSET] == VERSION_MINOR &&
	       dpumap_desc_decode(buf, size, d) == DPUMAP_DESC_OK;
}

static inline int round_trip(const uint8_t *buf, uint16_t kind, size_t size)
{
	uint8_t out[DPUMAP_DESC_UMEM_SIZE];
	struct dpumap_desc d;
	size_t written = 0;
	int same = 1;

	if (!is_accepted(buf, kind, size, &d))
		return 1;
	if (dpumap_desc_encode(&d, out, size, &written) != DPUMAP_DESC_OK || written != size)
		return 0;
	for (size_t i = 0; i < size; i++)
		same &= out[i] == buf[i];
	return same;
}

/* With the second function of each pair, the check shows that bytes are accepted at all. */
#define DRIVERS(name, kind, size)                         \
	int proof_##name(const uint8_t *buf)              \
	{                                                 \
		return round_trip(buf, kind, size);       \
	}                                                 \
	int refused_##name(const uint8_t *buf)            \
	{                                                 \
		struct dpumap_desc d;                     \
                                                          \
		return !is_accepted(buf, kind, size, &d); \
	}

DRIVERS(pci, DPUMAP_DESC_KIND_PCI, DPUMAP_DESC_PCI_SIZE)
DRIVERS(rdma, DPUMAP_DESC_KIND_RDMA, DPUMAP_DESC_RDMA_SIZE)
DRIVERS(umem, DPUMAP_DESC_KIND_UMEM, DPUMAP_DESC_UMEM_SIZE)
