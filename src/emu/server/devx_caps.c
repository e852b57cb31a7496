/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* QUERY_HCA_CAP: what the functions of a card can do; QUERY_ESW_FUNCTIONS: whom they manage. */
#include <stdio.h>

#include "devx.h"

void emu_prm_fill(uint8_t *page, const struct emu_prm_field *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		emu_prm_set(page, f[i].bit, f[i].width, f[i].value);
}

bool emu_prm_is_zero(const uint8_t *p, const struct emu_prm_range *r, size_t n)
{
	unsigned int bit;
	size_t i;

	for (i = 0; i < n; i++)
		for (bit = r[i].bit; bit < r[i].bit + r[i].width; bit++)
			if (emu_prm_get(p, bit, 1))
				return false;
	return true;
}

/* Powers of two are told: of what lies between, the next one below. */
static uint64_t log_of(uint32_t n)
{
	return 31u - (unsigned int)__builtin_clz(n | 1u);
}

static void general_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_profile *p = f->card->profile;
	const struct emu_prm_field fields[] = {
		{0x20, 1, p->crossing}, /* hca_cap_2 */
		{0x30, 16, f->vhca_id}, /* vhca_id */
		{0x6b, 5, p->log_max_dma_mmo},
		{0x88, 8, 15}, /* log_max_qp_sz */
		{0x9b, 5, log_of(p->max_qp)},
		{0xc8, 8, 22}, /* log_max_cq_sz */
		{0xdb, 5, log_of(p->max_cq)},
		{0xe8, 2, 3},			     /* relaxed_ordering_write, _read */
		{0xea, 6, log_of(p->max_mr)},	     /* log_max_mkey */
		{0x100, 8, 4},			     /* max_indirection */
		{0x108, 1, 1},			     /* fixed_buffer_size: KSM */
		{0x11a, 6, 12},			     /* log_max_klm_list_size */
		{0x122, 1, p->log_max_dma_mmo != 0}, /* qpc_extension */
		{0x14a, 6, 4},			     /* log_max_ra_req_qp */
		{0x15a, 6, 4},			     /* log_max_ra_res_qp */
		{0x170, 16, EMU_GIDS},		     /* gid_table_size */
		{0x1a8, 1, p->max_dm_size != 0},     /* device_memory */
		{0x1b6, 2, 1},			     /* port_type: Ethernet */
		{0x1b8, 8, EMU_PORTS},		     /* num_ports */
		{0x1c3, 5, 30},			     /* log_max_msg */
		{0x1fc, 4, 1},			     /* cqe_version */
		{0x21e, 1, 1},			     /* atomic */
		{0x227, 1, 1},			     /* pg: on-demand paging */
		{0x240, 1, 1},			     /* uar_4k */
		{0x26b, 5, 9},			     /* log_bf_reg_size */
		{0x290, 16, 1024},		     /* max_wqe_sz_sq */
		{0x2b0, 16, 512},		     /* max_wqe_sz_rq */
		{0x350, 16, EMU_MAX_FLOW_COUNTERS},  /* max_flow_counter */
		{0x383, 5, 12},			     /* log_max_rmp */
		{0x5bc, 1, p->max_session != 0},     /* mini_cqe_resp_stride_index */
		{0x5be, 1, p->max_session != 0},     /* cqe_compression_128b */
		{0x5bf, 1, p->max_session != 0},     /* cqe_compression */
		{0x5d0, 16, p->max_session},	     /* cqe_compression_max_num */
		{0x748, 1, p->log_max_dma_mmo != 0}, /* dma_mmo_qp */
	};

	EMU_PRM_FILL(page, fields);
}

static void general_2_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_prm_field fields[] = {
		{EMU_PRM_BYTE(0x1c), 32, 0x100}, /* LOCAL_MKEY_TO_REMOTE_MKEY */
		{EMU_PRM_BYTE(0x20), 64, 0x4},	 /* others may be given access to: MKEY */
	};

	if (f->card->profile->crossing)
		EMU_PRM_FILL(page, fields);
}

