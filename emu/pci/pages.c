/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/pages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/bytes.h"
#include "emu/prm/prm_cmd.h"
#include "emu/prm/prm_cq.h"
#include "emu/prm/prm_eq.h"
#include "emu/prm/prm_hca.h"
#include "emu/prm/prm_mkey.h"
#include "emu/prm/prm_qp.h"
#include "emu/prm/prm_rmp.h"
#include "emu/prm/prm_srq.h"
#include "emu/prm/prm_umem.h"

#define LIST	     0x110u /* where the pages begin, in all these commands */
#define PAGE_SHIFT   12u
#define LOG_PARTS    6u /* of a page, which page_offset counts */
#define WQE_SHIFT    4u /* log_rq_stride counts from 16 bytes */
#define MAX_LOG_PAGE 31u

/* --- how large a queue is --------------------------------------------------------------------- */

#define CQC(field)  EMU_PRM_IN(EMU_CREATE_CQ_IN_CQC, field)
#define EQC(field)  EMU_PRM_IN(EMU_CREATE_EQ_IN_EQC, field)
#define QPC(field)  EMU_PRM_IN(EMU_CREATE_QP_IN_QPC, field)
#define SRQC(field) EMU_PRM_IN(EMU_CREATE_XRC_SRQ_IN_CTX, field)
#define WQ(field)   EMU_PRM_IN(EMU_PRM_IN(EMU_CREATE_RMP_IN_RMPC, EMU_RMPC_WQ), field)
#define MKC(field)  EMU_PRM_IN(EMU_CREATE_MKEY_IN_MKC, field)

static uint64_t cq_bytes(const uint8_t *in)
{
	const unsigned int log_cqe = emu_prm_get(in, CQC(EMU_CQC_CQE_SZ)) == EMU_CQE_SZ_64 ? 6 : 7;

	return 1ull << (log_cqe + emu_prm_get(in, CQC(EMU_CQC_LOG_CQ_SIZE)));
}

static uint64_t eq_bytes(const uint8_t *in)
{
	return 64ull << emu_prm_get(in, EQC(EMU_EQC_LOG_EQ_SIZE));
}

static uint64_t qp_bytes(const uint8_t *in)
{
	uint64_t bytes = 0;

	if (!emu_prm_get(in, QPC(EMU_QPC_NO_SQ)))
		bytes = 64ull << emu_prm_get(in, QPC(EMU_QPC_LOG_SQ_SIZE));
	if (emu_prm_get(in, QPC(EMU_QPC_RQ_TYPE)) == EMU_QPC_RQ_TYPE_REGULAR)
		bytes += 1ull << (emu_prm_get(in, QPC(EMU_QPC_LOG_RQ_STRIDE)) + WQE_SHIFT +
				  emu_prm_get(in, QPC(EMU_QPC_LOG_RQ_SIZE)));
	return bytes;
}

static uint64_t srq_bytes(const uint8_t *in)
{
	return 1ull << (emu_prm_get(in, SRQC(EMU_XRC_SRQC_LOG_RQ_STRIDE)) + WQE_SHIFT +
			emu_prm_get(in, SRQC(EMU_XRC_SRQC_LOG_SRQ_SIZE)));
}

static uint64_t wq_bytes(const uint8_t *in)
{
	return 1ull << (emu_prm_get(in, WQ(EMU_WQ_LOG_STRIDE)) +
			emu_prm_get(in, WQ(EMU_WQ_LOG_SIZE)));
}

/* --- commands with a page list ---------------------------------------------------------------- */

#define WQ_FIELDS                                                                                \
	WQ(EMU_WQ_LOG_PG_SZ), WQ(EMU_WQ_PAGE_OFFSET), WQ(EMU_WQ_UMEM_VALID), WQ(EMU_WQ_UMEM_ID), \
		WQ(EMU_WQ_UMEM_OFFSET), WQ(EMU_WQ_DBR_UMEM_VALID), WQ(EMU_WQ_DBR_UMEM_ID),       \
		WQ(EMU_WQ_DBR_ADDR)
#define DBR_BYTES 8
#define NONE	  0 /* no field: 0 is that of the opcode */

