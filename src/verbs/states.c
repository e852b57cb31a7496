/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The states of queue pairs: which attributes each transition needs and takes. */
#include "base/array.h"
#include "log/log.h"
#include "verbs/verbs.h"

#define BIT(name) DOCA_VERBS_QP_ATTR_##name
#define WRITE	  BIT(ALLOW_REMOTE_WRITE)
#define READ	  BIT(ALLOW_REMOTE_READ)
#define ALWAYS	  (BIT(NEXT_STATE) | BIT(CURRENT_STATE))

struct transition {
	enum doca_verbs_qp_state from, to;
	int needs, takes; /* beside the state */
};

/* Programs allow reads of UC queue pairs, which has no effect, and leave numbers of reads out. */
static const struct transition rc[] = {
	{DOCA_VERBS_QP_STATE_RST, DOCA_VERBS_QP_STATE_INIT,
	 WRITE | READ | BIT(PKEY_INDEX) | BIT(PORT_NUM), BIT(ATOMIC_MODE)},
	{DOCA_VERBS_QP_STATE_INIT, DOCA_VERBS_QP_STATE_INIT, 0,
	 WRITE | READ | BIT(ATOMIC_MODE) | BIT(PKEY_INDEX) | BIT(PORT_NUM)},
	{DOCA_VERBS_QP_STATE_INIT, DOCA_VERBS_QP_STATE_RTR,
	 BIT(RQ_PSN) | BIT(DEST_QP_NUM) | BIT(PATH_MTU) | BIT(AH_ATTR) | BIT(MIN_RNR_TIMER),
	 BIT(MAX_DEST_RD_ATOMIC) | WRITE | READ | BIT(ATOMIC_MODE) | BIT(PKEY_INDEX)},
	{DOCA_VERBS_QP_STATE_RTR, DOCA_VERBS_QP_STATE_RTS,
	 BIT(SQ_PSN) | BIT(ACK_TIMEOUT) | BIT(RETRY_CNT) | BIT(RNR_RETRY),
	 BIT(MAX_QP_RD_ATOMIC) | WRITE | READ | BIT(MIN_RNR_TIMER) | BIT(ATOMIC_MODE)},
	{DOCA_VERBS_QP_STATE_RTS, DOCA_VERBS_QP_STATE_RTS, 0,
	 WRITE | READ | BIT(ATOMIC_MODE) | BIT(MIN_RNR_TIMER) | BIT(AH_ATTR)},
};

static const struct transition uc[] = {
	{DOCA_VERBS_QP_STATE_RST, DOCA_VERBS_QP_STATE_INIT, WRITE | BIT(PKEY_INDEX) | BIT(PORT_NUM),
	 READ},
	{DOCA_VERBS_QP_STATE_INIT, DOCA_VERBS_QP_STATE_INIT, 0,
	 WRITE | BIT(PKEY_INDEX) | BIT(PORT_NUM)},
	{DOCA_VERBS_QP_STATE_INIT, DOCA_VERBS_QP_STATE_RTR,
	 BIT(RQ_PSN) | BIT(DEST_QP_NUM) | BIT(PATH_MTU) | BIT(AH_ATTR), WRITE | BIT(PKEY_INDEX)},
	{DOCA_VERBS_QP_STATE_RTR, DOCA_VERBS_QP_STATE_RTS, BIT(SQ_PSN), WRITE},
	{DOCA_VERBS_QP_STATE_RTS, DOCA_VERBS_QP_STATE_RTS, 0, WRITE | BIT(AH_ATTR)},
};

static const char *const states[] = {
	[DOCA_VERBS_QP_STATE_RST] = "RST", [DOCA_VERBS_QP_STATE_INIT] = "INIT",
	[DOCA_VERBS_QP_STATE_RTR] = "RTR", [DOCA_VERBS_QP_STATE_RTS] = "RTS",
	[DOCA_VERBS_QP_STATE_ERR] = "ERR",
};

static const char *const names[] = {
	"ALLOW_REMOTE_WRITE",
	"ALLOW_REMOTE_READ",
	"PKEY_INDEX",
	"MIN_RNR_TIMER",
	"PORT_NUM",
	"NEXT_STATE",
	"CURRENT_STATE",
	"PATH_MTU",
	"RQ_PSN",
	"SQ_PSN",
	"DEST_QP_NUM",
	"ACK_TIMEOUT",
	"RETRY_CNT",
	"RNR_RETRY",
	"AH_ATTR",
	"ATOMIC_MODE",
	"MAX_QP_RD_ATOMIC",
	"MAX_DEST_RD_ATOMIC",
	"CC_GROUP",
};

/* The name of the lowest bit of a mask that is not 0. */
static const char *name_of(int mask)
{
	size_t bit = (size_t)__builtin_ctz((unsigned int)mask);

	return bit < ARRAY_SIZE(names) ? names[bit] : "an unknown attribute";
}

static const struct transition *find(const struct dpumap_verbs_change *change)
{
	const struct transition *table = change->is_rc ? rc : uc;

	for (size_t i = 0; i < ARRAY_SIZE(rc); i++)
		if (table[i].from == change->from && table[i].to == change->to)
			return &table[i];
	return NULL;
}

static doca_error_t fail(const struct dpumap_verbs_change *change, const char *why,
			 const char *which)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_verbs_qp_modify: %s to %s: %s%s",
			   states[change->from], states[change->to], why, which);
}

doca_error_t dpumap_verbs_check_change(const struct dpumap_verbs_change *change)
{
	static const struct transition end;
	const struct transition *found = find(change);
	int missing, extra;

	if (change->to == DOCA_VERBS_QP_STATE_RST || change->to == DOCA_VERBS_QP_STATE_ERR)
		found = &end;
	if (!found)
		return fail(change, "a QP cannot do that", "");
	missing = found->needs & ~change->mask;
	extra = change->mask & ~(found->needs | found->takes | ALWAYS);
	if (missing)
		return fail(change, "the mask lacks ", name_of(missing));
	if (extra)
		return fail(change, "the mask must not have ", name_of(extra));
	return DOCA_SUCCESS;
}