static void atomic_caps(const struct emu_func *f, uint8_t *page)
{
	static const struct emu_prm_field fields[] = {
		{0x40, 2, 1},  /* atomic_req_8B_endianness_mode: host order */
		{0x46, 1, 1},  /* supported_mode_1 */
		{0x90, 16, 3}, /* compare and swap, fetch and add */
		{0xb0, 16, 8}, /* atomic_size_qp */
	};

	(void)f;
	EMU_PRM_FILL(page, fields);
}

/* Pages that every device of the family has; ours can do nothing of what they are about. */
static void no_caps(const struct emu_func *f, uint8_t *page)
{
	(void)f;
	(void)page;
}

/* Bits of a transport: send, receive, write, read, atomic, receive through an SRQ. */
static void odp_caps(const struct emu_func *f, uint8_t *page)
{
	static const struct emu_prm_field fields[] = {
		{0x80, 6, 0x3f}, /* RC */
		{0xc0, 6, 0x21}, /* UD */
		{0xe0, 6, 0x2f}, /* XRC: no receive queue of its own */
	};

	(void)f;
	EMU_PRM_FILL(page, fields);
}

static void dm_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_card *card = f->card;
	const struct emu_prm_field fields[] = {
		{0x0, 1, 1},  /* memic */
		{0x2b, 5, 6}, /* log_min_memic_alloc_size */
		{0x38, 8, EMU_LOG_MAX_DM_ALIGN},
		{0x80, 32, card->dm_npages * EMU_PAGE}, /* memic_bar_size */
		{0xa0, 32, card->profile->max_dm_size},
	};

	if (card->profile->max_dm_size)
		EMU_PRM_FILL(page, fields);
}

int emu_devx_query_hca_cap(const struct emu_func *f, struct emu_mbox *m)
{
	static const struct {
		uint16_t cap;
		void (*fill)(const struct emu_func *f, uint8_t *page);
	} pages[] = {
		{EMU_CAP_GENERAL, general_caps},
		{EMU_CAP_ETHERNET, no_caps},
		{EMU_CAP_ODP, odp_caps},
		{EMU_CAP_ATOMIC, atomic_caps},
		{EMU_CAP_FLOW_TABLE, no_caps},
		{EMU_CAP_ESWITCH_FLOW_TABLE, no_caps},
		{EMU_CAP_ESWITCH, no_caps},
		{EMU_CAP_QOS, no_caps},
		{EMU_CAP_DEVICE_MEMORY, dm_caps},
		{EMU_CAP_CRYPTO, no_caps},
		{EMU_CAP_GENERAL_2, general_2_caps},
	};
	static const struct emu_prm_range reserved[] = {{0x40, 64}}; /* other_function, its id */
	size_t i;

	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x9);
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (pages[i].cap != m->op_mod >> 1)
			continue;
		pages[i].fill(f, m->out + EMU_MBOX_HDR);
		return 0;
	}
	return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x1);
}

static const struct emu_func *host_of(const struct emu_func *dpu)
{
	unsigned int i;

	for (i = 0; i < emu.nfuncs; i++)
		if (emu.func[i].card == dpu->card && emu.func[i].kind == EMU_FUNC_HOST)
			return &emu.func[i];
	return NULL;
}

/* Only the DPU's CPU manages functions: the host's, by its address on the host's PCIe. */
int emu_devx_query_esw_functions(const struct emu_func *f, struct emu_mbox *m)
{
	const struct emu_func *host = f->kind == EMU_FUNC_DPU ? host_of(f) : NULL;
	unsigned int domain, bus, device, function;

	if (!host || sscanf(host->pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0x42);
	const struct emu_prm_field fields[] = {
		{0x0e, 1, 1}, /* host_pf_vhca_id_valid */
		{0x30, 16, bus},    {0x40, 16, host->vhca_id},
		{0x50, 16, device}, {0x70, 16, function},
	};

	EMU_PRM_FILL(m->out + EMU_MBOX_HDR, fields);
	return 0;
}