/* The fields of a queue's command. The kernel sets what is "valid" for a program, whose umems stay. */
static const struct layout {
	uint64_t (*bytes)(const uint8_t *in);
	uint16_t opcode;
	bool written; /* by the card */
	int log_page_size, page_offset;
	int umem_valid, umem_id, umem_offset;
	int dbr_umem_valid, dbr_umem_id, dbr_addr;
} layouts[] = {
	{cq_bytes, EMU_CMD_CREATE_CQ, true, CQC(EMU_CQC_LOG_PAGE_SIZE), CQC(EMU_CQC_PAGE_OFFSET),
	 EMU_CREATE_CQ_IN_CQ_UMEM_VALID, EMU_CREATE_CQ_IN_CQ_UMEM_ID,
	 EMU_CREATE_CQ_IN_CQ_UMEM_OFFSET, CQC(EMU_CQC_DBR_UMEM_VALID), CQC(EMU_CQC_DBR_UMEM_ID),
	 CQC(EMU_CQC_DBR_ADDR)},
	{cq_bytes, EMU_CMD_MODIFY_CQ, true, CQC(EMU_CQC_LOG_PAGE_SIZE), CQC(EMU_CQC_PAGE_OFFSET),
	 EMU_MODIFY_CQ_IN_CQ_UMEM_VALID, EMU_MODIFY_CQ_IN_CQ_UMEM_ID,
	 EMU_MODIFY_CQ_IN_CQ_UMEM_OFFSET, NONE, NONE, NONE},
	{eq_bytes, EMU_CMD_CREATE_EQ, true, EQC(EMU_EQC_LOG_PAGE_SIZE), EQC(EMU_EQC_PAGE_OFFSET),
	 NONE, NONE, NONE, NONE, NONE, NONE},
	{qp_bytes, EMU_CMD_CREATE_QP, false, QPC(EMU_QPC_LOG_PAGE_SIZE), QPC(EMU_QPC_PAGE_OFFSET),
	 EMU_CREATE_QP_IN_WQ_UMEM_VALID, EMU_CREATE_QP_IN_WQ_UMEM_ID,
	 EMU_CREATE_QP_IN_WQ_UMEM_OFFSET, QPC(EMU_QPC_DBR_UMEM_VALID), QPC(EMU_QPC_DBR_UMEM_ID),
	 QPC(EMU_QPC_DBR_ADDR)},
	{srq_bytes, EMU_CMD_CREATE_XRC_SRQ, false, SRQC(EMU_XRC_SRQC_LOG_PAGE_SIZE),
	 SRQC(EMU_XRC_SRQC_PAGE_OFFSET), NONE, EMU_CREATE_XRC_SRQ_IN_UMEM_ID,
	 EMU_CREATE_XRC_SRQ_IN_UMEM_OFFSET, NONE, EMU_CREATE_XRC_SRQ_IN_DBR_UMEM_ID,
	 SRQC(EMU_XRC_SRQC_DB_RECORD_ADDR)},
	{wq_bytes, EMU_CMD_CREATE_SQ, false, WQ_FIELDS},
	{wq_bytes, EMU_CMD_CREATE_RMP, false, WQ_FIELDS},
};

static const struct layout *find(const uint8_t *in)
{
	const uint64_t opcode = emu_prm_get(in, EMU_CMD_IN_OPCODE);

	if (opcode == EMU_CMD_MODIFY_CQ &&
	    emu_prm_get(in, EMU_CMD_IN_OP_MOD) != EMU_MODIFY_CQ_RESIZE)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].opcode == opcode)
			return &layouts[i];
	return NULL;
}

/* A view of the first `npages` pages of a list; their lowest bits are flags, or reserved. */
static int view_of_list(const struct emu_pages_of *of, const uint8_t *list, size_t bytes,
			uint64_t npages, unsigned int log_page, bool write, struct emu_pages *pages)
{
	const uint64_t mask = ~((1ull << PAGE_SHIFT) - 1);
	uint64_t *page;
	int err;

	if (log_page > MAX_LOG_PAGE || !npages || npages > bytes / 8)
		return EINVAL;
	page = calloc(npages, sizeof(*page));
	if (!page)
		return ENOMEM;
	for (uint64_t i = 0; i < npages; i++)
		page[i] = emu_get64(list + i * 8) & mask;
	err = emu_guest_view_create(of->guest, page, npages, 1ull << log_page, write, &pages->view);
	free(page);
	return err;
}

static int view_of(const struct emu_pages_of *of, const uint8_t *in, size_t in_len, uint64_t npages,
		   unsigned int log_page, bool write, struct emu_pages *pages)
{
	return view_of_list(of, in + LIST, in_len - LIST, npages, log_page, write, pages);
}

