/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/unfinished_work.h"

#include <stdint.h>

#include "emu/server/card/process.h"
#include "emu/server/mm/user_copy.h"

static bool has_requests(const struct emu_qp *q, pid_t pid)
{
	uint8_t word[4];

	return q->sq_wqe_count && atomic_load(&q->state) == EMU_QPS_RTS &&
	       !emu_copy_from(pid, word, q->dbr_addr + sizeof(word), sizeof(word)) &&
	       emu_qp_posted(q, (uint16_t)(word[2] << 8 | word[3]),
			     (uint16_t)atomic_load(&q->done));
}

bool emu_has_unfinished_work(const struct emu_qp *q)
{
	const struct emu_proc *p = q->engine < EMU_MAX_ENGINES ? emu_proc_by_slot(q->engine) : NULL;

	return p && (has_requests(q, p->pid) || emu_qp_has_message(q));
}
