/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/admin/network_faults.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/server/card/engines.h"
#include "emu/server/card/path.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"

/* --- partitions ------------------------------------------------------------------------------- */

static bool partitioned; /* since the last emu_network_faults_clear() */

static bool stands_for(const char *name, const struct emu_func *f)
{
	char node[16];

	snprintf(node, sizeof(node), "node%u", f->card->node);
	return !strcmp(name, f->role) || !strcmp(name, node);
}

bool emu_network_has(const char *name)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (stands_for(name, &emu_topology.func[i]))
			return true;
	return false;
}

/* Is `a` on one side and `b` on the other one? Without names each machine is alone. */
static bool separates(const struct emu_fault_request *r, const struct emu_func *a,
		      const struct emu_func *b)
{
	if (!*r->role)
		return a->card->node != b->card->node;
	if (!stands_for(r->role, a))
		return false;
	return *r->peer ? stands_for(r->peer, b) : !stands_for(r->role, b);
}

static bool overlap(const struct emu_fault_request *r)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (separates(r, &emu_topology.func[i], &emu_topology.func[i]))
			return true;
	return false;
}

static void cut(const struct emu_func *a, const struct emu_func *b, bool on)
{
	emu_path_cut(a, b, on);
	emu_path_cut(b, a, on);
}

int emu_network_fault_partition(const struct emu_fault_request *r)
{
	const struct emu_func *f = emu_topology.func, *end = f + emu_topology.nfuncs;

	if ((*r->peer && !*r->role) || overlap(r))
		return -EINVAL;
	if (*r->peer && !emu_network_has(r->peer))
		return -ENODEV;
	partitioned = true;
	for (const struct emu_func *a = f; a < end; a++)
		for (const struct emu_func *b = f; b < end; b++)
			if (separates(r, a, b))
				cut(a, b, !r->off);
	return 0;
}

/* --- queue pairs ------------------------------------------------------------------------------ */

static bool is_meant(const struct emu_fault_request *r, uint32_t qpn)
{
	const struct emu_qp *q = &emu_queues->qp[qpn];

	if (!atomic_load(&q->serial) || q->func >= emu_topology.nfuncs)
		return false;
	return (!r->qpn || r->qpn == qpn) &&
	       (!*r->role || !strcmp(r->role, emu_topology.func[q->func].role));
}

static uint32_t next_meant(const struct emu_fault_request *r, uint32_t qpn)
{
	uint32_t high = atomic_load(&emu_queues->qp_high);

	while (qpn < high && qpn < EMU_MAX_QPS && !is_meant(r, qpn))
		qpn++;
	return qpn < high && qpn < EMU_MAX_QPS ? qpn : 0;
}

static void set_fault(uint32_t qpn, uint32_t fault, uint32_t slow_us)
{
	struct emu_qp *q = &emu_queues->qp[qpn];

	q->slow_us = slow_us;
	atomic_store(&q->fault, fault);
	emu_engine_wake(q->engine);
}

/* 0: there is none. */
static uint32_t find_nth(const struct emu_fault_request *r)
{
	uint64_t count = 0, n;
	uint32_t qpn;

	for (qpn = next_meant(r, EMU_FIRST_QPN); qpn; qpn = next_meant(r, qpn + 1))
		count++;
	if (!count)
		return 0;
	qpn = next_meant(r, EMU_FIRST_QPN);
	for (n = (r->nth - 1) % count; n; n--)
		qpn = next_meant(r, qpn + 1);
	return qpn;
}

/* Engines look at queue pairs only if some have faults. */
static void sum_up(void)
{
	uint32_t high = atomic_load(&emu_queues->qp_high), any = 0, i;

	for (i = EMU_FIRST_QPN; i < high && i < EMU_MAX_QPS; i++)
		if (atomic_load(&emu_queues->qp[i].serial))
			any |= atomic_load(&emu_queues->qp[i].fault);
	atomic_store(&emu_queues->qp_faults, any != 0);
}

static void clear_faults_of(const struct emu_fault_request *r)
{
	for (uint32_t qpn = next_meant(r, EMU_FIRST_QPN); qpn; qpn = next_meant(r, qpn + 1))
		if (atomic_load(&emu_queues->qp[qpn].fault))
			set_fault(qpn, EMU_QP_NO_FAULT, 0);
}

int emu_network_fault_queue(const struct emu_fault_request *r)
{
	uint32_t qpn;

	if (r->qpn >= EMU_MAX_QPS || r->amount > UINT32_MAX)
		return -EINVAL;
	if (r->off) {
		clear_faults_of(r);
	} else {
		if (r->action < EMU_QP_SILENT || r->action > EMU_QP_SLOW)
			return -EINVAL;
		qpn = find_nth(r);
		if (!qpn)
			return -ENOENT;
		set_fault(qpn, r->action, (uint32_t)r->amount);
	}
	sum_up();
	return 0;
}

void emu_network_faults_clear(void)
{
	static const struct emu_fault_request all;
	const struct emu_func *f = emu_topology.func, *end = f + emu_topology.nfuncs;

	for (const struct emu_func *a = f; a < end && partitioned; a++)
		for (const struct emu_func *b = a + 1; b < end; b++)
			cut(a, b, false);
	partitioned = false;
	clear_faults_of(&all);
	sum_up();
}