/* The memory of a view is a umem of its own, or a part of the guest's space. */
static int name_view(const struct emu_pages_of *of, struct emu_pages *pages, uint64_t len,
		     uint32_t *umem, uint64_t *offset)
{
	const uint64_t at = emu_guest_view_at(pages->view), base = emu_guest_base(of->guest);

	if (at - base < EMU_GUEST_SPACE) {
		*umem = of->space;
		*offset = at - base;
		return 0;
	}
	pages->umem = emu_fw_memory(of->firmware, at, len);
	*umem = pages->umem;
	*offset = 0;
	return pages->umem ? 0 : ENOMEM;
}

/* --- queues ----------------------------------------------------------------------------------- */

static bool is_set(const uint8_t *in, int field)
{
	return field != NONE && emu_prm_get(in, field);
}

static int replace_ring(const struct emu_pages_of *of, const struct layout *l, uint8_t *in,
			size_t in_len, struct emu_pages *pages)
{
	const unsigned int log_page = (unsigned int)emu_prm_get(in, l->log_page_size) + PAGE_SHIFT;
	const uint64_t first = emu_prm_get(in, l->page_offset) << (log_page - LOG_PARTS);
	const uint64_t bytes = l->bytes(in);
	const uint64_t npages = (first + bytes + (1ull << log_page) - 1) >> log_page;
	uint64_t offset;
	uint32_t umem;
	int err;

	if (!bytes)
		return 0;
	err = view_of(of, in, in_len, npages, log_page, l->written, pages);
	if (err || l->umem_id == NONE)
		return err || !first ? err : EINVAL; /* event queues begin with a page */
	err = name_view(of, pages, npages << log_page, &umem, &offset);
	if (err)
		return err;
	emu_prm_set(in, l->umem_id, umem);
	emu_prm_set(in, l->umem_offset, offset + first);
	return 0;
}

static int replace_record(const struct emu_pages_of *of, const struct layout *l, uint8_t *in)
{
	if (l->dbr_umem_id == NONE || is_set(in, l->dbr_umem_valid))
		return 0;
	if (!emu_guest_at(of->guest, emu_prm_get(in, l->dbr_addr), DBR_BYTES, true))
		return EINVAL;
	emu_prm_set(in, l->dbr_umem_id, of->space);
	return 0;
}

static int replace_queue(const struct emu_pages_of *of, const struct layout *l, uint8_t *in,
			 size_t *in_len, struct emu_pages *pages)
{
	if (!is_set(in, l->umem_valid)) {
		int err = replace_ring(of, l, in, *in_len, pages);

		if (err)
			return err;
		*in_len = LIST;
	}
	return replace_record(of, l, in);
}

/* --- mkeys ------------------------------------------------------------------------------------ */

static bool is_writable(const uint8_t *in)
{
	return emu_prm_get(in, MKC(EMU_MKC_LW)) || emu_prm_get(in, MKC(EMU_MKC_RW)) ||
	       emu_prm_get(in, MKC(EMU_MKC_A));
}

static int replace_mkey(const struct emu_pages_of *of, uint8_t *in, size_t *in_len,
			struct emu_pages *pages)
{
	const uint64_t mode = emu_prm_get(in, MKC(EMU_MKC_ACCESS_MODE_4_2)) << 2 |
			      emu_prm_get(in, MKC(EMU_MKC_ACCESS_MODE_1_0));
	const unsigned int log_page = (unsigned int)emu_prm_get(in, MKC(EMU_MKC_LOG_PAGE_SIZE));
	const uint64_t size = 1ull << log_page;
	uint64_t first = emu_prm_get(in, MKC(EMU_MKC_START_ADDR)) & (size - 1), offset, npages;
	uint32_t umem;
	int err;

	if (emu_prm_get(in, EMU_CREATE_MKEY_IN_MKEY_UMEM_VALID))
		return 0;
	if (mode == EMU_ACCESS_MODE_PA ||
	    (mode == EMU_ACCESS_MODE_MTT && emu_prm_get(in, MKC(EMU_MKC_FREE)))) {
		emu_prm_set(in, EMU_CREATE_MKEY_IN_MKEY_UMEM_ID, of->space);
		return 0;
	}
	if (mode != EMU_ACCESS_MODE_MTT)
		return 0;
	if (log_page < PAGE_SHIFT)
		return EINVAL;
	npages = (first + emu_prm_get(in, MKC(EMU_MKC_LEN)) + size - 1) >> log_page;
	err = view_of(of, in, *in_len, npages, log_page, is_writable(in), pages);
	if (!err)
		err = name_view(of, pages, npages << log_page, &umem, &offset);
	if (err)
		return err;
	emu_prm_set(in, EMU_CREATE_MKEY_IN_MKEY_UMEM_VALID, 1);
	emu_prm_set(in, EMU_CREATE_MKEY_IN_MKEY_UMEM_ID, umem);
	emu_prm_set(in, EMU_CREATE_MKEY_IN_MKEY_UMEM_OFFSET, offset + first);
	*in_len = LIST;
	return 0;
}

/* --- umems of programs ------------------------------------------------------------------------ */

size_t emu_pages_umems(const uint8_t *in, size_t in_len, int fields[EMU_NAMED_UMEMS])
{
	const struct layout *l = find(in);
	size_t n = 0;

	if (in_len < LIST)
		return 0;
	if (emu_prm_get(in, EMU_CMD_IN_OPCODE) == EMU_CMD_CREATE_MKEY &&
	    emu_prm_get(in, EMU_CREATE_MKEY_IN_MKEY_UMEM_VALID))
		fields[n++] = EMU_CREATE_MKEY_IN_MKEY_UMEM_ID;
	if (l && is_set(in, l->umem_valid))
		fields[n++] = l->umem_id;
	if (l && is_set(in, l->dbr_umem_valid))
		fields[n++] = l->dbr_umem_id;
	return n;
}

/* Pages that the driver gives to the firmware must be memory that it may write. */
static int check_given(const struct emu_pages_of *of, const uint8_t *in, size_t in_len)
{
	const uint64_t n = emu_prm_get(in, EMU_MANAGE_PAGES_IN_NUM_ENTRIES);
	const uint8_t *list = in + EMU_MANAGE_PAGES_IN_BYTES;

	for (uint64_t i = 0; i < n && i < (in_len - EMU_MANAGE_PAGES_IN_BYTES) / 8; i++)
		if (!emu_guest_at(of->guest, emu_get64(list + i * 8), EMU_GUEST_PAGE, true))
			return EFAULT;
	return 0;
}

static bool gives_pages(const uint8_t *in)
{
	return emu_prm_get(in, EMU_CMD_IN_OPCODE) == EMU_CMD_MANAGE_PAGES &&
	       emu_prm_get(in, EMU_CMD_IN_OP_MOD) == EMU_PAGES_GIVE;
}

int emu_pages_replace(const struct emu_pages_of *of, uint8_t *in, size_t *in_len,
		      struct emu_pages *pages)
{
	const struct layout *l = find(in);
	int err = 0;

	*pages = (struct emu_pages){0};
	if (l && *in_len >= LIST)
		err = replace_queue(of, l, in, in_len, pages);
	else if (emu_prm_get(in, EMU_CMD_IN_OPCODE) == EMU_CMD_CREATE_MKEY && *in_len >= LIST)
		err = replace_mkey(of, in, in_len, pages);
	else if (gives_pages(in))
		err = check_given(of, in, *in_len);
	if (err)
		emu_pages_release(of, pages);
	return err;
}

int emu_pages_create_umem(const struct emu_pages_of *of, const uint8_t *in, size_t in_len,
			  struct emu_pages *pages)
{
	const unsigned int log_page =
		in_len < EMU_CREATE_UMEM_IN_BYTES
			? 0
			: (unsigned int)emu_prm_get(in, EMU_CREATE_UMEM_IN_LOG_PAGE_SIZE) +
				  PAGE_SHIFT;
	uint64_t npages, first;
	int err;

	*pages = (struct emu_pages){0};
	if (!log_page)
		return EINVAL;
	npages = emu_prm_get(in, EMU_CREATE_UMEM_IN_NUM_OF_MTT);
	first = emu_prm_get(in, EMU_CREATE_UMEM_IN_PAGE_OFFSET);
	err = view_of_list(of, in + EMU_CREATE_UMEM_IN_BYTES, in_len - EMU_CREATE_UMEM_IN_BYTES,
			   npages, log_page, false, pages);
	if (!err && first >= 1ull << log_page)
		err = EINVAL;
	if (!err) {
		pages->umem = emu_fw_memory(of->firmware, emu_guest_view_at(pages->view) + first,
					    (npages << log_page) - first);
		err = pages->umem ? 0 : ENOMEM;
	}
	if (err)
		emu_pages_release(of, pages);
	return err;
}

bool emu_pages_release_umem(const struct emu_pages_of *of, struct emu_pages *pages)
{
	if (!emu_fw_memory_end(of->firmware, pages->umem))
		return false;
	emu_guest_view_destroy(pages->view);
	*pages = (struct emu_pages){0};
	return true;
}

void emu_pages_release(const struct emu_pages_of *of, struct emu_pages *pages)
{
	if (pages->umem)
		emu_fw_memory_end(of->firmware, pages->umem);
	emu_guest_view_destroy(pages->view);
	*pages = (struct emu_pages){0};
}
